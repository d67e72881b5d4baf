"""Paying: the intention is committed, the gateway is called outside any transaction, the outcome is committed.

An allocation is claimed by writing its `GatewayAttempt`; the unique key (allocation, number) lets one worker have it.
What the gateway can take only later gets no attempt yet: it waits, and the sweeper sends it then.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from orders import audit
from orders.models import Payment
from refunds import charges, gateways, locks, outcome
from refunds.gateways.base import Charge, GatewayAnswer, GatewayRefused, GatewayTimeout, StillPending
from refunds.gateways.plan import Person, Void, Wait
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.notices import tell_on_commit
from refunds.signals import refund_moved
from refunds.states import AllocationState, AttemptKind, AttemptOutcome, RefundState

# Why nothing was sent, for whoever reads the attempt.
_UNSENT: Final = {
    "cannot_partial": "The payment provider refunds this payment only as a whole.",
    "window_over": "The payment provider no longer refunds this payment: it was made too long ago.",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """An attempt that this worker makes. `started_at` is its lease: a worker that takes over changes it."""

    attempt: GatewayAttempt
    started_at: datetime
    charge: Charge
    amount: int


def send(*, refund_id: str) -> None:
    """Send every part of a refund that nobody has sent yet. Safe to call twice, and by two workers at once."""
    waiting = RefundAllocation.objects.filter(due(timezone.now()), refund_id=refund_id, state=AllocationState.PENDING)
    for allocation_id in list(waiting.order_by("position").values_list("pk", flat=True)):
        send_part(allocation_id)


def send_part(allocation_id: str) -> bool:
    """Send one part, if it is to be sent now and nobody has. Whether its gateway, if called, answered in time."""
    claim = claim_allocation(allocation_id)
    return claim is None or deliver(claim)


def due(now: datetime) -> Q:
    """Allocations whose gateway can take them by now, as far as is known."""
    return Q(not_before=None) | Q(not_before__lte=now)


@transaction.atomic
def claim_allocation(allocation_id: str) -> Claim | None:
    """Write the attempt before it is made; None if it is not to be made, or not yet, or somebody else makes it.

    What no gateway here can pay is refused in the same moment: so an attempt that was begun may always be asked about.
    """
    refund, allocation = locks.refund_and_allocation(allocation_id)
    if refund.state != RefundState.PENDING or allocation.state != AllocationState.PENDING:
        return None
    if allocation.attempts.filter(number=allocation.attempt).exists():
        return None
    if not charges.by_machine(allocation.payment):
        provider = charges.provider_of(allocation.payment)
        message = f"No gateway is connected for payments through {provider}."
        _refuse_unsent(allocation, timezone.now(), code="no_gateway", message=message)
        return None
    # What an acquirer can do depends on what else is given back of the charge: one claim of a payment at a time.
    allocation.payment = Payment.objects.select_for_update(of=("self",), no_key=True).get(pk=allocation.payment_id)
    # Not before: what was begun while this waited for the lock would lie in the future, and not be counted.
    now = timezone.now()
    step = charges.step_for(allocation.payment, allocation.amount, held=True, now=now)
    if isinstance(step, Wait):
        _postpone(refund, allocation, step.until)
        return None
    if isinstance(step, Person):
        _refuse_unsent(allocation, now, code=step.code, message=_UNSENT[step.code])
        return None
    attempt = _begin(allocation, now, AttemptKind.VOID if isinstance(step, Void) else AttemptKind.REFUND)
    _record_claim(attempt, refund, allocation)
    return claim_of(attempt, now)


def _begin(allocation: RefundAllocation, now: datetime, kind: AttemptKind) -> GatewayAttempt:
    return GatewayAttempt.objects.create(
        allocation=allocation,
        payment=allocation.payment,
        number=allocation.attempt,
        kind=kind,
        idempotency_key=f"{allocation.pk}-{allocation.attempt}",
        provider=charges.provider_of(allocation.payment),
        outcome=AttemptOutcome.SENDING,
        started_at=now,
    )


def _refuse_unsent(allocation: RefundAllocation, now: datetime, *, code: str, message: str) -> None:
    attempt = _begin(allocation, now, AttemptKind.REFUND)
    outcome.record_refusal(attempt, started_at=now, code=code, message=message)


def _postpone(refund: Refund, allocation: RefundAllocation, until: datetime) -> None:
    if allocation.not_before == until:
        return
    allocation.not_before = until
    allocation.save(update_fields=["not_before"])
    audit.record(
        action="allocation.waits",
        actor=outcome.PAYMENTS,
        subject_type="allocation",
        subject_id=allocation.pk,
        order=refund.order,
        computed={"amount": allocation.amount, "payment_id": allocation.payment_id, "not_before": until.isoformat()},
        correlation={"refund_id": refund.pk},
    )
    tell_on_commit(refund_moved, refund_id=refund.pk)


def claim_of(attempt: GatewayAttempt, started_at: datetime) -> Claim:
    return Claim(attempt, started_at, charges.charge_of(attempt.payment), attempt.allocation.amount)


def _record_claim(attempt: GatewayAttempt, refund: Refund, allocation: RefundAllocation) -> None:
    audit.record(
        action="attempt.sending",
        actor=outcome.PAYMENTS,
        subject_type="gateway_attempt",
        subject_id=str(attempt.pk),
        order=refund.order,
        computed={
            "amount": allocation.amount,
            "payment_id": allocation.payment_id,
            "provider": attempt.provider,
            "kind": attempt.kind,
        },
        correlation={"refund_id": refund.pk, "idempotency_key": attempt.idempotency_key},
    )


def deliver(claim: Claim) -> bool:
    """Call the gateway under this claim and write down what it answered. Whether it answered in time."""
    try:
        answer = _call(claim)
    except GatewayRefused as refusal:
        outcome.record_no(claim.attempt, refusal, started_at=claim.started_at)
    except GatewayTimeout:
        outcome.record_doubt(claim.attempt, started_at=claim.started_at)
        return False
    else:
        if isinstance(answer, StillPending):
            outcome.record_pending(claim.attempt, answer, started_at=claim.started_at)
        else:
            outcome.record_success(claim.attempt, answer)
    return True


def _call(claim: Claim) -> GatewayAnswer | StillPending:
    require_no_transaction()
    gateway, key = gateways.get(claim.attempt.provider), claim.attempt.idempotency_key
    if claim.attempt.kind == AttemptKind.VOID:
        return gateway.void(charge=claim.charge, idempotency_key=key)
    return gateway.refund(charge=claim.charge, amount=claim.amount, idempotency_key=key)


def require_no_transaction() -> None:
    """A rollback after the call would forget that money has moved, and locks would wait for a stranger's network."""
    if connection.in_atomic_block:
        raise RuntimeError("A gateway must not be called inside a transaction.")
