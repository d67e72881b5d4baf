"""Reading orders: what pages, API and tools show of them."""

from typing import Any

from django.db.models import Prefetch, QuerySet

from orders.models import Order, Shipment, ShipmentLine
from orders.serializers import OrderSerializer


def with_everything(orders: QuerySet[Order]) -> QuerySet[Order]:
    """`orders` with all that `order_as_dict` reads, in a fixed number of queries."""
    shipment_lines = ShipmentLine.objects.select_related("line_item", "product").order_by("line_item__position")
    shipments = Shipment.objects.prefetch_related(Prefetch("lines", shipment_lines))
    return orders.select_related("customer").prefetch_related(
        "lines", "discounts", "payments", Prefetch("shipments", shipments)
    )


def order_as_dict(order: Order) -> dict[str, Any]:
    """The order as the API shows it (`OrderSerializer`), as it is in the database now."""
    shown: dict[str, Any] = OrderSerializer(with_everything(Order.objects.filter(pk=order.pk)).get()).data
    return shown
