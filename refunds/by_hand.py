"""No machine could pay a part of a refund, so a person has: in cash, by transfer. From then on it counts as paid.

The refund is the one that was promised, with its goods and its money held; only who pays is another.
"""

from typing import Final

from django.db import transaction

from orders import audit
from orders.actors import Actor, NotAllowed
from refunds import errors, locks, outcome, selectors
from refunds.choices import clean_note
from refunds.models import Refund, RefundAllocation
from refunds.retry import unpaid_parts
from refunds.states import AllocationState

RECORD: Final = "refunds.record_elsewhere"


def paid_by_hand(*, refund_id: str, external_ref: str, actor: Actor, note: str) -> Refund:
    """Every refused part of a refund was paid back by a person. `external_ref`: what it can be found by.

    By staff with `refunds.record_elsewhere`, who write what they did. A part that is still on its way, or that the
    gateway reports to have paid (`attention.settle`), is not among them. Raises NotAllowed, NotFound, InvalidInput
    (`note`), and Refusal wrong_state (nothing of it was refused), paid_already or reference_reused.
    """
    if actor.kind != "staff":
        raise NotAllowed(RECORD)
    actor.require(RECORD)
    text = clean_note(note, required=True)
    with transaction.atomic():
        return _paid(refund_id, external_ref, actor, text)


def _paid(refund_id: str, external_ref: str, actor: Actor, note: str) -> Refund:
    order, refund = locks.order_and_refund(refund_id)
    parts = unpaid_parts(refund)
    if selectors.paid_under(order, external_ref).exists():
        raise errors.reference_reused("external_ref")
    if refund.external_ref is None:  # parts that are refused later are paid under numbers of their own
        refund.external_ref = external_ref
        refund.save(update_fields=["external_ref"])
    for part in parts:
        part.state, part.external_ref = AllocationState.SUCCEEDED, external_ref
        part.save(update_fields=["state", "external_ref"])
        _record(refund, part, external_ref, actor, note)
    outcome.follow_allocations(refund, actor=actor, reason=note)
    return refund


def _record(refund: Refund, part: RefundAllocation, external_ref: str, actor: Actor, note: str) -> None:
    audit.record(
        action="allocation.paid_by_hand",
        actor=actor,
        subject_type="allocation",
        subject_id=part.pk,
        order=refund.order,
        chosen={"external_ref": external_ref, "note": note},
        computed={"amount": part.amount, "payment_id": part.payment_id},
        correlation={"refund_id": refund.pk},
    )
