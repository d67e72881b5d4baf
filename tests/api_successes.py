"""One request to each operation of the API that succeeds in the shop of `api_shop.py`, by the operation's name there.

What is generated is refused most of the time, and so shows little of what an answer looks like when something was done.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone

from orders.tests.factories import order_body, shipment_body
from tests.api_shop import Shop

ADDRESS: Final = {
    "recipient": "王小明",
    "phone": "0912-345-678",
    "postal_code": "100",
    "city": "台北市",
    "district": "中正區",
    "street": "重慶南路一段 122 號",
}
NOTE: Final = {"note": "依規定處理"}
REASON: Final = {"reason": "依規定處理"}


@dataclass(frozen=True)
class Success:
    """`by`: whose token."""

    by: str = "staff"
    path: dict[str, Any] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None


def order(number: str = "5000") -> dict[str, Any]:
    return {"order_number": number}


def lines(name: str, quantity: int = 1, **more: Any) -> list[dict[str, Any]]:
    return [{"line_item_id": name, "quantity": quantity, **more}]


def policy(currency: str, version: int) -> dict[str, Any]:
    return {"currency": currency, "version": version}


def tomorrow() -> str:
    return (timezone.now() + timedelta(days=1)).isoformat()


def goods(shop: Shop) -> dict[str, Success]:
    """Facts: orders, parcels, products, addresses, store credit."""
    number, customer = "/api/v1/orders/{order_number}/", "/api/v1/customers/{external_id}/store-credit/"
    ming = {"external_id": "c-ming"}
    credit = {"amount": 100, "currency": "TWD", "kind": "granted", "reference": "gift_2"}
    product = {"name": "耳機殼", "price": 380, "currency": "TWD", "stock": 3}
    return {
        "GET /api/v1/orders/": Success("customer"),
        "POST /api/v1/orders/": Success(body=order_body("8001")),
        f"GET {number}": Success("customer", order()),
        f"POST {number}shipments/": Success(path=order(), body=shipment_body({2: 1}, external_id="s9")),
        f"PUT {number}shipping-address/": Success("customer", order("6901"), body=ADDRESS),
        f"POST {number}customer-link/": Success(path=order()),
        f"DELETE {number}customer-link/{{link_id}}/": Success(path={**order(), "link_id": shop.a("link_id")}),
        "GET /api/v1/products/": Success("customer", query={"q": "耳機"}),
        "GET /api/v1/products/{product_id}/": Success("customer", {"product_id": "CASE"}),
        "PUT /api/v1/products/{product_id}/": Success(path={"product_id": "CASE"}, body=product),
        f"GET {customer}": Success("customer", ming),
        f"POST {customer}": Success(path=ming, body=credit),
    }


def quotes_and_refunds(shop: Shop) -> dict[str, Success]:
    number, quote, refund = (
        "/api/v1/orders/{order_number}/",
        "/api/v1/refund-quotes/{quote_id}/",
        "/api/v1/refunds/{refund_id}/",
    )
    asked = {"quote_id": shop.a("open quote")}

    def of(name: str) -> dict[str, Any]:
        return {"refund_id": shop.a(name)}

    elsewhere = {"external_ref": "re_2", "amount": 10, "payment_id": shop.a("payment_id"), "for_goods": False}
    by_hand = {"external_ref": "transfer_1", **NOTE}
    return {
        f"POST {number}refund-quotes/": Success(
            "customer", order(), body={"lines": lines("li_2", reason="other", action="cancel")}
        ),
        "GET /api/v1/refund-quotes/": Success("customer"),
        f"GET {quote}": Success("customer", asked),
        f"POST {quote}redeem/": Success("customer", asked, body={}),
        f"POST {quote}decline/": Success("customer", asked),
        "GET /api/v1/refunds/": Success("customer"),
        f"GET {refund}": Success("customer", of("waiting refund")),
        f"POST {refund}retry/": Success(path=of("failed refund"), body=NOTE),
        f"POST {refund}settle/": Success(path=of("troubled refund"), body=NOTE),
        f"POST {refund}admit-failure/": Success(path=of("troubled refund"), body=NOTE),
        f"POST {refund}paid-by-hand/": Success(path=of("failed refund"), body=by_hand),
        f"POST {refund}undo/": Success(path=of("refund elsewhere"), body=NOTE),
        f"POST {refund}assign/": Success(path=of("refund elsewhere"), body={"lines": lines("li_2"), **NOTE}),
        f"POST {refund}approve/": Success(path=of("waiting refund"), body={}),
        f"POST {refund}reject/": Success(path=of("waiting refund"), body=REASON),
        f"POST {number}refunds-elsewhere/": Success(path=order(), body={**elsewhere, "lines": [], **NOTE}),
    }


def decisions(shop: Shop) -> dict[str, Success]:
    """Second persons, rules, and what staff must see to."""
    number, approval = "/api/v1/orders/{order_number}/", "/api/v1/approvals/{approval_id}/"
    rules = "/api/v1/refund-policies/{currency}/{version}/"
    asked, drafted = {"approval_id": shop.a("approval_id")}, policy("TWD", shop.a("draft"))
    goodwill = {"amount": 50, "request_ref": "c2", **REASON}
    late = lines("li_1", reason="changed_mind")
    return {
        "GET /api/v1/approvals/": Success(),
        f"GET {approval}": Success(path=asked),
        f"POST {approval}approve/": Success(path=asked, body={}),
        f"POST {approval}reject/": Success(path=asked, body=REASON),
        f"POST {number}compensations/": Success(path=order(), body=goodwill),
        f"POST {number}overrides/": Success(path=order("5002"), body={"lines": late, **REASON}),
        "GET /api/v1/refund-policies/": Success(),
        "POST /api/v1/refund-policies/": Success(body={"currency": "CNY"}),
        f"GET {rules}": Success(path=drafted),
        f"PATCH {rules}": Success(path=drafted, body={"return_fee": 60, "seen": shop.a("seen")}),
        f"DELETE {rules}": Success(path=drafted),
        f"POST {rules}publish/": Success(path=drafted, body={"in_force_from": tomorrow(), "seen": shop.a("seen")}),
        f"POST {rules}withdraw/": Success(path=policy("USD", shop.a("published")), body=REASON),
        "GET /api/v1/alerts/": Success(),
        "POST /api/v1/alerts/{alert_id}/settle/": Success(path={"alert_id": shop.a("alert_id")}, body=NOTE),
        "GET /api/v1/books/": Success(),
    }


def goods_back_and_forth(shop: Shop) -> dict[str, Success]:
    number = "/api/v1/orders/{order_number}/"
    request, replacement = "/api/v1/returns/{return_id}/", "/api/v1/replacements/{replacement_id}/"

    def of(name: str) -> dict[str, Any]:
        return {"return_id": shop.a(name)}

    again = {"replacement_id": shop.a("replacement_id")}
    found = {"found": {"li_1": {"damaged": 1}}, **NOTE}
    other = lines("li_1", reason="defective", product_id="EAR-RED")
    return {
        f"GET {number}returns/eligibility/": Success("customer", order()),
        f"POST {number}exchanges/": Success("customer", order(), body={"lines": other}),
        "GET /api/v1/returns/": Success("customer"),
        f"GET {request}": Success("customer", of("received return")),
        f"POST {request}receive/": Success(path=of("requested return"), body=found),
        f"POST {request}accept/": Success(path=of("received return"), body={"reasons": {"li_1": "changed_mind"}}),
        f"POST {request}reject/": Success(path=of("requested return"), body=NOTE),
        f"POST {request}withdraw/": Success("customer", of("requested return"), body={}),
        f"POST {request}send-replacement/": Success(path=of("accepted exchange"), body={"carrier": "黑貓宅急便"}),
        f"POST {number}resends/": Success("customer", order(), body={"lines": lines("li_3")}),
        "GET /api/v1/replacements/": Success("customer"),
        f"GET {replacement}": Success("customer", again),
        f"POST {replacement}send/": Success(path=again, body={"tracking_number": "TN-9"}),
        f"POST {replacement}release/": Success(path=again, body=NOTE),
    }


PARTS: Final[tuple[Callable[[Shop], dict[str, Success]], ...]] = (
    goods,
    quotes_and_refunds,
    decisions,
    goods_back_and_forth,
)


def successes(shop: Shop) -> dict[str, Success]:
    """By method and path."""
    return {name: success for part in PARTS for name, success in part(shop).items()}
