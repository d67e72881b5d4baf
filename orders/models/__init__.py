"""What the shop knows: who bought what, on which terms, how it was paid and where the goods are.

Amounts are integers of the order's currency in its smallest unit in use (`orders/money.py`). Goods that have left the
order are counters here, moved by `orders/goods.py` under the order's row lock; why they left, and for how much, is the
business of `refunds`.
"""

from orders.models.parcels import CarrierFault, Shipment, ShipmentLine
from orders.models.records import AuditEvent, CustomerLink, OrderAnnouncement
from orders.models.sales import Customer, LineItem, Order, OrderDiscount, Payment, Product
from orders.models.store_credit import StoreCreditAccount, StoreCreditEntry

__all__ = [
    "AuditEvent",
    "CarrierFault",
    "Customer",
    "CustomerLink",
    "LineItem",
    "Order",
    "OrderAnnouncement",
    "OrderDiscount",
    "Payment",
    "Product",
    "Shipment",
    "ShipmentLine",
    "StoreCreditAccount",
    "StoreCreditEntry",
]
