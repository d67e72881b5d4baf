"""What a second person decides, what providers tell, and what staff must see, in Django admin.

Nothing can be changed here, except the switches of the simulated gateway, by whoever may change them.
"""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Model
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orders.admin_links import admin_link, history_link, register_subject, subject_link
from orders.admin_pages import ReadOnlyAdmin
from refunds.admin_parts import Record
from refunds.models import (
    Approval,
    BooksCompared,
    ProviderEvent,
    SimulatedAcquirer,
    SimulatedCharge,
    SimulatedFault,
    SimulatedRefund,
    StaffAlert,
)

register_subject("approval", Approval)
register_subject("alert", StaffAlert)


@admin.register(Approval)
class ApprovalAdmin(Record):
    story = "pk"
    amounts: ClassVar = {"amount": "currency"}
    in_words: ClassVar = {"conversation_ref": "of_conversation"}
    list_display = (
        "id",
        "of_order",
        "kind",
        "state",
        "amount",
        "of_refund",
        "asked_by_kind",
        "asked_by",
        "decided_by",
        "created_at",
    )
    list_select_related = ("order", "refund", "asked_by", "decided_by")
    search_fields = (
        "id__exact",
        "order__number__exact",
        "refund__id__exact",
        "quote__id__exact",
        "reason",
        "decision_reason",
        "conversation_ref__exact",
    )
    list_filter = ("state", "kind", "asked_by_kind", "currency")
    date_hierarchy = "created_at"

    @admin.display(description=_("refund"))
    def of_refund(self, approval: Approval) -> str:
        return admin_link(approval.refund)

    @admin.display(description=_("conversation"))
    def of_conversation(self, approval: Approval) -> str:
        return subject_link("conversation", approval.conversation_ref)


@admin.register(ProviderEvent)
class ProviderEventAdmin(ReadOnlyAdmin):
    """Webhooks, each kept once by the provider's number."""

    list_display = ("event_id", "provider", "kind", "received_at", "tried_at", "applied_at", "attempts", "outcome")
    search_fields = ("event_id__exact", "kind", "outcome", "payload")
    list_filter = ("provider", "kind", ("applied_at", admin.EmptyFieldListFilter))
    date_hierarchy = "received_at"


@admin.register(StaffAlert)
class StaffAlertAdmin(ReadOnlyAdmin):
    list_display = ("kind", "subject", "of_order", "of_refund", "raised_at", "settled_at", "settled_by")
    list_display_links = ("kind", "subject")
    list_select_related = ("order", "refund", "settled_by")
    search_fields = (
        "subject__exact",
        "order__number__exact",
        "refund__id__exact",
        "attempt__idempotency_key__exact",
        "note",
    )
    list_filter = ("kind", "provider", ("settled_at", admin.EmptyFieldListFilter))
    date_hierarchy = "raised_at"
    extra_fields = ("history",)

    @admin.display(description=_("order"), ordering="order__number")
    def of_order(self, alert: StaffAlert) -> str:
        return admin_link(alert.order)

    @admin.display(description=_("refund"))
    def of_refund(self, alert: StaffAlert) -> str:
        return admin_link(alert.refund)

    @admin.display(description=_("history"))
    def history(self, alert: StaffAlert) -> str:
        return history_link(alert, gettext("Audit events about it"))


@admin.register(BooksCompared)
class BooksComparedAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "provider", "since", "until", "checked", "how_many", "made_at")
    search_fields = ("provider", "differences")
    list_filter = ("provider",)
    date_hierarchy = "until"

    @admin.display(description=_("differences"))
    def how_many(self, books: BooksCompared) -> int:
        return len(books.differences)


@admin.register(SimulatedRefund)
class SimulatedRefundAdmin(ReadOnlyAdmin):
    list_display = ("provider_refund_id", "idempotency_key", "charge_ref", "amount", "created_at")
    amounts: ClassVar = {"amount": "currency"}
    search_fields = ("provider_refund_id__exact", "idempotency_key__exact", "charge_ref__exact")
    list_filter = ("currency",)
    date_hierarchy = "created_at"


@admin.register(SimulatedCharge)
class SimulatedChargeAdmin(admin.ModelAdmin):
    """A switch of the demo, like the faults."""

    list_display = ("charge_ref", "state")
    list_filter = ("state",)
    search_fields = ("charge_ref",)


@admin.register(SimulatedFault)
class SimulatedFaultAdmin(admin.ModelAdmin):
    """A switch of the demo, not a record: whoever may change it (the superuser) switches faults on and off here."""

    list_display = ("kind", "remaining", "seconds", "charge_ref")
    list_filter = ("kind",)


@admin.register(SimulatedAcquirer)
class SimulatedAcquirerAdmin(admin.ModelAdmin):
    """What the simulated gateway says it can do: a switch like its faults. There is at most one row, and it is 1."""

    list_display = (
        "__str__",
        "partial_refunds",
        "refund_before_closing",
        "void_before_closing",
        "closing_hour",
        "window_days",
        "refunds_per_day",
    )

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_add_permission(request) and not SimulatedAcquirer.objects.exists()

    def save_model(self, request: HttpRequest, obj: SimulatedAcquirer, form: ModelForm, change: Any) -> None:
        obj.pk = 1
        super().save_model(request, obj, form, change)
