"""Products, store credit and the address of an order by API: who may, and what is answered."""

import re
from typing import Any, Final

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from orders.models import Customer, Order, Product, StoreCreditEntry
from orders.shipments import pack_order
from orders.store_credit import post
from orders.tests import cast
from orders.tests.factories import PAID_DELIVERY, payment_body

pytestmark = pytest.mark.django_db
API: Final = "/api/v1/"
CREDIT: Final = f"{API}customers/c-ming/store-credit/"
RED: Final = {"name": "藍牙耳機 紅", "category": "audio", "price": 1200, "currency": "TWD", "stock": 2}
HOME: Final = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "106",
    "city": "台北市",
    "district": "大安區",
    "street": "和平東路一段 1 號",
}


def signed_in(who: str) -> Client:
    client = Client()
    client.force_login(cast.customer_user(who) if who in cast.WITH_ACCOUNT else cast.staff_user(who))
    return client


def send(client: Client, method: str, address: str, body: Any) -> Any:
    return getattr(client, method)(address, body, content_type="application/json")


def put_product(client: Client, sku: str = "EAR-RED", **changes: Any) -> Any:
    return send(client, "put", f"{API}products/{sku}/", {**RED, **changes})


def test_a_product_is_new_once_and_is_found_and_read() -> None:
    client = signed_in("supervisor")
    made, again = put_product(client), put_product(client, stock=1)
    assert (made.status_code, made.json()["available"]) == (201, 2)
    assert (again.status_code, again.json()["available"]) == (200, 1)
    for who in ("ming", "staff"):
        reader = signed_in(who)
        assert reader.get(f"{API}products/EAR-RED/").json() == again.json()
        assert reader.get(f"{API}products/?q=紅&category=audio&price_max=1200").json()["results"] == [again.json()]
        assert reader.get(f"{API}products/?q=紅&price_max=1199").json()["results"] == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("price_max=-1", "price_max"),
        ("price_max=1.5", "price_max"),
        ("price_max=", "price_max"),
        ("price_max=9e9", "price_max"),
        ("currency=ZZZ", "currency"),
        (f"q={'x' * 201}", "q"),
    ],
)
def test_a_filter_that_cannot_be_used_is_refused(query: str, field: str) -> None:
    answer = signed_in("staff").get(f"{API}products/?{query}")
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_what_is_no_product_is_refused_and_what_does_not_exist_is_not_found() -> None:
    client = signed_in("supervisor")
    assert put_product(client, sku="EAR-RED", price="1").json()["field"] == "price"
    assert put_product(client, sku="x" * 65).json()["field"] == "sku"
    assert send(client, "put", f"{API}products/EAR-RED/", {**RED, "sku": "ELSE"}).json()["field"] == "sku"
    assert send(client, "put", f"{API}products/EAR-RED/", []).status_code == 400
    assert client.get(f"{API}products/none/").status_code == 404
    assert client.get(f"{API}products/%00/").status_code == 404
    assert not Product.objects.exists()


@pytest.mark.parametrize("who", ["staff", "warehouse", "auditor", "ming"])
def test_who_may_not_take_products_in_is_refused(who: str) -> None:
    assert put_product(signed_in(who)).status_code == 403


