"""What our books hold as given back of one charge, by our attempts and without them, beside the provider's own list."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from orders.models import Payment
from refunds.gateways.base import ProviderRefund
from refunds.models import GatewayAttempt, Refund, RefundAllocation, StaffAlert
from refunds.states import AlertKind, AllocationState, Asker, AttemptOutcome, RefundKind, Trouble

# Between a charge's number and its sum, in the number of what was booked from that sum.
SUM: Final = ":"


def known(payment: Payment) -> int:
    """What we know was given back of this charge: by our attempts, elsewhere, and by hand."""
    return by_attempts(payment) + _sum(held(payment), "amount")


def reported(payment: Payment) -> int:
    """So much of it as the provider has told us of: what people have booked may be no refund of the provider's."""
    by_system = Q(refund__kind=RefundKind.ELSEWHERE, refund__confirmed_by_kind=Asker.SYSTEM)
    return by_attempts(payment) + _sum(held(payment).filter(by_system), "amount")


def by_attempts(payment: Payment) -> int:
    """What the gateway has paid at our asking, also where that is still a trouble."""
    paid = Q(outcome=AttemptOutcome.SUCCEEDED) | Q(trouble=Trouble.PAID_AFTER_REFUSAL)
    ours = payment.attempts.filter(paid).exclude(trouble=Trouble.FAILED_AFTER_PAYMENT, settled_at=None)
    return _sum(ours, "allocation__amount")


def held(payment: Payment) -> QuerySet[RefundAllocation]:
    """What counts as paid and no attempt has paid: made elsewhere, or a part of a refund that was paid by hand."""
    paid = GatewayAttempt.objects.filter(allocation=OuterRef("pk"), outcome=AttemptOutcome.SUCCEEDED)
    return payment.allocations.filter(~Exists(paid), state=AllocationState.SUCCEEDED).select_related("refund")


def number_of(part: RefundAllocation) -> str:
    """What a person or the provider calls it: a part that was paid by hand has a number of its own."""
    return part.external_ref or part.refund.external_ref or ""


def held_as(payment: Payment, number: str) -> Refund | None:
    """The refund that holds the provider's refund of this number, or is taken to."""
    guessed = told_guesses(payment).get(number)
    parts = held(payment)
    exact = next((part.refund for part in parts if number_of(part) == number), None)
    return exact or next((part.refund for part in parts if part.refund_id == guessed), None)


@dataclass(frozen=True, slots=True)
class Sorted:
    """`strangers`: refunds that our books do not hold at all. `guesses`: what may be what a person has booked."""

    strangers: list[ProviderRefund]
    guesses: list[tuple[ProviderRefund, RefundAllocation]]


def sort(payment: Payment, lines: Iterable[ProviderRefund], numbers: Collection[str]) -> Sorted:
    """What these refunds of the provider's are, which no attempt of ours has made.

    One is known by its number. What a person has booked under another number is guessed by its amount, once each and
    for good (`told_guesses`): somebody has to confirm it. So is the same number with another amount. `numbers`: all
    that the provider has for this charge; what is booked under one of them is no other.
    """
    parts = list(held(payment))
    booked = {number_of(part): part for part in parts}
    told = told_guesses(payment)
    free = [part for part in parts if _may_be_another(part, numbers) and part.refund_id not in told.values()]
    found = Sorted([], [])
    for line in lines:
        number = line.provider_refund_id
        part = booked.get(number) or next((each for each in free if _is_same(each, line)), None)
        if number in told or (number in booked and part is not None and _is_same(part, line)):
            continue
        if part is None:
            found.strangers.append(line)
            continue
        if part in free:
            free.remove(part)
        if not _is_sum(part):
            found.guesses.append((line, part))
    return found


def told_guesses(payment: Payment) -> dict[str, str]:
    """The provider's numbers of which somebody was told that they may be a refund that is booked: that refund's."""
    told = StaffAlert.objects.filter(
        kind=AlertKind.DIFFERENCE, order=payment.order, facts__payment_id=payment.pk, facts__has_key="booked_as"
    )
    return dict(told.values_list("facts__provider_refund_id", "refund_id"))


def _may_be_another(part: RefundAllocation, numbers: Collection[str]) -> bool:
    """Whether it can be a refund of another number. What was booked from a report is the one that was reported."""
    if number_of(part) in numbers:
        return False
    return not _is_reported(part) or _is_sum(part)


def _is_reported(part: RefundAllocation) -> bool:
    return part.refund.kind == RefundKind.ELSEWHERE and part.refund.confirmed_by_kind == Asker.SYSTEM


def _is_sum(part: RefundAllocation) -> bool:
    """Booked from a charge's sum, because the provider could not be asked what it was made of: no number of its own."""
    return _is_reported(part) and SUM in number_of(part)


def _is_same(part: RefundAllocation, line: ProviderRefund) -> bool:
    return (part.amount, part.refund.currency) == (line.amount, line.currency)


def _sum(rows: QuerySet[GatewayAttempt] | QuerySet[RefundAllocation], amount: str) -> int:
    return rows.aggregate(total=Sum(amount))["total"] or 0
