"""What has happened to an order so far, as the money rules read it: goods gone, money spent, the policy in force."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

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


def history_of(order: Order, *, without: Return | None = None, counts: bool = True) -> History:
    """Everything that counts as spent: refunds that are not released, and the promises of open returns.

    Compensation is only in what the payments have left. `without`: a return that is being settled now, and therefore
    counts neither as gone nor as promised; `counts`: whether it does towards the fee. Raises the refusal
    needs_assignment.
    """
    refunds = spent_refunds(order)
    _refuse_unassigned(order, refunds)
    promises = [item for item in open_promises(order) if item != without]
    promised = [item.quote for item in promises if item.quote is not None]
    counted = [*(refund.quote for refund in refunds if refund.quote is not None), *promised]
    returns = _returns_that_count(refunds, promises)
    first = min([*returns, without] if without and counts else returns, key=_asked_for, default=None)
    payments = list(order.payments.all())
    promise = sum(quote.amount for quote in promised)
    ledger = Ledger(
        paid=sum(payment.amount for payment in payments),
        refunded=sum(quote.amount for quote in counted),
        fees_taken=sum(quote.fee for quote in counted) - _no_longer_due(first, refunds),
        returns_counted=sum(without is None or _asked_for(item) < _asked_for(without) for item in returns),
        payments_left=max(sum(payment.left for payment in payments) - promise, 0),
    )
    return History(gone=_departures(counted), ledger=ledger)


def spent_refunds(order: Order) -> list[Refund]:
    """Refunds that hold money, of every kind, with their quotes and lines where they hold goods too."""
    return list(
        Refund.objects.filter(order=order)
        .exclude(state__in=RELEASED)
        .select_related("quote", "return_request")
        .prefetch_related("quote__lines__line_item")
    )


def _refuse_unassigned(order: Order, refunds: Iterable[Refund]) -> None:
    """Money went back for goods that nobody has named: whatever were worked out now could pay for them once more."""
    unassigned = next((refund for refund in refunds if refund.needs_assignment), None)
    if unassigned is not None:
        raise errors.needs_assignment(order, unassigned.pk)


def open_promises(order: Order) -> list[Return]:
    """Returns for a refund that is not made yet, with their quotes and lines."""
    returns = Return.objects.filter(order=order).select_related("quote").prefetch_related("quote__lines__line_item")
    return [item for item in returns if is_promise(item)]


def is_promise(item: Return) -> bool:
    """Whether the return's amount is still only promised: from its refund on, that counts instead."""
    return item.kind == ReturnKind.REFUND and item.state in OPEN_RETURNS and item.refund_id is None


def _returns_that_count(refunds: Iterable[Refund], promises: Iterable[Return]) -> list[Return]:
    """Towards the fee. For one that is being settled, only those do that were asked for before it.

    So the first return stays free even if the parcel of the second arrives first.
    """
    settled = [refund.return_request for refund in refunds if refund.quote and refund.quote.counts_as_return]
    return [*settled, *(item for item in promises if item.quote is not None and item.quote.counts_as_return)]


def _asked_for(item: Return) -> tuple[datetime, str]:
    return item.created_at, item.pk


def _no_longer_due(first: Return | None, refunds: Iterable[Refund]) -> int:
    """The fee of what is the first return by now: it was taken while an earlier one counted, which no more does.

    A fee that is only promised is left in: the settlement of that return itself takes none.
    """
    if first is None:
        return 0
    return sum(refund.quote.fee for refund in refunds if refund.quote and refund.pk == first.refund_id)


def _departures(quotes: Iterable[RefundQuote]) -> tuple[Departure, ...]:
    gone: Counter[tuple[str, bool]] = Counter()
    for quote in quotes:
        for line in quote.lines.all():
            gone[line.line_item.line_item_id, line.shop_fault] += line.quantity
    return tuple(Departure(line_item_id, units, fault) for (line_item_id, fault), units in sorted(gone.items()))
