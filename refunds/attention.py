"""A person settles with the payment provider what no machine may.

That is: paid or under way after a refusal, another sum than asked, or failed after it was paid. `settle` says that it
is paid; `admit_failure`, that it has failed: what was reported so after it was paid, or was under way after a refusal.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from orders import audit
from orders.actors import Actor
from refunds import errors, locks, outcome
from refunds.choices import clean_note
from refunds.holding import MoneyMoved, hold_money, release_money
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.retry import RETRY
from refunds.states import MAY_HAVE_FAILED, UNDECIDED, AllocationState, AttemptOutcome, Trouble


@transaction.atomic
def settle(*, refund_id: str, actor: Actor, note: str) -> Refund:
    """Say that the provider has in the end paid every troubled part of the refund once, and exactly as asked.

    By staff with `refunds.retry_refund`, who write what they did. A part that counted as refused or in doubt is paid
    from then on, by the payment that has really paid it. Raises NotAllowed, NotFound, InvalidInput (`note`), and
    Refusal wrong_state where there is nothing to settle, or where a newer attempt of the same part is still on its way,
    or payment_cannot_take where the books of the payment that has paid are full.
    """
    text, refund, attempts = _troubled(refund_id, actor, note)
    for attempt in attempts:
        _, allocation = locks.refund_and_allocation(attempt.allocation_id)
        _settle(attempt, allocation, refund, actor, text)
    outcome.follow_allocations(refund, actor=actor, reason=text)
    return refund


@transaction.atomic
def admit_failure(*, refund_id: str, actor: Actor, note: str) -> Refund:
    """Say that what may have failed (`MAY_HAVE_FAILED`) has: the money is with the shop.

    Each such part is refused from then on, so that it can be sent once more (`retry.py`) or paid by hand, unless it was
    since the first refusal. As `settle`; Refusal wrong_state where no part was reported so.
    """
    text, refund, attempts = _troubled(refund_id, actor, note, trouble__in=MAY_HAVE_FAILED)
    for attempt in attempts:
        _, allocation = locks.refund_and_allocation(attempt.allocation_id)
        if attempt.trouble == Trouble.FAILED_AFTER_PAYMENT:  # the other kind counted as refused all the time
            allocation.state = AllocationState.FAILED
            allocation.save(update_fields=["state"])
        # No trouble any more but a plain refusal; what it was stays in the history.
        fields = {"outcome": AttemptOutcome.REFUSED, "trouble": "", "settled_at": timezone.now()}
        GatewayAttempt.objects.filter(pk=attempt.pk).update(**fields)
        _audit("attempt.refused", attempt, refund, actor, text, {"code": attempt.code})
    outcome.follow_allocations(refund, actor=actor, reason=text)
    return refund


def _troubled(refund_id: str, actor: Actor, note: str, **which: Any) -> tuple[str, Refund, Sequence[GatewayAttempt]]:
    """The note, and the refund with its attempts that nobody has settled, its order and itself locked."""
    actor.require_staff(RETRY)
    text = clean_note(note, required=True)
    _, refund = locks.order_and_refund(refund_id)
    troubled = GatewayAttempt.objects.filter(allocation__refund=refund, settled_at=None, **which).exclude(trouble="")
    attempts = list(troubled.select_related("payment").order_by("pk"))
    if not attempts:
        raise errors.wrong_state(f"{refund.pk} ({refund.get_state_display()})")
    return text, refund, attempts


def _settle(attempt: GatewayAttempt, allocation: RefundAllocation, refund: Refund, actor: Actor, note: str) -> None:
    newer = allocation.attempts.filter(number__gt=attempt.number, outcome__in=UNDECIDED)
    if newer.exists():
        raise errors.wrong_state(f"{refund.pk} ({refund.get_state_display()})")
    booked_on = allocation.payment_id
    if allocation.state != AllocationState.SUCCEEDED:
        _book_where_it_was_paid(attempt, allocation, refund)
        outcome.count_as_paid(attempt, allocation)
    elif _was_paid_by_hand(attempt, allocation):
        outcome.count_as_paid(attempt, allocation)  # one payment in the end, and the provider has made it
    GatewayAttempt.objects.filter(pk=attempt.pk).update(settled_at=timezone.now())
    moved = {"booked_on": {"before": booked_on, "after": allocation.payment_id}}
    _audit("attempt.settled", attempt, refund, actor, note, moved)


def _was_paid_by_hand(attempt: GatewayAttempt, allocation: RefundAllocation) -> bool:
    if attempt.trouble != Trouble.PAID_AFTER_REFUSAL or attempt.payment_id != allocation.payment_id:
        return False
    return not allocation.attempts.filter(outcome=AttemptOutcome.SUCCEEDED).exists()


def _audit(
    action: str, attempt: GatewayAttempt, refund: Refund, actor: Actor, note: str, outcome: dict[str, Any]
) -> None:
    audit.record(
        action=action,
        actor=actor,
        subject_type="gateway_attempt",
        subject_id=str(attempt.pk),
        order=refund.order,
        chosen={"note": note},
        outcome={"trouble": attempt.trouble, "provider_refund_id": attempt.provider_refund_id, **outcome},
        correlation={"refund_id": refund.pk, "idempotency_key": attempt.idempotency_key},
    )


def _book_where_it_was_paid(attempt: GatewayAttempt, allocation: RefundAllocation, refund: Refund) -> None:
    """A person had sent the part to another payment, and it is the first one that has paid: the books follow."""
    paid_by = attempt.payment
    if paid_by.pk == allocation.payment_id:
        return
    if refund.allocations.filter(payment=paid_by).exists():  # one allocation per payment
        raise errors.payment_cannot_take(allocation.amount, refund.currency)
    try:
        hold_money(paid_by, allocation.amount)
    except MoneyMoved as moved:
        raise errors.payment_cannot_take(allocation.amount, refund.currency) from moved
    release_money(allocation.payment, allocation.amount)
    allocation.payment = paid_by
    allocation.save(update_fields=["payment"])
