"""A person settles with the payment provider what no machine may.

That is: paid or under way after a refusal, another sum than asked, or failed after it was paid. `settle` says that it
is paid, and by which payment where a person has paid it by hand as well; `admit_failure`, that it has failed: what was
reported so after it was paid, or was under way after a refusal.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from orders import audit
from orders.actors import Actor
from orders.errors import InvalidInput
from orders.prose import aside
from refunds import errors, locks, outcome
from refunds.choices import clean_note
from refunds.holding import MoneyMoved, hold_money, release_money
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.retry import RETRY
from refunds.states import MAY_HAVE_FAILED, UNDECIDED, AllocationState, AttemptOutcome, Stands, Trouble


@transaction.atomic
def settle(*, refund_id: str, actor: Actor, note: str, stands: str | None = None) -> Refund:
    """Say that every troubled part of the refund is in the end paid once, and exactly as asked.

    By staff with `refunds.retry_refund`, who write what they did. A part that counted as refused or in doubt is paid
    from then on, by the payment that has really paid it. `stands`, of parts that were paid by hand as well, where it
    has to be said: *hand*: what was paid by hand, and the provider's payment is taken back there; or *provider*: what
    was paid by hand has come back, or never left. Raises NotAllowed, NotFound, InvalidInput (`note`; `stands`, where it
    is not said, or nothing was paid by hand), and Refusal wrong_state where there is nothing to settle, or where a
    newer attempt of the same part is still on its way, or payment_cannot_take where the books of the payment that has
    paid are full.
    """
    text, refund, attempts = _troubled(refund_id, actor, note)
    _require_choice(stands, attempts)
    for attempt in attempts:
        _, allocation = locks.refund_and_allocation(attempt.allocation_id)
        _settle(attempt, allocation, refund, actor, text, stands or Stands.PROVIDER)
    outcome.follow_allocations(refund, actor=actor, reason=text)
    return refund


@transaction.atomic
def admit_failure(*, refund_id: str, actor: Actor, note: str) -> Refund:
    """Say that what may have failed (`MAY_HAVE_FAILED`) has: the money is with the shop.

    Each such part is refused from then on, so that it can be sent once more (`retry.py`) or paid by hand, unless it was
    since the first refusal: then it is paid. As `settle`; Refusal wrong_state where no part was reported so.
    """
    text, refund, attempts = _troubled(refund_id, actor, note, trouble__in=MAY_HAVE_FAILED)
    for attempt in attempts:
        _, allocation = locks.refund_and_allocation(attempt.allocation_id)
        if attempt.trouble == Trouble.FAILED_AFTER_PAYMENT:  # the other kind counted as refused all the time
            by_hand = number_by_hand(attempt, allocation)
            allocation.state = AllocationState.SUCCEEDED if by_hand else AllocationState.FAILED
            allocation.external_ref = by_hand
            allocation.save(update_fields=["state", "external_ref"])
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
    attempts = list(troubled.select_related("payment", "allocation").order_by("pk"))
    if not attempts:
        raise errors.wrong_state(aside(refund.pk, refund.get_state_display()))
    return text, refund, attempts


def _require_choice(stands: str | None, attempts: Sequence[GatewayAttempt]) -> None:
    both_have_paid = any(number_by_hand(each, each.allocation) for each in attempts)
    # Which of two payments counts is the whole question: silence is no answer to it.
    if stands not in Stands.values and (both_have_paid or stands is not None):
        raise InvalidInput("stands", _("Say which payment stands: what was paid by hand, or the provider's."))
    if stands == Stands.HAND and not both_have_paid:
        raise InvalidInput("stands", _("No part of it was paid by hand."))


def number_by_hand(attempt: GatewayAttempt, allocation: RefundAllocation) -> str:
    """Under which number a person has paid the part beside this attempt; empty if that is the attempt's own payment."""
    number = allocation.external_ref
    return number if number != attempt.provider_refund_id else ""


def _settle(
    attempt: GatewayAttempt, allocation: RefundAllocation, refund: Refund, actor: Actor, note: str, stands: str
) -> None:
    newer = allocation.attempts.filter(number__gt=attempt.number, outcome__in=UNDECIDED)
    if newer.exists():
        raise errors.wrong_state(aside(refund.pk, refund.get_state_display()))
    booked_on, number = allocation.payment_id, allocation.external_ref
    by_hand = number_by_hand(attempt, allocation)
    if allocation.state != AllocationState.SUCCEEDED or (number and not (by_hand and stands == Stands.HAND)):
        _book_where_it_was_paid(attempt, allocation, refund)
        outcome.count_as_paid(attempt, allocation)
        _free(number, refund)
    GatewayAttempt.objects.filter(pk=attempt.pk).update(settled_at=timezone.now())
    moved = {"booked_on": {"before": booked_on, "after": allocation.payment_id}}
    told = {"paid_by_hand": by_hand, "stands": stands} if by_hand else {}
    _audit("attempt.settled", attempt, refund, actor, note, moved | told)


def _free(number: str, refund: Refund) -> None:
    """Nothing was paid under it in the end: it may be entered for what it really is."""
    if number and refund.external_ref == number and not refund.allocations.filter(external_ref=number).exists():
        refund.external_ref = None
        refund.save(update_fields=["external_ref"])


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
