"""A refund made elsewhere that was booked did not take place: mistyped, or it came back to the shop after all.

The booking stays in the history; its goods count as kept again, and the payment has its money again.
"""

from typing import Final

from django.db import transaction

from orders import audit
from orders.actors import Actor, NotAllowed
from orders.announce import announce
from refunds import errors, holding, locks
from refunds.choices import clean_note
from refunds.elsewhere import RECORD
from refunds.models import Refund, RefundAllocation
from refunds.outcome import move_refund
from refunds.states import AllocationState, RefundKind, RefundState

LONGEST_REF: Final = 100


@transaction.atomic
def undo(*, refund_id: str, actor: Actor, note: str) -> Refund:
    """Take the booking back; again: nothing changes. By staff with `refunds.record_elsewhere` and a reason.

    Its number is free for another booking. Raises NotAllowed, NotFound, InvalidInput (`note`), and Refusal wrong_state
    for a refund that was not made elsewhere.
    """
    if actor.kind != "staff":
        raise NotAllowed(RECORD)
    actor.require(RECORD)
    text = clean_note(note, required=True)
    order, refund = locks.order_and_refund(refund_id)
    if refund.kind != RefundKind.ELSEWHERE:
        raise errors.wrong_state(f"{refund.pk} ({refund.get_kind_display()})")
    if refund.state == RefundState.REJECTED:
        return refund
    fields = {
        "external_ref": f"{refund.external_ref}"[:LONGEST_REF] + f"~{refund.pk}",
        "needs_assignment": False,
        "decided_by": actor.user,
        "decision_reason": text,
    }
    move_refund(refund=refund, to=RefundState.REJECTED, actor=actor, reason=text, **fields)
    lines = holding.lines_of(refund.quote_id) if refund.quote_id else []
    holding.release_goods(lines)
    for part in refund.allocations.select_related("payment"):
        _release(part, refund, actor)
    if lines:
        payload = {"order_number": order.number, "refund_id": refund.pk, "lines": holding.named(lines)}
        announce(order=order, event="refund.released", payload=payload)
    return refund


def _release(part: RefundAllocation, refund: Refund, actor: Actor) -> None:
    holding.release_money(part.payment, part.amount)
    part.state = AllocationState.FAILED
    part.save(update_fields=["state"])
    audit.record(
        action="allocation.undone",
        actor=actor,
        subject_type="allocation",
        subject_id=part.pk,
        order=refund.order,
        computed={"amount": part.amount, "payment_id": part.payment_id},
        correlation={"refund_id": refund.pk},
    )
