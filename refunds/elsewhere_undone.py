"""A refund made elsewhere that was booked did not take place: mistyped, or it came back to the shop after all.

The booking stays in the history; its goods count as kept again, and the payment has its money again.
"""

from django.db import transaction

from orders.actors import Actor
from orders.prose import aside
from refunds import errors, locks
from refunds.choices import clean_note
from refunds.elsewhere import RECORD
from refunds.models import Refund
from refunds.reported_before import take_back
from refunds.states import RefundKind, RefundState


@transaction.atomic
def undo(*, refund_id: str, actor: Actor, note: str) -> Refund:
    """Take the booking back; again: nothing changes. By staff with `refunds.record_elsewhere` and a reason.

    Its number is free for another booking. Raises NotAllowed, NotFound, InvalidInput (`note`), and Refusal wrong_state
    for a refund that was not made elsewhere.
    """
    actor.require_staff(RECORD)
    text = clean_note(note, required=True)
    order, refund = locks.order_and_refund(refund_id)
    if refund.kind != RefundKind.ELSEWHERE:
        raise errors.wrong_state(aside(refund.pk, refund.get_kind_display()))
    if refund.state == RefundState.REJECTED:
        return refund
    take_back(refund, order=order, actor=actor, reason=text)
    return refund
