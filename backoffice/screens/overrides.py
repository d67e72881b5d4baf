"""Staff ask for an exception: a return that the rules refuse, with a reason, for a second person to decide."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from backoffice.screens.choices import Row, body_of, could_be_an_exception, rows_for, rules_of
from backoffice.screens.forms import form_screen
from backoffice.screens.gate import OVERRIDE, staff_screen
from orders.access import order_for_staff
from orders.actors import staff_actor
from orders.errors import Refusal
from orders.models import Order
from orders.money import format_money
from refunds import overrides
from refunds.choices import parse_choices
from refunds.goods import unit_groups
from refunds.states import QuoteAction


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(OVERRIDE)
def exception(request: HttpRequest, number: str) -> HttpResponse:
    order = order_for_staff(request.user, number)

    def work(typed: QueryDict) -> str:
        asked = overrides.ask(
            order=order,
            choices=parse_choices(body_of(typed)),
            reason=typed.get("note", ""),
            actor=staff_actor(request.user),
        )
        return _("Asked: a second person decides about %(amount)s.") % {
            "amount": format_money(asked.amount, asked.currency)
        }

    return form_screen(
        request,
        template="staff/exception.html",
        back=reverse("staff-order", args=[number]),
        context=lambda typed: {
            "here": "orders",
            "order": order,
            "rows": exception_rows(order, typed),
            **preview_of(order, typed, request),
        },
        work=work,
        only_show="preview" in request.POST,
    )


@require_POST
@staff_screen(OVERRIDE)
def preview(request: HttpRequest, number: str) -> HttpResponse:
    """What the exception would come to, alone: asked for while goods are ticked. Nothing is kept."""
    order = order_for_staff(request.user, number)
    return render(request, "staff/_preview.html", {"order": order, **preview_of(order, request.POST, request)})


def preview_of(order: Order, typed: QueryDict, request: HttpRequest) -> dict[str, Any]:
    """`preview`, or why there is none in `preview_refusal`; neither while nothing is ticked."""
    if not typed.getlist("pick"):
        return {}
    try:
        choices = parse_choices(body_of(typed))
        return {"preview": overrides.preview(order=order, choices=choices, actor=staff_actor(request.user))}
    except Refusal as refusal:
        return {"preview_refusal": refusal.told_to(staff=True)}


def exception_rows(order: Order, typed: QueryDict) -> list[Row]:
    rules = rules_of(order)
    groups = unit_groups(order, now=timezone.now())
    return rows_for(QuoteAction.RETURN, groups, typed, fits=lambda group: could_be_an_exception(group, rules))
