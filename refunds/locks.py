"""Rows of money, locked until the transaction ends, in the lock order of docs/money.md: the order first.

Without it, to record what a gateway says: refund, then allocation.
"""

from orders import goods
from orders.models import Order
from refunds import access, errors
from refunds.models import Approval, Refund, RefundAllocation, RefundQuote


def order_and_refund(refund_id: str) -> tuple[Order, Refund]:
    """For whoever changes what a refund holds or where it goes. Raises NotFound."""
    seen = access.find(Refund.objects.all(), refund_id)
    if seen is None:
        raise errors.no_such_refund()
    order = goods.lock_order(seen.order_id)
    return order, refund_of_locked_order(seen.pk)


def order_and_approval(approval_id: str) -> tuple[Order, Approval]:
    """For whoever decides, with the quote or the refund that the question is about. Raises NotFound."""
    seen = access.find(Approval.objects.all(), approval_id)
    if seen is None:
        raise errors.no_such_approval()
    order = goods.lock_order(seen.order_id)
    approval = Approval.objects.select_for_update(no_key=True).get(pk=seen.pk)
    approval.order = order
    if approval.quote_id is not None:
        quotes = RefundQuote.objects.select_for_update(of=("self",), no_key=True).select_related("policy", "asked_by")
        approval.quote = quotes.get(pk=approval.quote_id)
        approval.quote.order = order
    if approval.refund_id is not None:
        approval.refund = refund_of_locked_order(approval.refund_id)
    return order, approval


def refund_of_locked_order(refund_id: str) -> Refund:
    """For whoever holds the order's lock already."""
    return Refund.objects.select_for_update(of=("self",), no_key=True).select_related("quote").get(pk=refund_id)


def refund_and_allocation(allocation_id: str) -> tuple[Refund, RefundAllocation]:
    """For whoever writes down what a gateway says: that changes no amount, and need not wait for the order."""
    refund_id = RefundAllocation.objects.values_list("refund_id", flat=True).get(pk=allocation_id)
    refund = Refund.objects.select_for_update(no_key=True).get(pk=refund_id)
    allocation = RefundAllocation.objects.select_for_update(no_key=True).get(pk=allocation_id)
    return refund, allocation
