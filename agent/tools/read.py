"""Tools that look: the order, its parcels, its refunds. An empty result says that it is empty."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agent.models import Card
from agent.states import CardState
from agent.tools.base import Arguments, Context, Tool, closed
from orders.errors import Refusal
from orders.models import Order
from orders.money import format_money
from refunds import eligibility, present, selectors
from refunds.eligibility_report import what_may_be_asked
from refunds.goods import UnitGroup, unit_groups

UNITS_SAY = {
    "unfulfilled": "Not packed yet: can be cancelled and refunded now.",
    "packed": "Being prepared in the warehouse: too late to cancel. Can be returned after it has arrived.",
    "shipped": "On its way: cannot be cancelled. Can be returned after it has arrived.",
    "lost": "Shipped long ago and never arrived: counts as lost. Can be refunded, or sent again.",
    "delivered": "Delivered: can be returned or exchanged up to and including return_until.",
    "window_over": "Delivered, and the return window is over: only a person can decide.",
    "returning": "A return is open for these units: nothing more can be asked for them.",
    "exchanging": "An exchange is open for these units: nothing more can be asked for them.",
    "resending": "Lost, and being sent again: nothing more can be asked for them.",
    "cancelled": "Already cancelled.",
    "refunded": "Already refunded.",
}
KEPT_BACK = "Delivered, of goods that come back only for a reason in only_for, and then up to return_until."


def _day(moment: datetime | None) -> str | None:
    return timezone.localtime(moment).date().isoformat() if moment else None


def _moment(moment: datetime | None) -> str | None:
    return timezone.localtime(moment).isoformat(timespec="minutes") if moment else None


def _only_for(order: Order) -> dict[tuple[str, str, str], list[str]]:
    """By line, state and name: the reasons without which nothing may be asked. Empty without a policy that says so."""
    try:
        lines = what_may_be_asked(order, timezone.now())
    except Refusal:
        return {}
    return {
        (line["line_item_id"], units["state"], units["name"]): units["only_for"]
        for line in lines
        for units in line["units"]
        if units["only_for"] or not units["can"]
    }


def _units(group: UnitGroup, only_for: list[str] | None) -> dict[str, Any]:
    """`only_for`: None where any reason will do; empty where nothing can be asked."""
    units: dict[str, Any] = {
        "state": group.state,
        "quantity": group.quantity,
        "date": _day(group.since),
        "can": [] if only_for == [] else list(eligibility.allowed_actions(group.state)),
        "text": UNITS_SAY[group.state],
    }
    if only_for:
        units |= {"only_for": only_for, "text": KEPT_BACK}
    if group.state == "delivered" and group.until:
        units["return_until"] = group.until.isoformat()
    if group.product_name != group.line.name:
        units["really"] = group.product_name
    ids = {"refund_id": group.refund_id, "return_id": group.return_id, "replacement_id": group.replacement_id}
    return units | {name: value for name, value in ids.items() if value}


def lines_of(order: Order) -> list[dict[str, Any]]:
    lines: dict[str, dict[str, Any]] = {}
    only_for = _only_for(order)
    for group in unit_groups(order, now=timezone.now()):
        line = group.line
        entry = lines.setdefault(
            line.line_item_id,
            {
                "line_item_id": line.line_item_id,
                "name": line.name,
                "product_id": line.sku,
                "category": line.category,
                "unit_price": line.unit_price,
                "display_price": format_money(line.unit_price, order.currency),
                "quantity": line.quantity,
                "units": [],
            },
        )
        key = (line.line_item_id, group.state, group.product_name)
        entry["units"].append(_units(group, only_for.get(key)))
    return list(lines.values())


def get_order(context: Context, arguments: Arguments) -> dict[str, Any]:
    order = context.order
    # By order and customer: who asks by another door may have said nothing in the chat yet.
    open_cards = Card.objects.filter(
        conversation__order=order, conversation__customer=context.customer, state=CardState.OPEN
    )
    return {
        "order_number": order.number,
        "placed_at": _moment(order.placed_at),
        "today": timezone.localdate().isoformat(),
        "currency": order.currency,
        "customer_name": context.customer.name,
        "lines": lines_of(order),
        "discounts": [{"code": d.code, "label": d.label, "kind": d.kind} for d in order.discounts.all()],
        "shipping": {
            "method": order.shipping_method,
            "charged": order.shipping_charged,
            "display": format_money(order.shipping_charged, order.currency),
            "address": order.shipping_address,
        },
        "payments": [
            {
                "payment_id": payment.pk,
                "method": payment.method,
                "last4": payment.last4,
                "amount": payment.amount,
                "display": format_money(payment.amount, order.currency),
            }
            for payment in order.payments.all()
        ],
        **_given_back(order),
        "open_cards": [{"card_id": card.pk, "kind": card.kind, "quote_id": card.quote_id} for card in open_cards],
    }


def _given_back(order: Order) -> dict[str, list[dict[str, Any]]]:
    """Money and goods that went back to the customer, or are on their way. `kind` says what money was for."""
    return {
        "refunds": [present.refund_as_dict(refund) for refund in selectors.refunds_shown_to_customer(order)],
        "returns": [present.return_as_dict(item) for item in selectors.returns_of(order)],
        "replacements": [present.replacement_as_dict(item) for item in order.replacements.all()],
    }


def list_shipments(context: Context, arguments: Arguments) -> dict[str, Any]:
    shipments = [
        {
            "shipment_id": shipment.pk,
            "state": shipment.state,
            "carrier": shipment.carrier,
            "tracking_number": shipment.tracking_number,
            "packed_at": _moment(shipment.packed_at),
            "shipped_at": _moment(shipment.shipped_at),
            "delivered_at": _moment(shipment.delivered_at),
            "is_replacement": shipment.is_replacement,
            "lines": [
                {
                    "line_item_id": line.line_item.line_item_id,
                    "name": line.name,
                    "quantity": line.quantity,
                }
                for line in shipment.lines.all()
            ],
        }
        for shipment in context.order.shipments.prefetch_related("lines__line_item", "lines__product")
    ]
    note = "All parcels of this order." if shipments else "Nothing of this order has been packed or shipped yet."
    return {"shipments": shipments, "note": note}


def list_refunds(context: Context, arguments: Arguments) -> dict[str, Any]:
    found = _given_back(context.order)
    anything = any(found.values())
    note = (
        "All refunds, returns and replacements of this order."
        if anything
        else "No refund, return or replacement on this order yet."
    )
    return {**found, "note": note}


GET_ORDER = Tool(
    name="get_order",
    schema=closed(),
    handler=get_order,
    reads=True,
    suspends=False,
    working=_("Reading your order"),
)

LIST_SHIPMENTS = Tool(
    name="list_shipments",
    schema=closed(),
    handler=list_shipments,
    reads=True,
    suspends=False,
    working=_("Looking up your parcels"),
)

LIST_REFUNDS = Tool(
    name="list_refunds",
    schema=closed(),
    handler=list_refunds,
    reads=True,
    suspends=False,
    working=_("Looking up your refunds"),
)
