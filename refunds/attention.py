"""A person settles with the payment provider what no machine may: paid after a refusal, or another sum than asked."""

from django.db import transaction
from django.utils import timezone

from orders import audit
from orders.actors import Actor, NotAllowed
from refunds import errors, locks, outcome
from refunds.choices import clean_note
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.retry import RETRY
from refunds.states import UNDECIDED, AllocationState


@transaction.atomic
def settle(*, refund_id: str, actor: Actor, note: str) -> Refund:
    """Say that the provider has in the end paid every troubled part of the refund once, and exactly as asked.

    By staff with `refunds.retry_refund`, who write what they did. A part that counted as refused or in doubt is paid
    from then on. Raises NotAllowed, NotFound, InvalidInput (`note`), and Refusal wrong_state where there is nothing to
    settle, or where a newer attempt of the same part is still on its way.
    """
    if actor.kind != "staff":
        raise NotAllowed(RETRY)
    actor.require(RETRY)
    text = clean_note(note, required=True)
    _, refund = locks.order_and_refund(refund_id)
    troubled = GatewayAttempt.objects.filter(allocation__refund=refund, settled_at=None).exclude(trouble="")
    attempts = list(troubled.order_by("pk"))
    if not attempts:
        raise errors.wrong_state(f"{refund.pk} ({refund.get_state_display()})")
    for attempt in attempts:
        _, allocation = locks.refund_and_allocation(attempt.allocation_id)
        _settle(attempt, allocation, refund, actor, text)
    outcome.follow_allocations(refund, actor=actor, reason=text)
    return refund


def _settle(attempt: GatewayAttempt, allocation: RefundAllocation, refund: Refund, actor: Actor, note: str) -> None:
    newer = allocation.attempts.filter(number__gt=attempt.number, outcome__in=UNDECIDED)
    if newer.exists():
        raise errors.wrong_state(f"{refund.pk} ({refund.get_state_display()})")
    if allocation.state != AllocationState.SUCCEEDED:
        outcome.count_as_paid(attempt, allocation)
    GatewayAttempt.objects.filter(pk=attempt.pk).update(settled_at=timezone.now())
    audit.record(
        action="attempt.settled",
        actor=actor,
        subject_type="gateway_attempt",
        subject_id=str(attempt.pk),
        order=refund.order,
        chosen={"note": note},
        outcome={"trouble": attempt.trouble, "provider_refund_id": attempt.provider_refund_id},
        correlation={"refund_id": refund.pk, "idempotency_key": attempt.idempotency_key},
    )
