"""orders_search and orders_get_payment_context: what a customer bought, and how it was paid and given back."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from agent.tools.base import Arguments, StaffContext, Tool, or_null
from agent.tools.copilot_common import (
    CURSOR,
    PAGE_SIZE,
    allow,
    closed,
    cursor_for,
    customer_of,
    moment_of,
    order_of,
    page_size_of,
    place_of,
)
from agent.tools.read import lines_of
from orders.errors import InvalidInput
from orders.models import Order, Payment
from orders.moments import moment
from orders.money import format_money
from refunds.payment_context import payment_context

GOODS_NAMED: Final = 3


def orders_search(context: StaffContext, arguments: Arguments) -> dict[str, Any]:
    allow(context, "orders.view_order", "orders.view_payment")
    begin = moment_of(arguments["created_from"], field="created_from")
    end = moment_of(arguments["created_before"], field="created_before")
    size = page_size_of(arguments["page_size"])
    if begin and end and begin >= end:
        raise InvalidInput("created_before", translate("created_before must be later than created_from."))
    customer = customer_of(arguments["customer_id"])
    query = {"tool": "orders_search", "customer": customer.external_id, "from": begin, "before": end}
    place = place_of(query, arguments["cursor"])
    orders = _narrowed(Order.objects.filter(customer=customer), begin, end, place)
    rows = list(orders.prefetch_related("lines", "payments").order_by("-placed_at", "-pk")[: size + 1])
    shown, has_more = rows[:size], len(rows) > size
    return {
        "customer": {"customer_id": customer.external_id, "name": customer.name},
        "now": moment(timezone.now()),
        "time_zone": settings.TIME_ZONE,
        "created_from": moment(begin),
        "created_before": moment(end),
        "orders": [_row(order) for order in shown],
        "has_more": has_more,
        "next_cursor": cursor_for(query, (shown[-1].placed_at, shown[-1].pk)) if has_more else None,
        "note": _note(shown, has_more=has_more, first=place is None),
    }


def _narrowed(
    orders: QuerySet[Order], begin: datetime | None, end: datetime | None, place: tuple[datetime, int] | None
) -> QuerySet[Order]:
    if begin is not None:
        orders = orders.filter(placed_at__gte=begin)
    if end is not None:
        orders = orders.filter(placed_at__lt=end)
    if place is not None:
        at, key = place
        orders = orders.filter(Q(placed_at__lt=at) | Q(placed_at=at, pk__lt=key))
    return orders


def _note(shown: Sequence[Order], *, has_more: bool, first: bool) -> str:
    if has_more:
        return (
            f"{len(shown)} orders, and there are older ones: call again with next_cursor before you say anything about "
            "all of them. Amounts are whole numbers of the currency's smallest unit."
        )
    if not shown:
        return "No order fits." if first else "No further order."
    return (
        f"{len(shown)} orders, the newest first; there are no more. Amounts are whole numbers of the currency's "
        "smallest unit."
    )


def _row(order: Order) -> dict[str, Any]:
    lines = list(order.lines.all())
    return {
        "order_number": order.number,
        "created_at": moment(order.placed_at),
        "currency": order.currency,
        "paid_amount": order.paid_amount,
        "paid_display": format_money(order.paid_amount, order.currency),
        "goods": [{"name": line.name, "quantity": line.quantity} for line in lines[:GOODS_NAMED]],
        "goods_not_named": max(len(lines) - GOODS_NAMED, 0),
        "payments": [_payment(order, payment) for payment in order.payments.all()],
    }


def _payment(order: Order, payment: Payment) -> dict[str, Any]:
    return {
        "payment_id": payment.pk,
        "method": payment.method,
        "last4": payment.last4,
        "amount": payment.amount,
        "currency": order.currency,
        "given_back": payment.refunded_amount,
        "captured_at": moment(payment.captured_at),
    }


def orders_get_payment_context(context: StaffContext, arguments: Arguments) -> dict[str, Any]:
    allow(context, "orders.view_order", "orders.view_payment", "refunds.view_refund")
    order = order_of(arguments["order_number"])
    return {**payment_context(order), "lines": lines_of(order)}


ORDERS_SEARCH = Tool(
    name="orders_search",
    schema=closed(
        customer_id={
            "type": "string",
            "description": "Whose orders: the customer_id that customers_search gave. Names are not taken here.",
        },
        created_from=or_null(
            {"type": "string"},
            "Only orders placed at this moment or later: ISO 8601 with the time zone, for example "
            "2026-11-16T00:00:00+08:00. Null for no beginning.",
        ),
        created_before=or_null(
            {"type": "string"},
            "Only orders placed before this moment, which is itself outside: ISO 8601 with the time zone. Null for no "
            "end.",
        ),
        page_size=PAGE_SIZE,
        cursor=CURSOR,
    ),
    handler=orders_search,
    reads=True,
    suspends=False,
    working=_("Looking through the orders"),
    examples=(
        {
            "customer_id": "c-1001",
            "created_from": "2026-11-16T00:00:00+08:00",
            "created_before": None,
            "page_size": None,
            "cursor": None,
        },
    ),
    for_staff=True,
)

ORDERS_GET_PAYMENT_CONTEXT = Tool(
    name="orders_get_payment_context",
    schema=closed(
        order_number={
            "type": "string",
            "description": "The shop's number of the order, as orders_search gives it, for example 5531.",
        }
    ),
    handler=orders_get_payment_context,
    reads=True,
    suspends=False,
    working=_("Looking at payments and refunds"),
    examples=({"order_number": "5531"},),
    remote=True,
    for_staff=True,
)
