"""Goods are packed and leave an order: the counters of units, moved under the order's row lock and nowhere else.

Each move adds to a counter with a condition on what is left, so that a lost race changes no row and raises
`GoodsMoved`. The check constraints of the tables say the same once more.
"""

from typing import Literal

from django.db.models import F

from orders.models import LineItem, Order, ShipmentLine

Hold = Literal["returning", "exchanging", "resending", "replaced", "refunded"]


class GoodsMoved(Exception):
    """The units are not where the caller believes they are. Nothing was changed."""


def lock_order(order_id: int) -> Order:
    """The order, locked until the transaction ends: first in the lock order (`docs/money.md`).

    `no_key` lets other transactions go on adding rows that point to the order, such as messages.
    """
    return Order.objects.select_for_update(no_key=True).get(pk=order_id)


def fulfil_units(*, line: LineItem, quantity: int) -> None:
    """Put units that are in no shipment yet into one."""
    moved = LineItem.objects.filter(
        pk=line.pk, quantity__gte=F("cancelled_quantity") + F("fulfilled_quantity") + quantity
    ).update(fulfilled_quantity=F("fulfilled_quantity") + quantity)
    if moved != 1:
        raise GoodsMoved(line.line_item_id)


def unfulfil_units(*, line: LineItem, quantity: int) -> None:
    """Take units out of a shipment that has not left the house."""
    moved = LineItem.objects.filter(pk=line.pk, fulfilled_quantity__gte=quantity).update(
        fulfilled_quantity=F("fulfilled_quantity") - quantity
    )
    if moved != 1:
        raise GoodsMoved(line.line_item_id)


def cancel_units(*, line: LineItem, quantity: int) -> None:
    """Take units that are in no shipment off the order for good."""
    moved = LineItem.objects.filter(
        pk=line.pk, quantity__gte=F("cancelled_quantity") + F("fulfilled_quantity") + quantity
    ).update(cancelled_quantity=F("cancelled_quantity") + quantity)
    if moved != 1:
        raise GoodsMoved(line.line_item_id)


def restore_cancelled_units(*, line: LineItem, quantity: int) -> None:
    """Put cancelled units back: their refund was rejected or expired before any money moved."""
    moved = LineItem.objects.filter(pk=line.pk, cancelled_quantity__gte=quantity).update(
        cancelled_quantity=F("cancelled_quantity") - quantity
    )
    if moved != 1:
        raise GoodsMoved(line.line_item_id)


def hold_units(*, shipment_line: ShipmentLine, quantity: int, hold: Hold) -> None:
    """Mark units of a parcel as being returned, exchanged or sent again, as replaced, or as refunded."""
    field = f"{hold}_quantity"
    moved = ShipmentLine.objects.filter(
        pk=shipment_line.pk,
        quantity__gte=F("returning_quantity")
        + F("exchanging_quantity")
        + F("resending_quantity")
        + F("replaced_quantity")
        + F("refunded_quantity")
        + quantity,
    ).update(**{field: F(field) + quantity})
    if moved != 1:
        raise GoodsMoved(shipment_line.line_item.line_item_id)


def release_units(*, shipment_line: ShipmentLine, quantity: int, hold: Hold) -> None:
    """Undo `hold_units`: the return was withdrawn or rejected, or its units are about to be held in another way."""
    field = f"{hold}_quantity"
    moved = ShipmentLine.objects.filter(pk=shipment_line.pk, **{f"{field}__gte": quantity}).update(
        **{field: F(field) - quantity}
    )
    if moved != 1:
        raise GoodsMoved(shipment_line.line_item.line_item_id)
