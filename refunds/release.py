"""A question to a second person ends without a yes: rejected, or nobody decided in time. What was held is let go of."""

from typing import Final

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from orders.actors import Actor, system_actor
from orders.announce import announce
from orders.models import Order
from refunds import approval_states, ending, holding, locks, owed, return_states
from refunds.approval_states import APPROVAL_LIFE
from refunds.models import Approval, Refund, Return
from refunds.outcome import move_refund
from refunds.states import ApprovalKind, ApprovalState, QuoteState, RefundState, ReturnState

__all__ = ["APPROVAL_LIFE", "SWEEPER", "close", "expire_approvals", "out_of_time"]

log = structlog.get_logger(__name__)
SWEEPER: Final = system_actor("sweeper")
BATCH: Final = 100
# What becomes of the refund or of the quote that waited for the answer.
_REFUNDS: Final = {ApprovalState.REJECTED: RefundState.REJECTED, ApprovalState.EXPIRED: RefundState.EXPIRED}
_QUOTES: Final = {ApprovalState.REJECTED: QuoteState.DECLINED, ApprovalState.EXPIRED: QuoteState.EXPIRED}


def close(*, order: Order, approval: Approval, to: ApprovalState, actor: Actor, reason: str) -> None:
    """No, or no answer: with everything locked that it is about (`locks.order_and_approval`).

    A refund gives back goods and money, the quote of an exception ends; a compensation held nothing.
    """
    approval_states.move(approval=approval, to=to, actor=actor, reason=reason)
    if approval.opens_a_return:
        assert approval.quote is not None, "the database demands a quote of this kind"
        ending.end(quote=approval.quote, to=_QUOTES[to], actor=actor, note=reason)
    elif approval.kind != ApprovalKind.COMPENSATION:
        assert approval.refund is not None, "the database demands a refund of these kinds"
        _let_go(order, approval.refund, _REFUNDS[to], actor, reason)


def _let_go(order: Order, refund: Refund, to: RefundState, actor: Actor, reason: str) -> None:
    move_refund(refund=refund, to=to, actor=actor, reason=reason, decided_by=actor.user, decision_reason=reason)
    assert refund.quote_id is not None, "only refunds of goods wait"
    lines = holding.lines_of(refund.quote_id)
    holding.release_goods(lines)
    for allocation in refund.allocations.select_related("payment"):
        holding.release_money(allocation.payment, allocation.amount)
    request = Return.objects.filter(refund=refund).first()
    if request is not None:
        return_states.move(request=request, to=ReturnState.REJECTED, actor=actor, note=reason)
    owed.tell_if_owed(order, number=request.pk if request else refund.pk)
    payload = {"order_number": order.number, "refund_id": refund.pk, "lines": holding.named(lines)}
    announce(order=order, event="refund.released", payload=payload)


def out_of_time() -> QuerySet[Approval]:
    """Questions whose seven days are over without an answer.

    Never one about goods that have come back, whatever date it was given: they lie in the warehouse, and their return
    is not rejected by nobody. It waits, and is an alert before the law's time is over (`alerts.py`).
    """
    waiting = Approval.objects.filter(state=ApprovalState.WAITING, expires_at__lte=timezone.now())
    return waiting.filter(refund__return_request=None)


def expire_approvals() -> int:
    """End what nobody has decided for seven days; how many. For the sweeper: each in its own transaction."""
    expired = 0
    for approval_id in list(out_of_time().order_by("expires_at").values_list("pk", flat=True)[:BATCH]):
        try:
            expired += _expire(approval_id)
        except Exception:
            log.exception("approval.not_expired", approval_id=approval_id)
    return expired


@transaction.atomic
def _expire(approval_id: str) -> bool:
    order, approval = locks.order_and_approval(approval_id)
    if approval.state != ApprovalState.WAITING:
        return False
    close(order=order, approval=approval, to=ApprovalState.EXPIRED, actor=SWEEPER, reason="undecided")
    return True
