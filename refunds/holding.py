"""A refund holds goods and money from the moment it exists, and lets go of both if it is rejected or expires.

Every move is one conditional update; a lost race changes no row and raises `GoodsMoved` or `MoneyMoved`. Call it with
the order locked.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import F

from orders import goods
from orders.models import Payment
from refunds.models import QuoteLine, ReturnLine


class MoneyMoved(Exception):
    """A payment does not have left what the caller believes it has. Nothing was changed."""


def hold_goods(lines: Iterable[QuoteLine]) -> None:
    """Units that were never packed leave the order; units of a parcel are marked as refunded."""
    for line in lines:
        if line.shipment_line is None:
            goods.cancel_units(line=line.line_item, quantity=line.quantity)
        else:
            goods.hold_units(shipment_line=line.shipment_line, quantity=line.quantity, hold="refunded")


def release_goods(lines: Iterable[QuoteLine]) -> None:
    """Undo `hold_goods`."""
    for line in lines:
        if line.shipment_line is None:
            goods.restore_cancelled_units(line=line.line_item, quantity=line.quantity)
        else:
            goods.release_units(shipment_line=line.shipment_line, quantity=line.quantity, hold="refunded")


def hold_money(payment: Payment, amount: int) -> None:
    """Count `amount` as given back by the payment, if it has that much left."""
    moved = Payment.objects.filter(pk=payment.pk, amount__gte=F("refunded_amount") + amount).update(
        refunded_amount=F("refunded_amount") + amount
    )
    if moved != 1:
        raise MoneyMoved(payment.pk)


def release_money(payment: Payment, amount: int) -> None:
    """Undo `hold_money`."""
    moved = Payment.objects.filter(pk=payment.pk, refunded_amount__gte=amount).update(
        refunded_amount=F("refunded_amount") - amount
    )
    if moved != 1:
        raise MoneyMoved(payment.pk)


def lines_of(quote_id: str) -> list[QuoteLine]:
    """A quote's lines with what moving them needs."""
    lines = QuoteLine.objects.filter(quote_id=quote_id).select_related("line_item", "shipment_line__line_item")
    return list(lines.order_by("pk"))


def named(lines: Iterable[QuoteLine | ReturnLine]) -> list[dict[str, Any]]:
    """The units as the shop is told of them: by our id and by its own, and what they really are."""
    return [
        {
            "line_item_id": line.line_item.line_item_id,
            "external_id": line.line_item.external_id,
            "sku": _sku(line),
            "quantity": line.quantity,
            "reason": line.reason,
        }
        for line in lines
    ]


def _sku(line: QuoteLine | ReturnLine) -> str:
    """A parcel may hold another product than the line's: a replacement."""
    product = line.shipment_line.product if line.shipment_line else None
    return product.sku if product else line.line_item.sku
