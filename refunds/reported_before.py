"""A refund that a provider has reported, and that nobody has explained yet, beside what a person says they have paid.

Both may be the same money, and no machine can know that. So nothing is paid or booked beside it before a person has
said which it is (docs/money.md, States): then it counts once.
"""

from collections.abc import Sequence
from typing import Final

from django.db.models import QuerySet

from orders import audit
from orders.actors import Actor
from orders.announce import announce
from orders.errors import Refusal
from orders.models import Order
from refunds import errors, holding
from refunds.models import GatewayAttempt, Refund, RefundAllocation, StaffAlert
from refunds.outcome import move_refund
from refunds.states import RELEASED, AlertKind, AllocationState, Asker, RefundKind, RefundState

LONGEST_REF: Final = 100


def unexplained() -> QuerySet[Refund]:
    """What was booked from a provider's report, and waits for somebody to say what it was for; the oldest first."""
    rows = Refund.objects.filter(kind=RefundKind.ELSEWHERE, confirmed_by_kind=Asker.SYSTEM, needs_assignment=True)
    return rows.exclude(state__in=RELEASED).order_by("created_at", "pk")


def booking_of(order: Order, number: str) -> Refund | None:
    """What is booked as made elsewhere under this number of the provider's."""
    rows = Refund.objects.filter(order=order, kind=RefundKind.ELSEWHERE, external_ref=number)
    return rows.exclude(state__in=RELEASED).first()


def require_explained(order: Order, payment_id: str, amount: int) -> None:
    """Raises the refusal `reported_already` if the provider has reported such a refund, under a number of its own."""
    found = _like(order.pk, payment_id, amount)
    if found:
        raise _already(found[0])


def require_not_ours(order: Order, number: str) -> None:
    """Raises the refusal `reference_reused` for the provider's number of a refund that was sent from here."""
    if GatewayAttempt.objects.filter(allocation__refund__order=order, provider_refund_id=number).exists():
        raise errors.reference_reused("external_ref")


def same_money(parts: Sequence[RefundAllocation], number: str) -> dict[str, Refund]:
    """Which reported refund each of these parts is, by the part's key, when a person says they were paid as `number`.

    The one of that number, and then for the other parts those of their amounts. Raises `reported_already` where the
    number is none of theirs.
    """
    found = {
        part.pk: booking
        for part in parts
        for booking in _like(part.refund.order_id, part.payment_id, part.amount, number)[:1]
    }
    if found and all(booking.external_ref != number for booking in found.values()):
        raise _already(next(iter(found.values())))
    return found


def _already(booking: Refund) -> Refusal:
    return errors.reported_already(booking.external_ref or "", booking.amount, booking.currency, booking.pk)


def _like(order_id: int, payment_id: str, amount: int, number: str = "") -> list[Refund]:
    """Of that payment and amount; the one of that number before the others."""
    rows = unexplained().filter(order=order_id, allocations__payment=payment_id, amount=amount)
    return sorted(rows, key=lambda booking: booking.external_ref != number)


def require_nothing_reported(order: Order) -> None:
    """Before money is sent once more: raises the refusal `may_be_paid` while somebody has to explain a refund first.

    One that is booked without goods; or one that was reported and could not be booked, until its alert is settled.
    """
    booked = Refund.objects.filter(order=order, needs_assignment=True).exclude(state__in=RELEASED).first()
    if booked is not None:
        raise errors.may_be_paid(booked.external_ref or booked.pk)
    told = StaffAlert.objects.filter(kind=AlertKind.NOT_ANNOUNCED, order=order, refund=None, settled_at=None).first()
    if told is not None:
        raise errors.may_be_paid(str(told.facts.get("provider_refund_id", told.subject)))


def take_back(refund: Refund, *, order: Order, actor: Actor, reason: str) -> None:
    """A booking of a refund made elsewhere is none: its goods count as kept, the payment has its money again.

    Its number is free for what it really is. With the order and the refund locked.
    """
    fields = {
        "external_ref": f"{refund.external_ref}"[:LONGEST_REF] + f"~{refund.pk}",
        "needs_assignment": False,
        "decided_by": actor.user,
        "decision_reason": reason,
    }
    move_refund(refund=refund, to=RefundState.REJECTED, actor=actor, reason=reason, **fields)
    lines = holding.lines_of(refund.quote_id) if refund.quote_id else []
    holding.release_goods(lines)
    for part in refund.allocations.select_related("payment"):
        _release(part, refund, actor)
    if lines:
        payload = {"order_number": order.number, "refund_id": refund.pk, "lines": holding.named(lines)}
        announce(order=order, event="refund.released", payload=payload)


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
