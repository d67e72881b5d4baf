"""What one order gives back for goods without a second person (docs/money.md, States, Refund).

The limit is the order's, not the refund's: otherwise asking in parts would go around it.
"""

from django.db.models import Q, Sum

from orders.models import Order
from refunds.models import Refund, RefundPolicy
from refunds.states import RELEASED, ApprovalState, RefundKind


def must_be_asked(rules: RefundPolicy, amount: int, *, given_alone: int) -> bool:
    """Whether a refund of `amount` waits; `given_alone`: as the function of that name. All in smallest units."""
    return amount > 0 and given_alone + amount > rules.approval_above


def given_alone(order: Order) -> int:
    """What the order gives back for goods, and nobody but whoever confirmed it has had a say in. The order is locked.

    Not what still waits for its answer: a yes is a second person's, and a no gives nothing back. Not what was paid
    elsewhere either: that is a fact, and nothing here has paid it.
    """
    decided = Q(approval__state__in=[ApprovalState.APPROVED, ApprovalState.WAITING])
    refunds = Refund.objects.filter(order=order, kind=RefundKind.GOODS).exclude(state__in=RELEASED)
    return refunds.exclude(decided).aggregate(sum=Sum("amount"))["sum"] or 0
