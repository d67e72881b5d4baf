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
    """Which of these parts the reported refund of that number is, by the part's key: of its payment and its amount.

    A person says that they were paid under that number. One refund of a provider's is one part, and the others have
    numbers of their own. Empty where nobody has reported the number; but raises `reported_already` where one of the
    parts may be what was reported under another.
    """
    like = [(part, _like(part.refund.order_id, part.payment_id, part.amount)) for part in parts]
    for part, bookings in like:
        for booking in bookings:
            if booking.external_ref == number:
                return {part.pk: booking}
    for _part, bookings in like:
        for booking in bookings:
            raise _already(booking)
    return {}


def require_meant(parts: Sequence[RefundAllocation], number: str) -> list[RefundAllocation]:
    """Of these parts those that a person can mean by that number, where the provider has reported it unbooked.

    It is the part of its payment and amount; where that is none of them, raises the refusal `reference_reused`.
    """
    order_id = parts[0].refund.order_id
    told = _not_booked().filter(order=order_id, facts__provider_refund_id=number).first()
    if told is None:
        return list(parts)
    meant = [part for part in parts if (part.payment_id, part.amount) == _money_of(told)]
    if not meant:
        raise errors.reference_reused("external_ref")
    return meant


def _money_of(told: StaffAlert) -> tuple[str | None, int | None]:
    return told.facts.get("payment_id"), told.facts.get("amount")


def _not_booked() -> QuerySet[StaffAlert]:
    """Refunds that the provider has reported and that could not be booked."""
    return StaffAlert.objects.filter(kind=AlertKind.NOT_ANNOUNCED, refund=None)


def _already(booking: Refund) -> Refusal:
    return errors.reported_already(booking.external_ref or "", booking.amount, booking.currency, booking.pk)


def _like(order_id: int, payment_id: str, amount: int) -> list[Refund]:
    """Of that payment and amount; the oldest first."""
    return list(unexplained().filter(order=order_id, allocations__payment=payment_id, amount=amount))


def was_reported(refund: Refund, number: str) -> bool:
    """Whether the provider had reported a part of it under this number before a person told of it."""
    return Refund.objects.filter(same_as=refund, external_ref__startswith=f"{_cut(number)}~").exists()


def _cut(number: str) -> str:
    """So that it has room for what is put behind it."""
    return number[:LONGEST_REF]


def require_nothing_reported(order: Order) -> None:
    """Before money is sent once more: raises the refusal `may_be_paid` while somebody has to explain a refund first.

    One that is booked without goods; or one that was reported and could not be booked, until its alert is settled.
    """
    booked = Refund.objects.filter(order=order, needs_assignment=True).exclude(state__in=RELEASED).first()
    if booked is not None:
        raise errors.may_be_paid(booked.external_ref or booked.pk)
    told = _not_booked().filter(order=order, settled_at=None).first()
    if told is not None:
        raise errors.may_be_paid(str(told.facts.get("provider_refund_id", told.subject)))


def take_back(refund: Refund, *, order: Order, actor: Actor, reason: str, same_as: Refund | None = None) -> None:
    """A booking of a refund made elsewhere is none: its goods count as kept, the payment has its money again.

    `same_as`: what it has turned out to be, which counts instead; without it, a mistake. Its number is free for what it
    really is. With the order and the refund locked.
    """
    fields = {
        "external_ref": f"{_cut(refund.external_ref or '')}~{refund.pk}",
        "same_as": same_as,
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
