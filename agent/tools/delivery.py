"""The tool that asks a carrier when goods can arrive. Without its answer there is no date."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agent.tools.base import Arguments, Context, Tool, closed, or_null
from agent.tools.shop import PRODUCT_ID, product_of
from orders import carriers
from orders.models import Order, Shipment
from orders.products import product_as_dict
from refunds.goods import UnitGroup, unit_groups

# Each parcel is one question to the carrier; an order that is split up more than this is for list_shipments.
MOST_PARCELS = 5
STILL_HERE = frozenset({"unfulfilled", "packed"})


def estimate_delivery(context: Context, arguments: Arguments) -> dict[str, Any]:
    """Remote: no transaction is open and nothing is locked. Raises CarrierUnavailable, NotFound."""
    if arguments["product_id"] is not None:
        return _of_product(context, arguments["product_id"])
    found = _of_order(context.order)
    note = (
        "Days on which the carrier expects to deliver: an estimate, no promise. What is not shipped yet is counted as "
        "if it were handed over today. What is late should have come by `latest`; nobody knows another day."
        if found
        else "Nothing of this order is under way: get_order says what has arrived, was lost or is gone."
    )
    return {"today": timezone.localdate().isoformat(), "estimates": found, "note": note}


def _of_product(context: Context, product_id: str) -> dict[str, Any]:
    shown = product_as_dict(product_of(context, product_id))
    today = timezone.localdate().isoformat()
    if shown["in_stock"] is False:
        note = "This product is out of stock: nobody can say when it could be sent."
        return {"today": today, "product": shown, "estimates": [], "note": note}
    note = "Days on which it would arrive if it were handed over today: an estimate, no promise."
    return {"today": today, "product": shown, "estimates": [_asked(context.order)], "note": note}


def _of_order(order: Order) -> list[dict[str, Any]]:
    here: list[UnitGroup] = []
    travelling: dict[str, list[UnitGroup]] = defaultdict(list)
    for group in unit_groups(order, now=timezone.now()):
        if group.state in STILL_HERE:
            here.append(group)
        elif group.state == "shipped" and group.shipment is not None:
            travelling[group.shipment.pk].append(group)
    found = [{"state": "not_shipped", "lines": _lines(here), **_asked(order)}] if here else []
    for groups in list(travelling.values())[:MOST_PARCELS]:
        shipment = groups[0].shipment
        assert shipment is not None, "what travels is in a parcel"
        found.append({"state": "shipped", "lines": _lines(groups), **_parcel(order, shipment)})
    return found


def _parcel(order: Order, shipment: Shipment) -> dict[str, Any]:
    assert shipment.shipped_at is not None, "a shipped parcel has its time"
    asked = _asked(order, carrier=shipment.carrier, handed_over=timezone.localdate(shipment.shipped_at))
    late = asked["latest"] < timezone.localdate().isoformat()
    return {"shipment_id": shipment.pk, **asked, "late": late}


def _asked(order: Order, *, carrier: str = "", handed_over: date | None = None) -> dict[str, Any]:
    estimate = carriers.estimate(order=order, carrier=carrier, handed_over=handed_over)
    return {
        "earliest": estimate.earliest.isoformat(),
        "latest": estimate.latest.isoformat(),
        "carrier": estimate.carrier,
    }


def _lines(groups: Sequence[UnitGroup]) -> list[dict[str, Any]]:
    return [
        {"line_item_id": group.line.line_item_id, "name": group.product_name, "quantity": group.quantity}
        for group in groups
    ]


ESTIMATE_DELIVERY = Tool(
    name="estimate_delivery",
    schema=closed(
        product_id=or_null(
            PRODUCT_ID, "A product that would be sent now; null for the goods of this order that have not arrived."
        )
    ),
    handler=estimate_delivery,
    reads=True,
    suspends=False,
    working=_("Asking the carrier"),
    remote=True,
)
