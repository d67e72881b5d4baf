"""What our books hold as given back of one charge, by our attempts and without them, beside the provider's own list."""

from collections.abc import Collection, Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from orders.models import Payment
from refunds.gateways.base import ProviderRefund
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.states import AllocationState, AttemptOutcome, Trouble


def known(payment: Payment) -> int:
    """What we know was given back of this charge: by our attempts, elsewhere, and by hand."""
    return by_attempts(payment) + _sum(held(payment), "amount")


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
    """The refund that holds the provider's refund of this number."""
    return next((part.refund for part in held(payment) if number_of(part) == number), None)


def strangers(payment: Payment, lines: Iterable[ProviderRefund], numbers: Collection[str]) -> list[ProviderRefund]:
    """Of these refunds of the provider's, which no attempt of ours has made, those that our books do not hold at all.

    What a person has booked under a number of their own is recognised by its amount, once each. `numbers`: all that
    the provider has for this charge; what is booked under one of them is no other.
    """
    parts = list(held(payment))
    booked = {number_of(part) for part in parts}
    free = [part.amount for part in parts if number_of(part) not in numbers]
    found = []
    for line in lines:
        if line.provider_refund_id in booked:
            continue
        if line.amount in free:
            free.remove(line.amount)
        else:
            found.append(line)
    return found


def _sum(rows: QuerySet[GatewayAttempt] | QuerySet[RefundAllocation], amount: str) -> int:
    return rows.aggregate(total=Sum(amount))["total"] or 0
