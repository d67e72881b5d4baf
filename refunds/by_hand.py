"""No machine could pay a part of a refund, so a person has: in cash, by transfer. From then on it counts as paid.

The refund is the one that was promised, with its goods and its money held; only who pays is another.
"""

from collections.abc import Mapping
from typing import Final

from django.db import transaction
from django.db.models import Q

from orders import audit
from orders.actors import Actor
from orders.models import Order
from refunds import errors, locks, numbers, outcome, reported_before, selectors
from refunds.choices import clean_note
from refunds.models import Refund, RefundAllocation
from refunds.retry import unpaid_parts
from refunds.states import AllocationState, AttemptOutcome

RECORD: Final = "refunds.record_elsewhere"


def paid_by_hand(*, refund_id: str, external_ref: str, actor: Actor, note: str) -> Refund:
    """Every refused part of a refund was paid back by a person. `external_ref`: what it can be found by.

    By staff with `refunds.record_elsewhere`, who write what they did. A part that is still on its way, or that the
    gateway reports to have paid (`attention.settle`), is not among them. Under the number of a refund that the provider
    has reported and nobody has explained yet, it is that one: its booking is taken back, and only the part of its
    payment and amount is paid. Told once more under the same number, nothing changes. Raises NotAllowed, NotFound,
    InvalidInput (`note`), and Refusal wrong_state (nothing of it was refused), paid_already, reference_reused, or
    reported_already (the provider has reported one of the same amount under another number).
    """
    actor.require_staff(RECORD)
    text = clean_note(note, required=True)
    with transaction.atomic():
        return _paid(refund_id, external_ref, actor, text)


def _paid(refund_id: str, external_ref: str, actor: Actor, note: str) -> Refund:
    order, refund = locks.order_and_refund(refund_id)
    if _paid_before(refund, external_ref):
        return refund
    parts = reported_before.require_meant(unpaid_parts(refund), external_ref)
    reported = reported_before.same_money(parts, external_ref)
    parts = [part for part in parts if part.pk in reported] or parts
    _require_free(order, external_ref, reported)
    numbers.require_of_no_other_order(order, external_ref, {part.payment.provider for part in parts})
    for booking in reported.values():
        locked = locks.refund_of_locked_order(booking.pk)
        reported_before.take_back(locked, order=order, actor=actor, reason=note, same_as=refund)
    if refund.external_ref is None:  # parts that are refused later are paid under numbers of their own
        refund.external_ref = external_ref
        refund.save(update_fields=["external_ref"])
    for part in parts:
        part.state, part.external_ref = AllocationState.SUCCEEDED, external_ref
        part.save(update_fields=["state", "external_ref"])
        _record(refund, part, external_ref, actor, note)
    outcome.follow_allocations(refund, actor=actor, reason=note)
    return refund


def _paid_before(refund: Refund, external_ref: str) -> bool:
    """Whether it is told once more: a part was paid under that number, and no other is left that it can mean.

    The provider may have reported by now that it is its own payment.
    """
    by_provider = Q(attempts__outcome=AttemptOutcome.SUCCEEDED, attempts__provider_refund_id=external_ref)
    told = refund.allocations.filter(Q(external_ref=external_ref) | by_provider)
    if set(told.values_list("state", flat=True)) != {AllocationState.SUCCEEDED}:
        return False
    if reported_before.was_reported(refund, external_ref):
        return True
    return not refund.allocations.filter(state=AllocationState.FAILED).exists()


def _require_free(order: Order, external_ref: str, reported: Mapping[str, Refund]) -> None:
    """Raises the refusal `reference_reused`, unless the number is that of one that the provider has reported."""
    known = selectors.paid_under(order, external_ref)
    if known.exclude(pk__in=[booking.pk for booking in reported.values()]).exists():
        raise errors.reference_reused("external_ref")
    reported_before.require_not_ours(order, external_ref)


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
