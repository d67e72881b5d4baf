"""A gateway has refused: a person sends the same refund again, or to another payment of the order.

Only after a definite refusal. The new attempt has a new number and with it a new key. The goods stay cancelled. The
refused part alone counts: what became of the others, or is still asked about, keeps nobody from sending it again.
"""

from typing import Final

from django.db import transaction
from django.utils import timezone

from orders import audit
from orders.actors import Actor
from orders.jobs import enqueue_on_commit
from orders.models import Order, Payment
from orders.prose import aside
from refunds import charges, errors, locks, outcome, reported_before, tasks
from refunds.choices import clean_note
from refunds.gateways.plan import Person
from refunds.holding import MoneyMoved, hold_money, release_money
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.states import NOT_TO_BE_SENT, AllocationState, AttemptOutcome

RETRY: Final = "refunds.retry_refund"


@transaction.atomic
def retry(*, refund_id: str, actor: Actor, payment_id: str | None = None, note: str = "") -> Refund:
    """Send every refused part of a refund again. `payment_id`: to that payment instead, if it has enough left.

    A part of which the gateway has reported a payment is left to people (`attention.settle`). Raises NotAllowed,
    NotFound, and Refusal wrong_state (nothing of it was refused), paid_already, may_be_paid (money of the order has
    gone back, and nobody has said what for) or payment_cannot_take.
    """
    actor.require_staff(RETRY)
    text = clean_note(note)
    order, refund = locks.order_and_refund(refund_id)
    parts = unpaid_parts(refund)
    reported_before.require_nothing_reported(order)
    for allocation in parts:
        if payment_id is not None:
            _redirect(order, refund, allocation, payment_id)
        allocation.attempt += 1
        allocation.state = AllocationState.PENDING
        allocation.not_before = None
        allocation.save(update_fields=["payment", "attempt", "state", "not_before"])
        _record(refund, allocation, actor, text)
    outcome.follow_allocations(refund, actor=actor, reason=text)
    enqueue_on_commit(tasks.send_refund, refund.pk)
    return refund


def unpaid_parts(refund: Refund) -> list[RefundAllocation]:
    """The refused parts, locked, that no attempt is reported to have paid; with the refund locked.

    Raises Refusal wrong_state where nothing was refused, and paid_already where everything refused is reported as paid.
    """
    failed = list(refund.allocations.select_for_update(no_key=True).filter(state=AllocationState.FAILED))
    if not failed or refund.state in NOT_TO_BE_SENT:
        raise errors.wrong_state(aside(refund.pk, refund.get_state_display()))
    reported = set(
        GatewayAttempt.objects.filter(allocation__refund=refund)
        .exclude(trouble="", outcome=AttemptOutcome.REFUSED)
        .values_list("allocation_id", flat=True)
    )
    unpaid = [allocation for allocation in failed if allocation.pk not in reported]
    if not unpaid:
        raise errors.paid_already(refund.pk)
    return unpaid


def _redirect(order: Order, refund: Refund, allocation: RefundAllocation, payment_id: str) -> None:
    """Move the allocation to another payment of the order, with the money it holds."""
    target = next((item for item in order.payments.all() if item.pk == payment_id), None)
    if target is not None and target.pk == allocation.payment_id:
        return
    if target is None or _is_used(refund, target) or not _can_take(target, allocation.amount):
        raise errors.payment_cannot_take(allocation.amount, refund.currency, field="payment_id")
    try:
        hold_money(target, allocation.amount)
    except MoneyMoved as moved:
        raise errors.payment_cannot_take(allocation.amount, refund.currency, field="payment_id") from moved
    release_money(allocation.payment, allocation.amount)
    allocation.payment = target


def _can_take(payment: Payment, amount: int) -> bool:
    """Whether a machine can pay that much back to it, now or later."""
    if not charges.by_machine(payment):
        return False
    return not isinstance(charges.step_for(payment, amount, held=False, now=timezone.now()), Person)


def _is_used(refund: Refund, payment: Payment) -> bool:
    """A refund has one allocation per payment."""
    return refund.allocations.filter(payment=payment).exists()


def _record(refund: Refund, allocation: RefundAllocation, actor: Actor, note: str) -> None:
    audit.record(
        action="allocation.retried",
        actor=actor,
        subject_type="allocation",
        subject_id=allocation.pk,
        order=refund.order,
        chosen={"payment_id": allocation.payment_id, "note": note},
        computed={"amount": allocation.amount, "attempt": allocation.attempt},
        correlation={"refund_id": refund.pk},
    )
