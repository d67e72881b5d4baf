"""A quote, or a compensation that was approved, becomes a refund: what it takes is held, and it is sent.

A row per payment says what goes where. Only redeeming, accepting a return and approving come here, the order locked.
"""

from collections.abc import Sequence
from typing import Any

from orders.actors import Actor
from orders.announce import announce
from orders.jobs import enqueue_on_commit
from orders.models import Order, Payment
from refunds import approval_states, errors, holding, tasks
from refunds.allocation import AllocationError
from refunds.history import policy_for
from refunds.models import Approval, QuoteLine, Refund, RefundAllocation, RefundPolicy, RefundQuote, Return
from refunds.outcome import move_refund, record_state
from refunds.second_person import given_alone, must_be_asked
from refunds.settling import share_out
from refunds.states import ApprovalKind, RefundKind, RefundState


def create_refund(
    *,
    order: Order,
    quote: RefundQuote,
    rules: RefundPolicy,
    actor: Actor,
    note: str,
    settles: Return | None = None,
    because: ApprovalKind | None = None,
) -> Refund:
    """The refund of a redeemed quote, in the caller's transaction. `settles`: the return that it keeps the promise of.

    Waits for a second person where the caller says why (`because`), and where without one the order would give back
    more than the policy's amount; is done at once where there is nothing to pay; else its job is sent on commit.
    Raises GoodsMoved, MoneyMoved, or the refusal `needs_a_person`; but not for a return: its goods are here, so what no
    machine can pay fails in plain sight (`needs_a_look`) instead of never being.
    """
    by_staff, by_hand_too = actor.kind == "staff", settles is not None
    shares = share_out(order, quote.amount, rules, without=settles, by_hand_too=by_hand_too, by_staff=by_staff)
    alone = given_alone(order)
    if because is None and must_be_asked(rules, quote.amount, given_alone=alone):
        because = ApprovalKind.AMOUNT
    refund = Refund.objects.create(
        quote=quote,
        order=order,
        amount=quote.amount,
        currency=quote.currency,
        state=RefundState.PENDING_APPROVAL if because else RefundState.PENDING,
        confirmed_by_kind=actor.kind,
        confirmed_by=actor.user,
        note=note,
    )
    lines = holding.lines_of(quote.pk)
    holding.hold_goods(lines)
    _allocate(refund, shares)
    announce(order=order, event=f"goods.{quote.action}", payload=_told(order, refund, lines))
    record_state(refund, actor, outcome={"note": note, "to": _named(shares)})
    if because:
        computed = {"given_alone": alone, "approval_above": rules.approval_above}
        _ask_second_person(refund, quote, actor, because, goods_are_here=settles is not None, computed=computed)
    start(refund, actor)
    return refund


def pay_compensation(*, order: Order, approval: Approval, actor: Actor) -> Refund:
    """The refund of a compensation that `actor` approves, in the caller's transaction: it takes no goods, and is sent.

    Raises the refusals payments_have_less (since it was asked for, the payments were used up) or needs_a_person.
    """
    try:
        shares = share_out(order, approval.amount, policy_for(order), by_staff=True)
        refund = Refund.objects.create(
            kind=RefundKind.COMPENSATION,
            order=order,
            amount=approval.amount,
            currency=approval.currency,
            state=RefundState.PENDING,
            confirmed_by_kind=approval.asked_by_kind,
            confirmed_by=approval.asked_by,
            note=approval.reason,
            decided_by=actor.user,
            decision_reason=approval.decision_reason,
        )
        _allocate(refund, shares)
    except (AllocationError, holding.MoneyMoved) as short:
        raise errors.payments_have_less(approval.amount, approval.currency, "") from short
    Approval.objects.filter(pk=approval.pk).update(refund=refund)
    approval.refund = refund
    record_state(refund, actor, outcome={"approval_id": approval.pk, "to": _named(shares)})
    start(refund, actor)
    return refund


def _allocate(refund: Refund, shares: Sequence[tuple[Payment, int]]) -> None:
    for position, (payment, amount) in enumerate(shares, start=1):
        RefundAllocation.objects.create(refund=refund, payment=payment, position=position, amount=amount)
        holding.hold_money(payment, amount)


def _named(shares: Sequence[tuple[Payment, int]]) -> dict[str, int]:
    return {payment.pk: amount for payment, amount in shares}


def _ask_second_person(
    refund: Refund,
    quote: RefundQuote,
    actor: Actor,
    kind: ApprovalKind,
    *,
    goods_are_here: bool,
    computed: dict[str, Any],
) -> None:
    approval_states.ask(
        kind=kind,
        order=refund.order,
        amount=refund.amount,
        reason=refund.note,
        actor=actor,
        request_ref=f"refund:{refund.pk}",
        computed=computed,
        refund=refund,
        quote=quote if kind == ApprovalKind.OVERRIDE else None,
        conversation_ref=quote.conversation_ref,
        # Silence would reject the return of goods that lie in the warehouse, and nobody would hear of it.
        expires=not goods_are_here,
    )


def start(refund: Refund, actor: Actor) -> None:
    """Send a pending refund on commit. Where there is nothing to pay it has succeeded."""
    if refund.state != RefundState.PENDING:
        return
    if refund.amount == 0:
        move_refund(refund=refund, to=RefundState.SUCCEEDED, actor=actor, reason="nothing_to_pay")
        return
    enqueue_on_commit(tasks.send_refund, refund.pk)


def _told(order: Order, refund: Refund, lines: Sequence[QuoteLine]) -> dict[str, Any]:
    """What the shop's own system hears."""
    return {
        "order_number": order.number,
        "refund_id": refund.pk,
        "amount": refund.amount,
        "currency": refund.currency,
        "state": refund.state,
        "lines": holding.named(lines),
    }