def test_a_list_of_products_costs_the_same_however_long_it_is(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(15):
        Product.objects.create(sku=f"S{number}", name="襪", price=100, currency="TWD", stock=number)
    client = signed_in("staff")
    with django_assert_max_num_queries(7):
        assert len(client.get(f"{API}products/").json()["results"]) == 15


def credit(amount: int = 500, reference: str = "g1", **changes: Any) -> dict[str, Any]:
    return {"amount": amount, "currency": "TWD", "kind": "granted", "reference": reference, **changes}


def test_store_credit_is_granted_once_and_read_with_what_it_comes_to() -> None:
    cast.customer("ming")
    client = signed_in("shop")
    made, again = (send(client, "post", CREDIT, credit(note="道歉")) for _ in range(2))
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    assert send(client, "post", CREDIT, credit(-200, "s1", kind="spent")).json()["display"] == "−NT$200"
    for who in ("ming", "staff", "auditor"):
        shown = signed_in(who).get(CREDIT).json()
        assert (shown["customer"], shown["count"]) == ("c-ming", 2)
        assert shown["balances"] == [{"currency": "TWD", "balance": 300, "display": "NT$300"}]
        assert [entry["reference"] for entry in shown["results"]] == ["s1", "g1"]


def test_what_cannot_be_an_entry_is_refused_in_words() -> None:
    cast.customer("ming")
    client = signed_in("shop")
    send(client, "post", CREDIT, credit())
    refused: dict[int, list[Any]] = {
        409: [credit(400), credit(-501, "s1", kind="spent")],
        400: [
            credit(0, "c1", kind="corrected"),
            credit(5, "r1", kind="refunded"),
            {**credit(), "amount": 1.5},
            credit(5, ""),
            [],
        ],
    }
    for status, bodies in refused.items():
        assert [send(client, "post", CREDIT, body).status_code for body in bodies] == [status] * len(bodies)
    assert StoreCreditEntry.objects.count() == 1


def give(customer: Customer, reference: str, order: Order | None = None) -> None:
    post(
        customer=customer,
        currency="TWD",
        amount=5,
        kind="granted",
        reference=reference,
        order=order,
        actor=cast.SHOP,
    )


def test_a_customer_reads_their_own_store_credit_and_no_other() -> None:
    for who in ("ming", "mei"):
        give(cast.customer(who), who)
    client = signed_in("ming")
    foreign, missing = (client.get(f"{API}customers/{name}/store-credit/") for name in ("c-mei", "nobody"))
    assert (foreign.status_code, foreign.json()) == (missing.status_code, missing.json())
    assert foreign.status_code == 404
    assert client.get(CREDIT).status_code == 200


@pytest.mark.parametrize("external_id", ["c-ming", "nobody", "%00"])
def test_a_role_without_store_credit_is_refused_whether_or_not_the_customer_exists(external_id: str) -> None:
    cast.customer("ming")
    address = f"{API}customers/{external_id}/store-credit/"
    assert signed_in("warehouse").get(address).status_code == 403
    for who in ("ming", "staff", "supervisor", "warehouse", "auditor"):
        assert send(signed_in(who), "post", address, credit()).status_code == 403
    found = external_id == "c-ming"
    assert signed_in("auditor").get(address).status_code == (200 if found else 404)
    assert send(signed_in("shop"), "post", address, credit()).status_code == (201 if found else 404)


def test_reading_store_credit_costs_the_same_however_many_entries(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    order = cast.place("7001")
    for number in range(12):
        give(order.customer, f"g{number}", order=order)
    client = signed_in("auditor")
    with django_assert_max_num_queries(9):
        assert len(client.get(CREDIT).json()["results"]) == 12


def address_of(number: str) -> str:
    return f"{API}orders/{number}/shipping-address/"


@pytest.mark.parametrize("who", ["ming", "staff"])
def test_the_address_is_changed_and_shown(who: str) -> None:
    cast.place("7001", shipping=PAID_DELIVERY)
    client = signed_in(who)
    assert client.get(f"{API}orders/7001/").json()["shipping_address"] is None
    answer = send(client, "put", address_of("7001"), HOME)
    assert (answer.status_code, answer.json()["shipping_address"]) == (200, HOME)
    assert client.get(f"{API}orders/7001/").json() == answer.json()


def test_an_address_that_cannot_be_changed_is_refused_in_words() -> None:
    cast.order_5531()
    packed = cast.place("7001", shipping=PAID_DELIVERY)
    pack_order(order=packed, actor=cast.staff("warehouse"))
    client = signed_in("ming")
    answers = [send(client, "put", address_of(number), HOME) for number in ("5531", "7001")]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
        (409, "pickup_order"),
        (409, "already_shipped"),
    ]
    assert send(client, "put", address_of("7001"), {**HOME, "phone": "none"}).json()["field"] == "phone"


def test_nobody_changes_the_address_of_somebody_elses_order() -> None:
    cast.place("7001", shipping=PAID_DELIVERY)
    foreign, missing = (send(signed_in("ming2"), "put", address_of(number), HOME) for number in ("7001", "7999"))
    assert (foreign.status_code, foreign.json()) == (404, missing.json())
    for who in ("warehouse", "auditor"):
        assert send(signed_in(who), "put", address_of("7001"), HOME).status_code == 403


def test_a_payment_is_shown_with_its_number_at_the_gateway() -> None:
    cast.place("7001", payments=[payment_body(1580, provider_ref="ch_123")])
    assert signed_in("staff").get(f"{API}orders/7001/").json()["payments"][0]["provider_ref"] == "ch_123"


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("get", f"{API}products/"),
        ("get", f"{API}products/EAR/"),
        ("put", f"{API}products/EAR/"),
        ("get", CREDIT),
        ("post", CREDIT),
        ("put", f"{API}orders/7001/shipping-address/"),
    ],
)
def test_strangers_are_asked_who_they_are(method: str, address: str) -> None:
    assert getattr(Client(), method)(address, content_type="application/json").status_code == 401


def test_the_time_of_an_entry_is_written_as_all_times_of_the_api_are() -> None:
    cast.customer("ming")
    added = send(signed_in("shop"), "post", CREDIT, credit()).json()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00", added["created_at"])
    assert signed_in("ming").get(CREDIT).json()["results"] == [added]
