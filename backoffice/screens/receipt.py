"""An order as a person reads it: goods and where they are, how the price came about, how it was paid."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone
from django.utils.translation import gettext as _

from backoffice import words
from orders.models import LineItem, Order
from orders.money import format_money
from orders.words import shipping_name
from refunds import policy
from refunds.goods import UnitGroup, unit_groups
from refunds.present import payment_label
from refunds.snapshot import terms_of

LISTED: Final = ("lines", "payments", "shipments__lines", "refunds")


@dataclass(frozen=True, slots=True)
class Units:
    """Some units of a line in one state. `instead`: the other product that they are by now; empty: the line's own."""

    quantity: int
    said: words.Said
    tracking: str
    instead: str


@dataclass(frozen=True, slots=True)
class Line:
    """`several` says that the line's units are not all together."""

    item: LineItem
    price: str
    units: list[Units]

    @property
    def several(self) -> bool:
        return len(self.units) > 1


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    amount: str
    is_total: bool = False


def lines_of(order: Order, groups: Sequence[UnitGroup] | None = None) -> list[Line]:
    """The order's goods with the words for each group of units."""
    groups = unit_groups(order, now=timezone.now()) if groups is None else groups
    return [
        Line(
            item=item,
            price=format_money(item.unit_price, order.currency),
            units=[_units(group) for group in groups if group.line.pk == item.pk],
        )
        for item in order.lines.all()
    ]


def list_rows(orders: Iterable[Order]) -> list[dict[str, Any]]:
    """Orders as rows of a list: how each stands and what was paid. Wants what `LISTED` names prefetched."""
    return [
        {
            "order": order,
            "said": words.about_order(order),
            "paid": sum(payment.amount for payment in order.payments.all()),
        }
        for order in orders
    ]


def _units(group: UnitGroup) -> Units:
    shipment = group.shipment if group.state in {"shipped", "lost", "packed"} else None
    tracking = f"{shipment.carrier} {shipment.tracking_number}".strip() if shipment else ""
    instead = group.product_name if group.product_name != group.line.name else ""
    return Units(group.quantity, words.about_units(group), tracking, instead)


def price_rows(order: Order) -> list[Row]:
    """How the price came about at the checkout, from the order's own snapshot."""
    price = policy.price(terms_of(order), ())
    rows = [Row(_("Goods"), format_money(price.goods, order.currency))]
    rows += [
        Row(discount.label or discount.code, format_money(-discount.amount, order.currency))
        for discount in price.discounts
    ]
    shipping = _("Shipping (%(method)s)") % {"method": shipping_name(order.shipping_method)}
    fee = format_money(price.shipping, order.currency) if price.shipping else _("free")
    rows.append(Row(shipping, fee))
    return [*rows, Row(_("Paid"), format_money(price.total, order.currency), is_total=True)]


def payment_rows(order: Order) -> list[Row]:
    return [
        Row(payment_label(payment.method, payment.last4), format_money(payment.amount, order.currency))
        for payment in order.payments.all()
    ]
