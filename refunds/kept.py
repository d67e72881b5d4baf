"""What would stay with the customer, and what that would have cost: the other half of a refund's arithmetic."""

from dataclasses import dataclass
from typing import Literal

from orders.models import Order
from refunds import policy
from refunds.history import history_of
from refunds.models import RefundQuote
from refunds.policy import Departure, Price
from refunds.pricing import basket_after
from refunds.snapshot import terms_of

Fate = Literal["kept", "reduced", "lost", "unearned"]


@dataclass(frozen=True, slots=True)
class KeptLine:
    """`quantity` pieces stay, which cost `amount` by their list price."""

    name: str
    quantity: int
    amount: int


@dataclass(frozen=True, slots=True)
class KeptDiscount:
    """A discount that took `before` off and would take `after`; *unearned*: it did nothing before either."""

    label: str
    before: int
    after: int
    fate: Fate


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything in the currency's smallest unit; `total` is what the kept goods would have cost by themselves."""

    currency: str
    lines: list[KeptLine]
    goods: int
    discounts: list[KeptDiscount]
    shipping_before: int
    shipping: int
    total: int


def what_stays(order: Order, quote: RefundQuote) -> Kept:
    """What is left of the order once the quoted goods are gone too. `quote` is open: its goods still count as there.

    Raises Refusal needs_assignment, PolicyError where the goods are gone already.
    """
    terms, gone = terms_of(order), history_of(order).gone
    asked = [Departure(each.line_item.line_item_id, each.quantity, each.shop_fault) for each in quote.lines.all()]
    before, after = policy.price(terms, gone), policy.price(terms, (*gone, *asked))
    basket = basket_after(terms, (*gone, *asked))
    left = [(line, basket.kept[line.line_item_id]) for line in order.lines.all()]
    return Kept(
        currency=order.currency,
        lines=[KeptLine(line.name, count, count * line.unit_price) for line, count in left if count],
        goods=after.goods,
        discounts=_discounts(before, after),
        shipping_before=before.shipping,
        shipping=after.shipping,
        total=after.total,
    )


def _discounts(before: Price, after: Price) -> list[KeptDiscount]:
    return [
        KeptDiscount(old.label or old.code, old.amount, new.amount, _fate(old.amount, new.amount))
        for old, new in zip(before.discounts, after.discounts, strict=True)
    ]


def _fate(before: int, after: int) -> Fate:
    if not before:
        return "unearned"
    if not after:
        return "lost"
    return "reduced" if after < before else "kept"
