"""A second person decides: about a refund above the policy's amount or below what a return was promised, about a
compensation, about an exception to a rule.

Never whoever asked for it, confirmed it, made a customer's link for the order, or would get the money. A yes does what
was asked for, in the same transaction; a no, or seven days without an answer (`release.expire_approvals`), lets go of
what was held.
"""

from dataclasses import dataclass
from typing import Final

from django.db import transaction

from orders.actors import Actor
from orders.errors import Refusal
from orders.models import Order
from orders.prose import aside
from refunds import access, approval_states, errors, locks, overrides, payout, release, return_states
from refunds.choices import clean_note
from refunds.models import Approval, Refund, Return
from refunds.outcome import move_refund
from refunds.states import ApprovalKind, ApprovalState, RefundState, ReturnState

APPROVE: Final = "refunds.approve_refund"


@dataclass(frozen=True, slots=True)
class _Decision:
    """Who decides, and why; with everything locked that it may change."""

    order: Order
    approval: Approval
    actor: Actor
    reason: str


def approve(*, approval_id: str, actor: Actor, reason: str = "") -> Approval:
    """Do what was asked for: send the refund, pay the compensation, open the return.

    By staff with `refunds.approve_refund`. Not inside a transaction: a question that comes too late, because its days
    are over or the order of an exception has changed, is ended although this raises. Raises NotAllowed, NotFound,
    InvalidInput (`reason`), and Refusal own_decision, wrong_state, approval_expired, order_changed, payments_have_less
    or needs_a_person.
    """
    text = clean_note(reason, field="reason")
    result = _approve(approval_id, actor, text)
    if isinstance(result, Refusal):
        raise result
    return result


def reject(*, approval_id: str, actor: Actor, reason: str) -> Approval:
    """A no, with its reason: goods that were held count as kept again, money is the payments' again. As `approve`."""
    text = clean_note(reason, field="reason", required=True)
    with transaction.atomic():
        decision = _locked(approval_id, actor, text)
        release.close(
            order=decision.order, approval=decision.approval, to=ApprovalState.REJECTED, actor=actor, reason=text
        )
    return decision.approval


def approve_refund(*, refund_id: str, actor: Actor, reason: str = "") -> Refund:
    """`approve` for the refund that waits for it."""
    approve(approval_id=_approval_of(refund_id, actor), actor=actor, reason=reason)
    return Refund.objects.get(pk=refund_id)


def reject_refund(*, refund_id: str, actor: Actor, reason: str) -> Refund:
    """`reject` for the refund that waits for it."""
    reject(approval_id=_approval_of(refund_id, actor), actor=actor, reason=reason)
    return Refund.objects.get(pk=refund_id)


@transaction.atomic(durable=True)
def _approve(approval_id: str, actor: Actor, reason: str) -> Approval | Refusal:
    decision = _locked(approval_id, actor, reason)
    approval = decision.approval
    too_late = _too_late(approval)
    if too_late is not None:
        release.close(
            order=decision.order,
            approval=approval,
            to=ApprovalState.EXPIRED,
            actor=release.SWEEPER,
            reason=too_late.code,
        )
        return too_late
    approval_states.move(approval=approval, to=ApprovalState.APPROVED, actor=actor, reason=reason)
    if approval.opens_a_return:
        overrides.open_return(approval=approval, actor=actor, note=reason)
    elif approval.kind == ApprovalKind.COMPENSATION:
        payout.pay_compensation(order=decision.order, approval=approval, actor=actor)
    else:
        _send(decision)
    return approval


def _too_late(approval: Approval) -> Refusal | None:
    """Why a yes does nothing any more: the days to decide are over, or the goods of an exception have moved."""
    if release.out_of_time().filter(pk=approval.pk).exists():
        return errors.approval_expired()
    return overrides.what_is_in_the_way(approval) if approval.opens_a_return else None


def _send(decision: _Decision) -> None:
    refund = decision.approval.refund
    assert refund is not None, "the database demands a refund of these kinds"
    fields = {"decided_by": decision.actor.user, "decision_reason": decision.reason}
    move_refund(refund=refund, to=RefundState.PENDING, actor=decision.actor, reason=decision.reason, **fields)
    request = Return.objects.filter(refund=refund).first()
    if request is not None:
        return_states.move(request=request, to=ReturnState.REFUNDED, actor=decision.actor, note=decision.reason)
    payout.start(refund, decision.actor)


def _approval_of(refund_id: str, actor: Actor) -> str:
    """Which question the refund has been, or is, about. Raises NotAllowed, NotFound, Refusal wrong_state."""
    actor.require_staff(APPROVE)
    refund = access.find(Refund.objects.select_related("approval"), refund_id)
    if refund is None:
        raise errors.no_such_refund()
    approval: Approval | None = getattr(refund, "approval", None)
    if approval is None:
        raise errors.wrong_state(aside(refund.pk, refund.get_state_display()))
    return approval.pk


def _locked(approval_id: str, actor: Actor, reason: str) -> _Decision:
    """Order, approval and what it is about, locked in this order; for somebody who may decide, while it waits."""
    actor.require_staff(APPROVE)
    order, approval = locks.order_and_approval(approval_id)
    if actor.user is not None and actor.user.pk in _concerned(order, approval):
        raise errors.own_decision(made_a_link=order.customer_links.filter(created_by=actor.user).exists())
    if approval.state != ApprovalState.WAITING:
        raise errors.wrong_state(aside(approval.pk, approval.get_state_display()))
    return _Decision(order, approval, actor, reason)


def _concerned(order: Order, approval: Approval) -> set[int | None]:
    """The accounts of everybody who asked, quoted or confirmed, and of the customer who would get the money.

    Whoever made a customer's link can have confirmed with it as the customer: also one that is over by now.
    """
    people = {approval.asked_by_id, order.customer.user_id}
    people |= set(order.customer_links.values_list("created_by_id", flat=True))
    if approval.quote is not None:
        people.add(approval.quote.asked_by_id)
    if approval.refund is not None:
        people.add(approval.refund.confirmed_by_id)
        people.add(approval.refund.quote.asked_by_id if approval.refund.quote else None)
        people |= set(Return.objects.filter(refund=approval.refund).values_list("confirmed_by_id", flat=True))
    return people - {None}
