"""Rows of money, locked until the transaction ends, in the lock order of docs/money.md: order, refund, allocation."""

from orders import goods
from orders.models import Order
from refunds import access, errors
from refunds.models import Refund, RefundAllocation


def order_and_refund(refund_id: str) -> tuple[Order, Refund]:
    """For whoever changes what a refund holds or where it goes. Raises NotFound."""
    seen = access.find(Refund.objects.all(), refund_id)
    if seen is None:
        raise errors.no_such_refund()
    order = goods.lock_order(seen.order_id)
    refund = Refund.objects.select_for_update(of=("self",), no_key=True).select_related("quote").get(pk=seen.pk)
    return order, refund


def refund_and_allocation(allocation_id: str) -> tuple[Refund, RefundAllocation]:
    """For whoever writes down what a gateway says: that changes no amount, and need not wait for the order."""
    refund_id = RefundAllocation.objects.values_list("refund_id", flat=True).get(pk=allocation_id)
    refund = Refund.objects.select_for_update(no_key=True).get(pk=refund_id)
    allocation = RefundAllocation.objects.select_for_update(no_key=True).get(pk=allocation_id)
    return refund, allocation
