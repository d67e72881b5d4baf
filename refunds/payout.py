"""A quote becomes a refund: goods and money are held, a row per payment says what goes where, and it is sent.

Only redeeming and accepting a return come here, both with the order locked.
"""

from collections.abc import Sequence
from typing import Any

from orders.actors import Actor
from orders.announce import announce
from orders.jobs import enqueue_on_commit
from orders.models import Order
from refunds import holding, tasks
from refunds.models import QuoteLine, Refund, RefundAllocation, RefundPolicy, RefundQuote, Return
from refunds.outcome import move_refund, record_state
from refunds.settling import share_out
from refunds.states import RefundState


def create_refund(
    *,
    order: Order,
    quote: RefundQuote,
    rules: RefundPolicy,
    actor: Actor,
    note: str,
    settles: Return | None = None,
    must_be_approved: bool = False,
) -> Refund:
    """The refund of a redeemed quote, in the caller's transaction. `settles`: the return that it keeps the promise of.

    Waits for approval above the policy's amount or where the caller says so; is done at once where there is nothing to
    pay; else its job is sent on commit. Raises GoodsMoved, MoneyMoved, or the refusal `needs_a_person`; but not for a
    return: its goods are here, so what no machine can pay fails in plain sight (`needs_a_look`) instead of never being.
    """
    shares = share_out(order, quote.amount, rules, without=settles, by_hand_too=settles is not None)
    must_be_approved = must_be_approved or quote.amount > rules.approval_above
    refund = Refund.objects.create(
        quote=quote,
        order=order,
        amount=quote.amount,
        currency=quote.currency,
        state=RefundState.PENDING_APPROVAL if must_be_approved else RefundState.PENDING,
        confirmed_by_kind=actor.kind,
        confirmed_by=actor.user,
        note=note,
    )
    lines = holding.lines_of(quote.pk)
    holding.hold_goods(lines)
    for position, (payment, amount) in enumerate(shares, start=1):
        RefundAllocation.objects.create(refund=refund, payment=payment, position=position, amount=amount)
        holding.hold_money(payment, amount)
    announce(order=order, event=f"goods.{quote.action}", payload=_told(order, refund, lines))
    record_state(refund, actor, outcome={"note": note, "to": {payment.pk: amount for payment, amount in shares}})
    start(refund, actor)
    return refund


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
