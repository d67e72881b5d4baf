"""A second person decides about a refund: above the policy's amount, or less than a return was promised.

Never whoever asked for it or confirmed it. Until then it holds goods and money; a no, or seven days without an answer
(`release.expire_approvals`), gives both back.
"""

from typing import Final

from django.db import transaction

from orders.actors import Actor, NotAllowed
from orders.models import Order
from refunds import errors, locks, payout, return_states
from refunds.choices import clean_note
from refunds.models import Refund, Return
from refunds.outcome import move_refund
from refunds.release import let_go
from refunds.states import RefundState, ReturnState

APPROVE: Final = "refunds.approve_refund"


@transaction.atomic
def approve(*, refund_id: str, actor: Actor, reason: str = "") -> Refund:
    """Let the refund be sent. Raises NotAllowed, NotFound, and Refusal own_decision or wrong_state."""
    text = clean_note(reason, field="reason")
    _, refund = _locked(refund_id, actor)
    move_refund(
        refund=refund,
        to=RefundState.PENDING,
        actor=actor,
        reason=text,
        decided_by=actor.user,
        decision_reason=text,
    )
    request = Return.objects.filter(refund=refund).first()
    if request is not None:
        return_states.move(request=request, to=ReturnState.REFUNDED, actor=actor, note=text)
    payout.start(refund, actor)
    return refund


@transaction.atomic
def reject(*, refund_id: str, actor: Actor, reason: str) -> Refund:
    """Do not pay: the goods count as kept again, the payments have their money back. With a reason; as `approve`."""
    text = clean_note(reason, field="reason", required=True)
    order, refund = _locked(refund_id, actor)
    let_go(order=order, refund=refund, to=RefundState.REJECTED, actor=actor, reason=text)
    return refund


def _locked(refund_id: str, actor: Actor) -> tuple[Order, Refund]:
    """The order and then the refund, locked; for somebody who may decide about it, while it waits for that."""
    if actor.kind != "staff":
        raise NotAllowed(APPROVE)
    actor.require(APPROVE)
    order, refund = locks.order_and_refund(refund_id)
    if actor.user in (refund.confirmed_by, refund.quote.asked_by):
        raise errors.own_decision()
    if refund.state != RefundState.PENDING_APPROVAL:
        raise errors.wrong_state(f"{refund.pk} ({refund.get_state_display()})")
    return order, refund
