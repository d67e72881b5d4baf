"""The number under which people have paid money back: of a transfer, of a receipt, of a refund at the provider's desk.

With one provider it stands for one payment: what is entered for a second order is a slip (docs/money.md, Refunds made
elsewhere).
"""

from collections.abc import Iterable

from django.db import connection
from django.db.models import Exists, OuterRef, Q

from orders.models import Order
from refunds import errors
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.states import RELEASED


def require_of_no_other_order(order: Order, external_ref: str, providers: Iterable[str]) -> None:
    """Raises the refusal `reference_reused`, which names the other order. For what people tell; with the order locked.

    Two that enter the same number at once wait here for each other, and take no further lock of an order.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"paid_under:{external_ref}"])
    parts = RefundAllocation.objects.filter(refund=OuterRef("pk"), payment__provider__in=list(providers))
    sent = GatewayAttempt.objects.filter(allocation=OuterRef("pk"), provider_refund_id=external_ref)
    under = parts.filter(Q(refund__external_ref=external_ref) | Q(external_ref=external_ref) | Exists(sent))
    known = Refund.objects.filter(Exists(under)).exclude(order=order).exclude(state__in=RELEASED)
    other = known.select_related("order").first()
    if other is not None:
        raise errors.number_of_another_order(other.order.number, other.pk)
