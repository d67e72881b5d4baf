"""Compensation pays for annoyance, not for goods: an amount that somebody proposes and a second person approves.

The only amount that a model may name. A proposal holds nothing and pays nothing; what an approved one pays stands
outside the settlement of goods (docs/money.md). Nothing here leads to paying.
"""

from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from orders import goods
from orders.actors import Actor, NotAllowed
from orders.errors import InvalidInput, Refusal
from orders.models import Order
from orders.strict import MAX_AMOUNT
from refunds import approval_states, errors
from refunds.allocation import AllocationError
from refunds.choices import clean_note
from refunds.history import policy_for
from refunds.models import Approval, RefundPolicy
from refunds.settling import share_out
from refunds.states import COUNTED_APPROVALS, ApprovalKind, ApprovalState

PROPOSE: Final = "refunds.propose_compensation"


@dataclass(frozen=True, slots=True)
class Room:
    """How much compensation an order may have by its policy, and how much is proposed, approved or paid already."""

    cap: int
    used: int

    @property
    def left(self) -> int:
        return max(self.cap - self.used, 0)


def propose(
    *,
    order: Order,
    amount: int,
    reason: str,
    actor: Actor,
    request_ref: str,
    conversation_ref: str = "",
    field: str = "amount",
) -> Approval:
    """Ask a second person for a compensation of `amount`, in smallest units; the same `request_ref` again: the same.

    By the agent for its customer, or by staff with `refunds.propose_compensation`. All compensations of an order that
    wait or were approved come to at most the policy's cap, which the agent is not told; those that wait come to no more
    than the payments have left after what is promised. While a proposal of the agent waits, its conversation has no
    second one: the same amount again is that one. `field` is what the caller calls the amount. Raises NotAllowed,
    NotFound, InvalidInput (`field`, `reason`), and Refusal proposal_waits, above_compensation_cap, payments_have_less,
    needs_a_person, no_policy or reference_reused.
    """
    _may_propose(actor, order)
    if type(amount) is not int or not 1 <= amount <= MAX_AMOUNT:
        raise InvalidInput(field, _("The compensation must be a whole number of at least 1."))
    text = clean_note(reason, field="reason", required=True)
    with transaction.atomic():
        order = goods.lock_order(order.pk)
        known = Approval.objects.filter(request_ref=request_ref).first()
        if known is not None:
            return _same(known, order, amount)
        waiting = _waiting(order, actor, conversation_ref)
        if waiting is not None:
            return _the_same_amount(waiting, amount, field)
        rules = policy_for(order)
        known_room = Room(cap=rules.compensation_cap, used=_used(order))
        if amount > known_room.left:
            raise _above_cap(actor, known_room, order, field)
        _check_payments(order, amount, rules, field, by_staff=actor.kind == "staff")
        return approval_states.ask(
            kind=ApprovalKind.COMPENSATION,
            order=order,
            amount=amount,
            reason=text,
            actor=actor,
            request_ref=request_ref,
            computed={"cap": known_room.cap, "used": known_room.used, "policy_version": rules.version},
            conversation_ref=conversation_ref,
        )


def room(order: Order) -> Room:
    """By the cap alone, in smallest units. Raises the refusal no_policy."""
    return Room(cap=policy_for(order).compensation_cap, used=_used(order))


def _may_propose(actor: Actor, order: Order) -> None:
    if actor.kind not in {"agent", "staff"}:
        raise NotAllowed(PROPOSE)
    actor.require(PROPOSE)
    if actor.kind == "agent" and (actor.customer is None or actor.customer.pk != order.customer_id):
        raise errors.no_such_order()


def _same(known: Approval, order: Order, amount: int) -> Approval:
    if (known.kind, known.order_id, known.amount) != (ApprovalKind.COMPENSATION, order.pk, amount):
        raise errors.reference_reused("request_ref")
    return known


def _waiting(order: Order, actor: Actor, conversation_ref: str) -> Approval | None:
    """A model may call again for what it has asked already, in other words and under another number."""
    if actor.kind != "agent" or not conversation_ref:
        return None
    rows = Approval.objects.filter(order=order, kind=ApprovalKind.COMPENSATION, state=ApprovalState.WAITING)
    return rows.filter(asked_by_kind="agent", conversation_ref=conversation_ref).first()


def _the_same_amount(waiting: Approval, amount: int, field: str) -> Approval:
    if waiting.amount != amount:
        raise errors.proposal_waits(waiting.pk, waiting.amount, waiting.currency, field)
    return waiting


def _used(order: Order) -> int:
    counted = Approval.objects.filter(order=order, kind=ApprovalKind.COMPENSATION, state__in=COUNTED_APPROVALS)
    return counted.aggregate(sum=Sum("amount"))["sum"] or 0


def _above_cap(actor: Actor, known: Room, order: Order, field: str) -> Refusal:
    """What the agent hears the customer may read: the shop's limit would be an invitation to ask for all of it."""
    if actor.kind == "agent":
        return errors.more_than_can_be_proposed(field)
    return errors.above_compensation_cap(known.cap, known.used, order.currency, field)


def _check_payments(order: Order, amount: int, rules: RefundPolicy, field: str, *, by_staff: bool) -> None:
    """What waits holds no money yet, and could be approved at any moment: all of it has to fit in together."""
    waiting = Approval.objects.filter(order=order, kind=ApprovalKind.COMPENSATION, state=ApprovalState.WAITING)
    try:
        share_out(order, amount + (waiting.aggregate(sum=Sum("amount"))["sum"] or 0), rules, by_staff=by_staff)
    except AllocationError as short:
        raise errors.payments_have_less(amount, order.currency, field) from short
