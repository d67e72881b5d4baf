"""Paying: the intention is committed, the gateway is called outside any transaction, the outcome is committed.

An allocation is claimed by writing its `GatewayAttempt`; the unique key (allocation, number) lets one worker have it.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.utils import timezone

from orders import audit
from refunds import gateways, locks, outcome
from refunds.gateways.base import GatewayAnswer, GatewayRefused, GatewayTimeout
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.settling import by_machine
from refunds.states import AllocationState, AttemptOutcome, RefundState


@dataclass(frozen=True, slots=True)
class Claim:
    """An attempt that this worker makes. `started_at` is its lease: a worker that takes over changes it."""

    attempt: GatewayAttempt
    started_at: datetime
    charge_ref: str
    amount: int
    currency: str


def send(*, refund_id: str) -> None:
    """Send every part of a refund that nobody has sent yet. Safe to call twice, and by two workers at once."""
    waiting = RefundAllocation.objects.filter(refund_id=refund_id, state=AllocationState.PENDING)
    for allocation_id in list(waiting.order_by("position").values_list("pk", flat=True)):
        claim = claim_allocation(allocation_id)
        if claim is not None:
            deliver(claim)


@transaction.atomic
def claim_allocation(allocation_id: str) -> Claim | None:
    """Write the attempt before it is made; None if it is not to be made, or somebody else makes it.

    What no gateway here can pay is refused in the same moment: so an attempt that was begun may always be asked about.
    """
    refund, allocation = locks.refund_and_allocation(allocation_id)
    if refund.state != RefundState.PENDING or allocation.state != AllocationState.PENDING:
        return None
    if allocation.attempts.filter(number=allocation.attempt).exists():
        return None
    now = timezone.now()
    attempt = GatewayAttempt.objects.create(
        allocation=allocation,
        number=allocation.attempt,
        idempotency_key=f"{allocation.pk}-{allocation.attempt}",
        provider=allocation.payment.provider,
        outcome=AttemptOutcome.SENDING,
        started_at=now,
    )
    if not by_machine(allocation.payment):
        message = f"No gateway is connected for payments through {attempt.provider}."
        outcome.record_refusal(attempt, started_at=now, code="no_gateway", message=message)
        return None
    _record_claim(attempt, refund, allocation)
    return claim_of(attempt, refund, now)


def claim_of(attempt: GatewayAttempt, refund: Refund, started_at: datetime) -> Claim:
    allocation = attempt.allocation
    return Claim(attempt, started_at, allocation.payment_id, allocation.amount, refund.currency)


def _record_claim(attempt: GatewayAttempt, refund: Refund, allocation: RefundAllocation) -> None:
    audit.record(
        action="attempt.sending",
        actor=outcome.PAYMENTS,
        subject_type="gateway_attempt",
        subject_id=str(attempt.pk),
        order=refund.order,
        computed={"amount": allocation.amount, "payment_id": allocation.payment_id, "provider": attempt.provider},
        correlation={"refund_id": refund.pk, "idempotency_key": attempt.idempotency_key},
    )


def deliver(claim: Claim) -> None:
    """Call the gateway under this claim and write down what it answered."""
    try:
        answer = _call(claim)
    except GatewayRefused as refusal:
        outcome.record_refusal(claim.attempt, started_at=claim.started_at, code=refusal.code, message=refusal.message)
    except GatewayTimeout:
        outcome.record_doubt(claim.attempt, started_at=claim.started_at)
    else:
        outcome.record_success(claim.attempt, answer)


def _call(claim: Claim) -> GatewayAnswer:
    require_no_transaction()
    return gateways.get(claim.attempt.provider).refund(
        charge_ref=claim.charge_ref,
        amount=claim.amount,
        currency=claim.currency,
        idempotency_key=claim.attempt.idempotency_key,
    )


def require_no_transaction() -> None:
    """A rollback after the call would forget that money has moved, and locks would wait for a stranger's network."""
    if connection.in_atomic_block:
        raise RuntimeError("A gateway must not be called inside a transaction.")
