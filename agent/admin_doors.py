"""Tokens and calls from outside, in Django admin: tokens are issued and revoked here, everything else is to look at."""

from datetime import datetime
from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from agent.doors import tokens
from agent.doors.identity import STAFF_PERMISSION
from agent.models import DoorCall, ToolToken
from orders.actors import staff_actor
from orders.admin_links import NOTHING, admin_link, register_subject
from orders.admin_pages import ReadOnlyAdmin
from orders.errors import InvalidInput
from orders.models import Customer

register_subject("tool_token", ToolToken)
ACCOUNTS: Final = "django.contrib.auth.backends.ModelBackend"


class NewToken(forms.ModelForm):
    """For whom, and until when. A customer is named by the shop's own id."""

    customer_id = forms.CharField(
        label=_("customer"),
        max_length=64,
        required=False,
        help_text=_("The shop's own id of the customer. Leave it empty for a member of staff."),
    )

    class Meta:
        model = ToolToken
        fields = ("name", "staff", "expires_at")

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        if "expires_at" not in self.fields:  # a token that is there is only looked at
            return
        self.fields["expires_at"].initial = timezone.now() + tokens.USUAL_LIFE
        colleagues = User.objects.with_perm(STAFF_PERMISSION, backend=ACCOUNTS).order_by("username")
        self.fields["staff"].queryset = colleagues  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """As `tokens.issue` will have it, so that what it refuses stands beside its field."""
        cleaned: dict[str, Any] = super().clean() or {}
        wanted, customer = cleaned.get("customer_id", "").replace("\x00", ""), None
        if wanted:
            customer = Customer.objects.filter(external_id=wanted).first()
            if customer is None:
                raise ValidationError({"customer_id": gettext("There is no customer with this id.")})
        cleaned["customer"] = customer
        if not self.errors:
            self._check(cleaned)
        return cleaned

    def _check(self, cleaned: dict[str, Any]) -> None:
        expires_at: datetime = cleaned["expires_at"]
        try:
            tokens.check(cleaned["name"], expires_at, cleaned["customer"], cleaned.get("staff"))
        except InvalidInput as error:
            field = "customer_id" if error.field == "customer" else error.field
            raise ValidationError({field: error.message}) from None

    def _post_clean(self) -> None:
        """The row is made by `tokens.issue`, which knows what else belongs into it."""


def calls_link(call_id: int) -> str:
    """To the page that shows the call among those before and after it."""
    address = reverse("staff-door-calls", args=[call_id])
    return format_html('<a href="{}">{}</a>', address, _("Its calls, step by step"))


@admin.register(ToolToken)
class ToolTokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "prefix", "scope", "of_whom", "made_by", "created_at", "expires_at", "revoked_at")
    list_select_related = ("customer", "staff", "made_by")
    search_fields = ("name", "prefix", "customer__external_id", "customer__name", "staff__username")
    list_filter = ("scope", ("revoked_at", admin.EmptyFieldListFilter), "expires_at")
    date_hierarchy = "created_at"
    actions = (*ReadOnlyAdmin.actions, "revoke")  # type: ignore[assignment]
    form = NewToken
    add_fields = ("name", "customer_id", "staff", "expires_at")
    extra_fields = ("step_by_step",)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_manage_permission(request)

    def has_manage_permission(self, request: HttpRequest) -> bool:
        return isinstance(request.user, User) and request.user.has_perm(tokens.PERMISSION)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A token that is there is only looked at, and its hash not even that."""
        return self.add_fields if obj is None else self._shown()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else self._shown()

    def _shown(self) -> list[Any]:
        return [each for each in super()._shown() if each != "hash"]

    def save_model(self, request: HttpRequest, obj: ToolToken, form: Any, change: bool) -> None:
        wanted = form.cleaned_data
        secret, issued = tokens.issue(
            actor=staff_actor(request.user),
            name=wanted["name"],
            expires_at=wanted["expires_at"],
            customer=wanted["customer"],
            staff=wanted.get("staff"),
        )
        # What admin goes on with is the row that is there now.
        obj.__dict__.update(issued.__dict__)
        request.issued_tool_token = secret  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: ToolToken, post_url_continue: Any = None) -> HttpResponse:
        """The one page that shows the token. It is kept nowhere: not by us, and not by the browser."""
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("The token, this once"),
            "secret": request.issued_tool_token,  # type: ignore[attr-defined]
            "token": obj,
            "opts": self.model._meta,
        }
        return TemplateResponse(request, "admin/agent/tooltoken/issued.html", context)

    @admin.action(description=_("Revoke the chosen tokens"), permissions=["manage"])
    def revoke(self, request: HttpRequest, rows: QuerySet[ToolToken]) -> None:
        actor = staff_actor(request.user)
        ended = sum(tokens.revoke(token=token, actor=actor) for token in rows)
        said = ngettext("%(count)s token was revoked.", "%(count)s tokens were revoked.", ended) % {"count": ended}
        self.message_user(request, said, messages.SUCCESS)

    @admin.display(description=_("step by step"))
    def step_by_step(self, token: ToolToken) -> str:
        newest = token.calls.order_by("-pk").values_list("pk", flat=True).first()
        return calls_link(newest) if newest else NOTHING

    @admin.display(description=_("whose"))
    def of_whom(self, token: ToolToken) -> str:
        return admin_link(token.customer) if token.customer else str(token.staff)


@admin.register(DoorCall)
class DoorCallAdmin(ReadOnlyAdmin):
    list_display = ("id", "created_at", "door", "name", "of_order", "of_whom", "is_error", "duration_ms")
    list_select_related = ("customer", "staff", "order")
    search_fields = (
        "=id",
        "name",
        "order__number",
        "customer__external_id",
        "staff__username",
        "token__prefix",
        "arguments",
        "result",
    )
    list_filter = ("door", "name", "is_error")
    date_hierarchy = "created_at"
    extra_fields = ("step_by_step",)

    @admin.display(description=_("step by step"))
    def step_by_step(self, call: DoorCall) -> str:
        return calls_link(call.pk)

    @admin.display(description=_("order"), ordering="order__number")
    def of_order(self, call: DoorCall) -> str:
        return admin_link(call.order)

    @admin.display(description=_("whose"))
    def of_whom(self, call: DoorCall) -> str:
        return admin_link(call.customer) if call.customer else str(call.staff)
