"""The fixed cast of the tests, and orders for them. Every order comes in through `ingest.take_in`, as a real one does.

Customers: `ming` and `ming2` (both 王小明, both can sign in) and `mei` (no account). Staff are named by their role.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, Final

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User

from orders.actors import Actor, customer_actor, staff_actor, system_actor
from orders.errors import Refusal
from orders.ingest import take_in
from orders.models import Customer, LineItem, Order, Payment, Shipment, ShipmentLine
from orders.tests.factories import (
    PICKUP,
    LineTuple,
    ago,
    fixed_discount,
    line_body,
    order_body,
    payment_body,
    shipment_body,
)

CUSTOMERS: Final[dict[str, dict[str, str]]] = {
    "ming": {"external_id": "c-ming", "name": "王小明", "email": "ming@example.com"},
    "ming2": {"external_id": "c-ming2", "name": "王小明", "email": "ming2@example.com"},
    "mei": {"external_id": "c-mei", "name": "無帳號顧客"},
}
WITH_ACCOUNT: Final = frozenset({"ming", "ming2"})
GROUPS: Final[dict[str, str]] = {
    "staff": "support",
    "supervisor": "supervisor",
    "warehouse": "warehouse",
    "auditor": "auditor",
    "marketing": "marketing",
    "shop": "shop",
}
IN_ADMIN: Final = frozenset({"supervisor", "auditor", "admin"})
PASSWORD: Final = "demo"

SHOP: Final = system_actor("test shop")


@cache
def _hashed_password() -> str:
    return make_password(PASSWORD)  # slow on purpose, so once


def user(username: str, **fields: Any) -> User:
    found = User.objects.filter(username=username).first()
    return found or User.objects.create(username=username, password=_hashed_password(), **fields)


def customer(name: str = "ming") -> Customer:
    """One of `CUSTOMERS`, made when first asked for."""
    found, _ = Customer.objects.get_or_create(
        external_id=CUSTOMERS[name]["external_id"],
        defaults={**CUSTOMERS[name], "user": user(name) if name in WITH_ACCOUNT else None},
    )
    return found


def customer_user(name: str = "ming") -> User:
    account = customer(name).user
    assert account is not None, f"{name} has no account"
    return account


def staff_user(role: str = "staff") -> User:
    """A role of `GROUPS` with its group (`staff`, `supervisor`, `warehouse` …), or the superuser `admin`."""
    member = user(role, is_staff=role in IN_ADMIN, is_superuser=role == "admin")
    if role in GROUPS:
        member.groups.set([Group.objects.get(name=GROUPS[role])])
    return member


def staff(role: str = "staff") -> Actor:
    return staff_actor(staff_user(role))


def shopper(name: str = "ming") -> Actor:
    return customer_actor(customer(name))


def place(
    number: str,
    *,
    lines: Sequence[LineTuple | Mapping[str, Any]] = (("藍牙耳機", 1200, 1), ("耳機殼", 380, 1)),
    discounts: Sequence[Mapping[str, Any]] = (),
    shipping: Mapping[str, Any] = PICKUP,
    payments: Sequence[Mapping[str, Any]] | None = None,
    shipments: Sequence[Mapping[str, Any]] = (),
    who: str = "ming",
    **changes: Any,
) -> Order:
    """Take an order in. `lines` are `(name, unit price, quantity)` or whole bodies; `payments` None: one card payment
    of exactly the price. `orders/tests/factories.py` has bodies for discounts, shipping and shipments."""
    customer(who)
    body = order_body(
        number,
        lines=lines,
        discounts=discounts,
        shipping=shipping,
        payments=payments,
        shipments=shipments,
        customer=CUSTOMERS[who],
        **changes,
    )
    if payments is None:
        body["payments"] = _payments_of_the_price(body)
    return take_in(body=body, actor=SHOP)[0]


def _payments_of_the_price(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Ask take-in itself: with no payments it refuses, names the price, and leaves nothing behind."""
    try:
        take_in(body={**body, "payments": []}, actor=SHOP)
    except Refusal as refusal:
        if refusal.code != "payments_do_not_match":
            raise
        return [payment_body(refusal.details["price"])]
    return []


def order_5531(**changes: Any) -> Order:
    """The order of the story: earphones delivered 2 days ago, case not packed, coupon 150 from 1,500, paid 1,430."""
    story: dict[str, Any] = {
        "lines": [
            line_body(1, "藍牙耳機", 1200, sku="EAR", category="audio"),
            line_body(2, "耳機殼", 380, sku="CASE", category="accessory"),
        ],
        "discounts": [fixed_discount(150, 1500)],
        "payments": [payment_body(1430)],
        "shipments": [shipment_body({1: 1})],
    }
    return place("5531", **{**story, **changes})


def line(order: Order, position: int) -> LineItem:
    """A line as it is in the database now."""
    return LineItem.objects.get(order=order, position=position)


def payment(order: Order, position: int = 1) -> Payment:
    return Payment.objects.get(order=order, position=position)


def shipment(order: Order, external_id: str = "s1") -> Shipment:
    return Shipment.objects.get(order=order, external_id=external_id)


def shipment_line(order: Order, position: int, external_id: str = "s1") -> ShipmentLine:
    return ShipmentLine.objects.get(shipment=shipment(order, external_id), line_item__position=position)


def delivered_days_ago(order: Order, days: float, external_id: str = "s1") -> None:
    """Make the parcel older, as if time had passed."""
    Shipment.objects.filter(order=order, external_id=external_id).update(
        packed_at=ago(days=days) - timedelta(days=2),
        shipped_at=ago(days=days) - timedelta(days=1),
        delivered_at=ago(days=days),
    )
