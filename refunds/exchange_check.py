"""Whether goods can be exchanged, and which units an exchange would take. It changes nothing, so the agent may ask."""

from collections.abc import Sequence
from dataclasses import replace

from django.utils import timezone

from orders.models import LineItem, Order, ShipmentLine
from refunds.choices import LineChoice
from refunds.goods import unit_groups
from refunds.history import policy_for
from refunds.selection import select

# Line, its units' parcel, how many of them, and why.
Unit = tuple[LineItem, ShipmentLine, int, str]


def check_exchange(order: Order, choices: Sequence[LineChoice]) -> list[Unit]:
    """Which units an exchange would take: (line, shipment line, quantity, reason). Changes nothing.

    Delivered goods within their window, for the same product. Raises InvalidInput or a Refusal in words.
    """
    wanted = [replace(choice, action="exchange") for choice in choices]
    groups = unit_groups(order, now=timezone.now())
    _, picked = select(order=order, groups=groups, choices=wanted, policy=policy_for(order), by_staff=False)
    return [
        (item.line, item.shipment_line, item.quantity, item.reason) for item in picked if item.shipment_line is not None
    ]
