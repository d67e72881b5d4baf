"""Staff book a refund that was made without this desk, and say for which goods it was."""

from datetime import datetime, time
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from backoffice.screens.choices import Row, line_of, rows_for
from backoffice.screens.forms import day_of, form_screen, money_of
from backoffice.screens.gate import ELSEWHERE, staff_screen
from orders.access import order_for_staff
from orders.actors import staff_actor
from orders.models import Order, Payment
from orders.money import format_money
from refunds import elsewhere
from refunds.access import refund_for
from refunds.elsewhere_units import LEAVES_AS
from refunds.goods import UnitGroup, unit_groups
from refunds.refund_days import made_at
from refunds.selectors import paid_under

# What the money was for: goods that are ticked, no goods, or not known yet.
GOODS: Final = "goods"
NO_GOODS: Final = "none"
LATER: Final = "later"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(ELSEWHERE)
def record(request: HttpRequest, number: str) -> HttpResponse:
    order = order_for_staff(request.user, number)

    def work(typed: QueryDict) -> str:
        booked = elsewhere.record(order=order, body=body_of(typed, order), actor=staff_actor(request.user))
        return _("%(amount)s is booked as refunded elsewhere.") % {
            "amount": format_money(booked.amount, booked.currency)
        }

    return form_screen(
        request,
        template="staff/elsewhere.html",
        back=reverse("staff-order", args=[number]),
        context=lambda typed: {
            "here": "orders",
            "order": order,
            "rows": goods_rows(order, typed),
            "payments": Payment.objects.filter(order=order),
            "meant": typed.get("for", GOODS),
            "earliest": timezone.localdate(order.placed_at),
            "today": timezone.localdate(),
        },
        work=work,
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(ELSEWHERE)
def assign(request: HttpRequest, refund_id: str) -> HttpResponse:
    refund = refund_for(request.user, refund_id)

    def work(typed: QueryDict) -> str:
        elsewhere.assign(
            refund_id=refund.pk,
            lines=lines_of(typed),
            actor=staff_actor(request.user),
            note=typed.get("note", ""),
            **no_goods(typed),
        )
        return _("%(number)s is assigned. Refunds of this order can be worked out again.") % {"number": refund.pk}

    return form_screen(
        request,
        template="staff/assign.html",
        back=reverse("staff-order", args=[refund.order.number]),
        context=lambda typed: {
            "here": "orders",
            "order": refund.order,
            "refund": refund,
            "rows": goods_rows(refund.order, typed),
            "meant": typed.get("for", GOODS),
        },
        work=work,
    )


def goods_rows(order: Order, typed: QueryDict) -> list[Row]:
    return rows_for("elsewhere", unit_groups(order, now=timezone.now()), typed, fits=could_have_left)


def could_have_left(group: UnitGroup) -> bool:
    return group.state in LEAVES_AS


def body_of(typed: QueryDict, order: Order) -> dict[str, Any]:
    """The body that `elsewhere.record` takes. Goods that are not told yet are left out of it."""
    body: dict[str, Any] = {
        "external_ref": typed.get("external_ref", "").strip(),
        "amount": money_of(typed.get("amount", ""), order.currency),
        "payment_id": typed.get("payment_id", ""),
        "note": typed.get("note", ""),
        **paid_at(typed, order),
    }
    if typed.get("for") == LATER:
        return body
    return {**body, "lines": lines_of(typed), **no_goods(typed)}


def paid_at(typed: QueryDict, order: Order) -> dict[str, str]:
    """When it was paid: today is left to the service, for it is now; of another day only the day is known.

    So is the day under which the number is booked already: told again, it says the same.
    """
    today = timezone.localdate()
    day = day_of(typed.get("at", ""), field="at", earliest=timezone.localdate(order.placed_at), latest=today)
    known = paid_under(order, typed.get("external_ref", "").strip()).first()
    booked = timezone.localdate(made_at(known)) if known else None
    if day == (booked or today):
        return {}
    if day == today:
        return {"at": timezone.now().isoformat()}
    noon = timezone.make_aware(datetime.combine(day, time(12)))
    payment = Payment.objects.filter(order=order, pk=typed.get("payment_id", "")).first()
    had_from = max(order.placed_at, payment.captured_at) if payment else order.placed_at
    on_that_day = timezone.localdate(had_from) == day
    return {"at": (max(noon, had_from) if on_that_day else noon).isoformat()}


def lines_of(typed: QueryDict) -> list[dict[str, Any]]:
    return [] if typed.get("for") == NO_GOODS else [line_of(key, typed) for key in typed.getlist("pick")]


def no_goods(typed: QueryDict) -> dict[str, bool]:
    return {"for_goods": False} if typed.get("for") == NO_GOODS else {}
