"""When would it arrive? Asked of a carrier, outside any transaction; without its answer there is no date."""

from datetime import date
from typing import Final

from django.db import connection

from orders.carriers.base import Carrier, CarrierUnavailable, Estimate, EstimateRequest
from orders.carriers.simulated import SimulatedCarrier
from orders.models import Order

__all__ = ["Carrier", "CarrierUnavailable", "Estimate", "EstimateRequest", "estimate"]

CONNECTED: Final[Carrier] = SimulatedCarrier()


def estimate(*, order: Order, carrier: str = "", handed_over: date | None = None, by: Carrier = CONNECTED) -> Estimate:
    """When goods would reach the order's address, as the carrier says; `handed_over` to it on that day, else today.

    The days of a parcel that is late lie in the past. `carrier` names one; empty means the one that took the order's
    last parcel, or none in particular. Raises CarrierUnavailable, which is retryable. Never call it inside a
    transaction: a carrier may take seconds.
    """
    request = _request(order, carrier, handed_over)
    if connection.in_atomic_block:
        raise RuntimeError("A carrier is never called inside a transaction: it may take seconds.")
    return by.estimate(request)


def _request(order: Order, carrier: str, handed_over: date | None) -> EstimateRequest:
    address = order.shipping_address or {}
    last = order.shipments.exclude(carrier="").order_by("packed_at", "id").last()
    return EstimateRequest(
        carrier=carrier or (last.carrier if last else ""),
        method=order.shipping_method,
        postal_code=address.get("postal_code", ""),
        city=address.get("city", ""),
        handed_over=handed_over,
    )
