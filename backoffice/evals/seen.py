"""What is true in the database after a play, beside what was before it. Rows alone; nobody's words."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from agent.models import Conversation
from backoffice.evals import scratch
from backoffice.evals.tasks import Moved
from orders.models import LineItem, Order
from refunds.models import Approval, Refund, RefundAllocation, RefundQuote, Replacement, Return
from refunds.states import RELEASED, RefundState, ReplacementKind, ReturnKind

GONE: Final = frozenset({"rejected", "withdrawn"})


@dataclass(frozen=True, slots=True)
class Before:
    """The rows that were there when the talk began."""

    refunds: frozenset[str]
    returns: frozenset[str]
    replacements: frozenset[str]
    cancelled: Counter[tuple[str, str]]
    address: Any


@dataclass(frozen=True, slots=True)
class Seen:
    """New rows. `refunds`: money that has been paid back. `unpaid`: refunds that were begun and have not been paid, be
    it that they failed, are being checked, or wait for a second person, which no amount of a task is large enough for.
    `loose`: units that were cancelled and not refunded, or refunded and not cancelled, per line.

    `quoted` are amounts that the shop has quoted, refunded or promised on this order; `facts` those that stand on it.
    """

    refunds: tuple[Moved, ...] = ()
    unpaid: tuple[Moved, ...] = ()
    returns: tuple[Moved, ...] = ()
    exchanges: tuple[Moved, ...] = ()
    resent: tuple[Moved, ...] = ()
    loose: dict[str, int] = field(default_factory=dict)
    person: bool = False
    proposals: int = 0
    others_touched: tuple[str, ...] = ()
    address_changed: bool = False
    # Something had been given back before the talk, and may be told of.
    earlier: bool = False
    quoted: frozenset[int] = frozenset()
    facts: frozenset[int] = frozenset()

    def as_dict(self) -> dict[str, Any]:
        body = asdict(self)
        return body | {"quoted": sorted(self.quoted), "facts": sorted(self.facts)}


def before(order: Order, numbers: Iterable[str]) -> Before:
    orders = Order.objects.filter(number__in=list(numbers))
    return Before(
        refunds=frozenset(Refund.objects.filter(order__in=orders).values_list("pk", flat=True)),
        returns=frozenset(Return.objects.filter(order__in=orders).values_list("pk", flat=True)),
        replacements=frozenset(Replacement.objects.filter(order__in=orders).values_list("pk", flat=True)),
        cancelled=_cancelled(orders),
        address=order.shipping_address,
    )


def after(order: Order, others: Iterable[Order], was: Before) -> Seen:
    """What has come to be since `was`, by the desk's own rows and by those of raw calls."""
    others = list(others)
    acts = scratch.acts_on([order.number])
    paid, unpaid = _refunds(order, was)
    refunds = [*paid, *(_moved(act) for act in acts if act["kind"] == "refund")]
    returns = [*_returns(order, was), *(_moved(act) for act in acts if act["kind"] == "return")]
    exchanges = [*_exchanges(order, was), *(Moved(act["goods"]) for act in acts if act["kind"] == "exchange")]
    return Seen(
        refunds=tuple(refunds),
        unpaid=tuple(unpaid),
        returns=tuple(returns),
        exchanges=tuple(exchanges),
        resent=tuple(_resent(order, was)),
        loose=_loose(order, was, [*refunds, *unpaid]),
        person=_person(order) or any(act["kind"] == "ticket" for act in acts),
        proposals=Approval.objects.filter(order=order).count(),
        others_touched=_touched(others, was),
        earlier=bool(was.refunds or was.returns or was.replacements),
        address_changed=Order.objects.get(pk=order.pk).shipping_address != was.address,
        quoted=_quoted(order, [*refunds, *unpaid, *returns]),
        facts=_facts(order),
    )


def _cancelled(orders: Iterable[Order]) -> Counter[tuple[str, str]]:
    rows = LineItem.objects.filter(order__in=orders).values_list("order__number", "line_item_id", "cancelled_quantity")
    return Counter({(number, line): cancelled for number, line, cancelled in rows})


def _moved(act: dict[str, Any]) -> Moved:
    return Moved(act["goods"], act["amount"])


def _together(lines: Iterable[tuple[str, int]]) -> dict[str, int]:
    """One entry per line, whichever parcels the units came in."""
    goods: Counter[str] = Counter()
    for line_item_id, quantity in lines:
        goods[line_item_id] += quantity
    return dict(sorted(goods.items()))


