"""What has happened to an order so far, as the money rules read it: goods gone, money spent, the policy in force."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from orders.models import Order
from refunds import errors
from refunds.models import Refund, RefundPolicy, RefundQuote, Return
from refunds.policy import Departure, Ledger
from refunds.states import OPEN_RETURNS, RELEASED, SETTLING, ReturnKind


@dataclass(frozen=True, slots=True)
class History:
    """`gone`: units that count as gone, merged per line and fault. `ledger`: the money that counts as given back."""

    gone: tuple[Departure, ...]
    ledger: Ledger


def policy_for(order: Order) -> RefundPolicy:
    """The policy that was in force when the order was placed. Raises the refusal `no_policy`."""
    policy = (
        RefundPolicy.objects.filter(state__in=SETTLING, currency=order.currency, in_force_from__lte=order.placed_at)
        .order_by("-in_force_from", "-version")
        .first()
    )
    if policy is None:
        raise errors.no_policy(order)
    return policy


def history_of(order: Order, *, without: Return | None = None) -> History:
    """Everything that counts as spent: refunds that are not released, and the promises of open returns.

    `without`: a return that is being settled now, and therefore counts neither as gone nor as promised.
    """
    refunded = [refund.quote for refund in spent_refunds(order)]
    promised = [item.quote for item in open_promises(order) if item != without and item.quote is not None]
    payments = list(order.payments.all())
    promise = sum(quote.amount for quote in promised)
    counted = [*refunded, *promised]
    ledger = Ledger(
        paid=sum(payment.amount for payment in payments),
        refunded=sum(quote.amount for quote in counted),
        fees_taken=sum(quote.fee for quote in counted),
        returns_counted=sum(quote.counts_as_return for quote in counted),
        payments_left=max(sum(payment.left for payment in payments) - promise, 0),
    )
    return History(gone=_departures(counted), ledger=ledger)


def spent_refunds(order: Order) -> list[Refund]:
    """Refunds that hold goods and money, with their quotes and lines."""
    return list(
        Refund.objects.filter(order=order)
        .exclude(state__in=RELEASED)
        .select_related("quote")
        .prefetch_related("quote__lines__line_item")
    )


def open_promises(order: Order) -> list[Return]:
    """Returns for a refund that is not made yet, with their quotes and lines."""
    return list(
        Return.objects.filter(order=order, kind=ReturnKind.REFUND, state__in=OPEN_RETURNS, refund=None)
        .select_related("quote")
        .prefetch_related("quote__lines__line_item")
    )


def _departures(quotes: Iterable[RefundQuote]) -> tuple[Departure, ...]:
    gone: Counter[tuple[str, bool]] = Counter()
    for quote in quotes:
        for line in quote.lines.all():
            gone[line.line_item.line_item_id, line.shop_fault] += line.quantity
    return tuple(Departure(line_item_id, units, fault) for (line_item_id, fault), units in sorted(gone.items()))
