"""Bodies for take-in, as a shop would send them. Amounts are NT$."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone

# name, unit price, quantity
LineTuple = tuple[str, int, int]

PICKUP: Final = {"method": "store_pickup", "charged": 0, "standard_fee": 80, "free_from": 1500, "waiver": "pickup"}
FREE_DELIVERY: Final = {
    "method": "home_delivery",
    "charged": 0,
    "standard_fee": 80,
    "free_from": 1500,
    "waiver": "threshold",
}
PAID_DELIVERY: Final = {"method": "home_delivery", "charged": 80, "standard_fee": 80, "free_from": 1500, "waiver": None}


def ago(*, days: float = 0, hours: float = 0, minutes: float = 0) -> datetime:
    return timezone.now() - timedelta(days=days, hours=hours, minutes=minutes)


def line_body(position: int, name: str, price: int, quantity: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "external_id": str(position),
        "sku": f"SKU-{name}-{price}",
        "name": name,
        "unit_price": price,
        "quantity": quantity,
        "category": "accessory",
        **changes,
    }


def payment_body(amount: int, **changes: Any) -> dict[str, Any]:
    return {"external_id": "p1", "method": "card", "last4": "4242", "amount": amount, **changes}


def fixed_discount(amount: int, min_spend: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "fixed",
        "code": f"SAVE{amount}",
        "label": f"滿 {min_spend:,} 折 {amount}",
        "amount": amount,
        "min_spend": min_spend,
        "settlement": "reprice",
        "lines": None,
        **changes,
    }


def percent_discount(percent: object, **changes: Any) -> dict[str, Any]:
    return {"kind": "percent", "code": f"P{percent}", "label": f"折扣 {percent}%", "percent": percent, **changes}


def bundle_discount(min_quantity: int, amount_per_unit: int, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "bundle",
        "code": "BUNDLE",
        "label": f"任選 {min_quantity} 件每件折 {amount_per_unit}",
        "min_quantity": min_quantity,
        "amount_per_unit": amount_per_unit,
        **changes,
    }


def shipment_body(
    lines: Mapping[int, int], *, state: str = "delivered", external_id: str = "s1", **changes: Any
) -> dict[str, Any]:
    """A parcel with `{position of the line: quantity}`; times are recent and in order, as far as `state` reached."""
    reached = {
        "packed": ("packed_at",),
        "shipped": ("packed_at", "shipped_at"),
        "lost": ("packed_at", "shipped_at"),
        "delivered": ("packed_at", "shipped_at", "delivered_at"),
    }[state]
    days = {"packed_at": 4, "shipped_at": 3, "delivered_at": 2}
    return {
        "external_id": external_id,
        "carrier": "黑貓宅急便",
        "tracking_number": f"TN-{external_id}",
        "state": state,
        **{name: ago(days=days[name]).isoformat() for name in reached},
        "lines": [{"external_id": str(position), "quantity": quantity} for position, quantity in lines.items()],
        **changes,
    }


def order_body(
    number: str = "7001",
    *,
    lines: Sequence[LineTuple | Mapping[str, Any]] = (("藍牙耳機", 1200, 1), ("耳機殼", 380, 1)),
    discounts: Sequence[Mapping[str, Any]] = (),
    shipping: Mapping[str, Any] = PICKUP,
    payments: Sequence[Mapping[str, Any]] | None = None,
    shipments: Sequence[Mapping[str, Any]] = (),
    customer: Mapping[str, Any] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """A whole body. `payments` None: one card payment for the goods at list price, right without discounts."""
    bodies = [
        line_body(position, *line) if isinstance(line, tuple) else dict(line)
        for position, line in enumerate(lines, start=1)
    ]
    goods = sum(line["unit_price"] * line["quantity"] for line in bodies)
    return {
        "number": number,
        "placed_at": ago(days=5).isoformat(),
        "currency": "TWD",
        "customer": dict(customer or {"external_id": "c-mei", "name": "無帳號顧客"}),
        "lines": bodies,
        "discounts": [dict(discount) for discount in discounts],
        "shipping": dict(shipping),
        "payments": [payment_body(goods)] if payments is None else [dict(payment) for payment in payments],
        "shipments": [dict(shipment) for shipment in shipments],
        **changes,
    }
