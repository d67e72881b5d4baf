"""A refund that waited for approval lets go of its goods and its money: rejected, or nobody decided in time."""

from datetime import timedelta
from typing import Final

import structlog
from django.db import transaction
from django.utils import timezone

from orders.actors import Actor, system_actor
from orders.announce import announce
from orders.models import Order
from refunds import holding, locks, return_states
from refunds.models import Refund, Return
from refunds.outcome import move_refund
from refunds.states import RefundState, ReturnState

log = structlog.get_logger(__name__)
# After this long without a decision the order is given back its freedom (docs/money.md, states).
APPROVAL_LIFE: Final = timedelta(days=7)
BATCH: Final = 100


def let_go(*, order: Order, refund: Refund, to: RefundState, actor: Actor, reason: str) -> None:
    """Move a refund that waits for approval to rejected or expired. With the order and the refund locked."""
    decided_by = {"decided_by": actor.user, "decision_reason": reason}
    move_refund(refund=refund, to=to, actor=actor, reason=reason, **decided_by)
    lines = holding.lines_of(refund.quote_id)
    holding.release_goods(lines)
    for allocation in refund.allocations.select_related("payment"):
        holding.release_money(allocation.payment, allocation.amount)
    request = Return.objects.filter(refund=refund).first()
    if request is not None:
        return_states.move(request=request, to=ReturnState.REJECTED, actor=actor, note=reason)
    payload = {"order_number": order.number, "refund_id": refund.pk, "lines": holding.named(lines)}
    announce(order=order, event="refund.released", payload=payload)


def expire_approvals() -> int:
    """End what nobody has decided for seven days; how many. For the sweeper: each in its own transaction."""
    overdue = Refund.objects.filter(
        state=RefundState.PENDING_APPROVAL, created_at__lte=timezone.now() - APPROVAL_LIFE
    ).order_by("created_at")
    expired = 0
    for refund in overdue[:BATCH]:
        try:
            expired += _expire(refund.pk)
        except Exception:
            log.exception("approval.not_expired", refund_id=refund.pk)
    return expired


@transaction.atomic
def _expire(refund_id: str) -> bool:
    order, refund = locks.order_and_refund(refund_id)
    if refund.state != RefundState.PENDING_APPROVAL:
        return False
    let_go(order=order, refund=refund, to=RefundState.EXPIRED, actor=system_actor("sweeper"), reason="undecided")
    return True