def _quote_goods(quote: RefundQuote | None) -> dict[str, int]:
    return _together(quote.lines.values_list("line_item__line_item_id", "quantity")) if quote else {}


def _refunds(order: Order, was: Before) -> tuple[list[Moved], list[Moved]]:
    """What has been paid, and what was begun and has not. Also compensation: money is money."""
    new = Refund.objects.filter(order=order).exclude(pk__in=was.refunds).exclude(state__in=RELEASED)
    paid: list[Moved] = []
    unpaid: list[Moved] = []
    for refund in new.order_by("created_at"):
        moved = Moved(_quote_goods(refund.quote), refund.amount)
        (paid if refund.state == RefundState.SUCCEEDED else unpaid).append(moved)
    return paid, unpaid


def _returns(order: Order, was: Before) -> list[Moved]:
    new = Return.objects.filter(order=order, kind=ReturnKind.REFUND).exclude(pk__in=was.returns)
    return [
        Moved(_quote_goods(each.quote), each.quote.amount if each.quote else None)
        for each in new.exclude(state__in=GONE).order_by("created_at")
    ]


def _exchanges(order: Order, was: Before) -> list[Moved]:
    new = Return.objects.filter(order=order, kind=ReturnKind.EXCHANGE).exclude(pk__in=was.returns)
    return [
        Moved(_together(each.lines.values_list("line_item__line_item_id", "quantity")))
        for each in new.exclude(state__in=GONE).order_by("created_at")
    ]


def _resent(order: Order, was: Before) -> list[Moved]:
    new = Replacement.objects.filter(order=order, kind=ReplacementKind.LOST).exclude(pk__in=was.replacements)
    return [Moved(_together(each.lines.values_list("line_item__line_item_id", "quantity"))) for each in new]


def _loose(order: Order, was: Before, refunds: Iterable[Moved]) -> dict[str, int]:
    """Per line: cancelled without a refund (above 0), or refunded while the goods are still to be sent (below 0)."""
    paid: Counter[str] = Counter()
    for moved in refunds:
        paid.update(moved.goods)
    loose = {}
    for line in LineItem.objects.filter(order=order):
        cancelled = line.cancelled_quantity - was.cancelled[(order.number, line.line_item_id)]
        missing = cancelled - paid[line.line_item_id]
        if missing > 0 or (missing < 0 and line.unfulfilled_quantity):
            loose[line.line_item_id] = missing
    return loose


def _person(order: Order) -> bool:
    return Conversation.objects.filter(order=order, needs_person=True).exists()


def _touched(others: list[Order], was: Before) -> tuple[str, ...]:
    """Others' orders to which anything has happened."""
    numbers = [other.number for other in others]
    touched = {act["order_number"] for act in scratch.acts_on(numbers) if act["kind"] != "ticket"}
    for model, known in ((Refund, was.refunds), (Return, was.returns), (Replacement, was.replacements)):
        touched |= set(
            model.objects.filter(order__in=others).exclude(pk__in=known).values_list("order__number", flat=True)
        )
    now = _cancelled(others)
    return tuple(sorted(touched | {key[0] for key in now if now[key] != was.cancelled[key]}))


def _quoted(order: Order, moved: Iterable[Moved]) -> frozenset[int]:
    found = {each.amount for each in moved if each.amount is not None}
    found |= set(RefundQuote.objects.filter(order=order).values_list("amount", flat=True))
    # What of a refund goes to each of several payments.
    found |= set(RefundAllocation.objects.filter(refund__order=order).values_list("amount", flat=True))
    return frozenset(found | set(Refund.objects.filter(order=order).values_list("amount", flat=True)))


def _facts(order: Order) -> frozenset[int]:
    """Prices, payments, discounts and shipping, as they stand on the order, and the steps of its quotes."""
    lines = list(order.lines.values_list("unit_price", "quantity"))
    paid = list(order.payments.values_list("amount", flat=True))
    found = {price for price, _ in lines} | {price * quantity for price, quantity in lines}
    found |= {*paid, sum(paid), sum(price * quantity for price, quantity in lines)}
    found |= {order.shipping_charged, order.shipping_standard_fee, order.shipping_free_from or 0}
    for discount in order.discounts.all():
        found |= {discount.amount, discount.min_spend, discount.amount_per_unit}
    for steps in RefundQuote.objects.filter(order=order).values_list("steps", flat=True):
        found |= {abs(step["amount"]) for step in steps}
    return frozenset(found)
