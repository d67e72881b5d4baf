"""Orders like the one of the story, taken in through the API, so that every test has its own."""

from collections.abc import Callable
from typing import Any

from backoffice.local.stack import Stack
from orders.tests.factories import fixed_discount, line_body, order_body, payment_body, shipment_body
from tests.stack import Visitor

MING = {"external_id": "demo-ming", "name": "王小明", "email": "ming@example.com"}


def story_body(number: str, customer: dict[str, str]) -> dict[str, Any]:
    return order_body(
        number,
        lines=[
            line_body(1, "藍牙耳機", 1200, sku="EAR", category="audio"),
            line_body(2, "耳機殼", 380, sku="CASE", category="accessory"),
        ],
        discounts=[fixed_discount(150, 1500, label="滿 1,500 折 150")],
        payments=[payment_body(1430)],
        shipments=[shipment_body({1: 1})],
        customer=customer,
    )


def another_5531(stack: Stack, number: str) -> str:
    """The order of the story under another number, for 王小明."""
    return _take_in(stack, number, lambda customer: story_body(number, customer))


def order_of_ming(stack: Stack, number: str, **facts: Any) -> str:
    """An order of 王小明's; `facts` as for `order_body`."""
    return _take_in(stack, number, lambda customer: order_body(number, customer=customer, **facts))


def _take_in(stack: Stack, number: str, body: Callable[[dict[str, str]], dict[str, Any]]) -> str:
    with Visitor(stack, "supervisor") as supervisor:
        known = supervisor.get("/api/v1/orders/5531/").json()["customer"]
        customer = {key: known[key] for key in ("external_id", "name", "email", "phone") if known.get(key)}
        answer = supervisor.post_json("/api/v1/orders/", body(customer))
        assert answer.status_code in {200, 201}, answer.text
    return number
