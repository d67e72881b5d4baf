"""The API of orders: who may, what is answered, and that a list costs the same however long it is."""

from typing import Any, Final

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.authtoken.models import Token

from orders.models import CustomerLink, Order
from orders.tests import cast
from orders.tests.factories import fixed_discount, order_body, payment_body, shipment_body

pytestmark = pytest.mark.django_db
ORDERS = "/api/v1/orders/"


def signed_in(who: str) -> Client:
    client = Client()
    client.force_login(cast.customer_user(who) if who in cast.WITH_ACCOUNT else cast.staff_user(who))
    return client


def post(client: Client, address: str, body: Any = None, **headers: str) -> Any:
    return client.post(address, body, content_type="application/json", headers=headers or None)


def test_an_order_is_taken_in_and_read_back_with_its_line_ids() -> None:
    client = signed_in("supervisor")
    body = order_body("7001", discounts=[fixed_discount(150, 1500)], payments=[payment_body(1430)])
    body["shipments"] = [shipment_body({1: 1})]
    answer = post(client, ORDERS, body)
    assert answer.status_code == 201
    shown = answer.json()
    assert [line["line_item_id"] for line in shown["lines"]] == ["li_1", "li_2"]
    assert (shown["paid"], shown["display_paid"]) == (1430, "NT$1,430")
    assert shown["shipping"] == body["shipping"]
    assert shown["discounts"][0]["percent"] == "0"
    assert shown["payments"][0]["payment_id"].startswith("pay_")
    assert shown["shipments"][0]["lines"][0]["line_item_id"] == "li_1"
    assert client.get(f"{ORDERS}7001/").json() == shown
    again = post(client, ORDERS, body)
    assert (again.status_code, again.json()) == (200, shown)


def test_a_different_body_is_answered_with_409_and_a_wrong_one_with_the_field() -> None:
    client = signed_in("supervisor")
    post(client, ORDERS, order_body("7001"))
    assert post(client, ORDERS, order_body("7001", lines=[("書", 1, 1)])).json()["code"] == "order_differs"
    answer = post(client, ORDERS, order_body("7002", lines=[("書", 1, 0)]))
    assert (answer.status_code, answer.json()["field"]) == (400, "lines[0].quantity")
    answer = post(client, ORDERS, order_body("7002", payments=[payment_body(1)]))
    assert (answer.status_code, answer.json()["code"]) == (400, "payments_do_not_match")


NESTED: Final = '{"currency": ' + "[" * 500 + "]" * 500 + "}"
TOO_LARGE: Final = '{"number": "' + "7" * 3_000_000 + '"}'
BROKEN: Final = ["[]", "7", "null", '"x"', "{", "\x00", '{"number": NaN}', "[" * 5, "[" * 10**5, NESTED, TOO_LARGE]


@pytest.mark.parametrize("body", BROKEN, ids=range(len(BROKEN)))
def test_a_body_that_is_no_object_is_refused_in_words(body: str) -> None:
    answer = signed_in("supervisor").post(ORDERS, body, content_type="application/json")
    if body is TOO_LARGE:
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        return
    assert answer.status_code == 400
    assert answer.json()["code"] in {"invalid_argument", "malformed_body", "bad_request"}


def test_a_token_serves_as_well_as_a_session() -> None:
    token = Token.objects.create(user=cast.staff_user("supervisor"))
    answer = post(Client(), ORDERS, order_body("7001"), Authorization=f"Token {token.key}")
    assert answer.status_code == 201


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("get", ORDERS),
        ("post", ORDERS),
        ("get", f"{ORDERS}7001/"),
        ("post", f"{ORDERS}7001/shipments/"),
        ("post", f"{ORDERS}7001/customer-link/"),
        ("delete", f"{ORDERS}7001/customer-link/1/"),
    ],
)
def test_strangers_are_asked_who_they_are(method: str, address: str) -> None:
    cast.place("7001")
    assert getattr(Client(), method)(address, content_type="application/json").status_code == 401


@pytest.mark.parametrize("number", ["7001", "nothing"])
@pytest.mark.parametrize("who", ["ming2", "auditor", "warehouse", "staff"])
def test_what_a_role_does_not_include_is_refused_whether_or_not_the_order_exists(who: str, number: str) -> None:
    cast.place("7001")
    client = signed_in(who)
    refused = {"": 403, f"{number}/shipments/": 403, f"{number}/customer-link/": 403}
    if who == "warehouse":
        del refused[f"{number}/shipments/"]
    if who == "staff":
        del refused[f"{number}/customer-link/"]
    assert {below: post(client, ORDERS + below, {}).status_code for below in refused} == refused


def test_a_customer_reads_their_own_orders_and_no_other() -> None:
    cast.place("7001", who="ming")
    cast.place("7002", who="ming2")
    client = signed_in("ming")
    assert [order["number"] for order in client.get(ORDERS).json()["results"]] == ["7001"]
    assert client.get(f"{ORDERS}7001/").status_code == 200
    foreign, missing = client.get(f"{ORDERS}7002/"), client.get(f"{ORDERS}7999/")
    assert (foreign.status_code, foreign.json()) == (missing.status_code, missing.json())
    assert foreign.status_code == 404


def test_staff_find_orders_by_number_and_customer_newest_first() -> None:
    for number, who in (("7001", "ming"), ("7002", "ming2"), ("7003", "ming")):
        cast.place(number, who=who, placed_at=timezone.now().isoformat())
    client = signed_in("staff")

    def numbers(query: str = "") -> list[str]:
        return [order["number"] for order in client.get(f"{ORDERS}{query}").json()["results"]]

    assert numbers() == ["7003", "7002", "7001"]
    assert numbers("?customer=c-ming") == ["7003", "7001"]
    assert numbers("?number=7002") == ["7002"]
    assert numbers("?number=%00") == numbers("?number=%23") == numbers("?customer=%F0%28") == []
    assert numbers("?page_size=1&page=2") == ["7002"]
    assert client.get(f"{ORDERS}?page=9").status_code == 404


def test_a_list_costs_the_same_however_long_it_is(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(7001, 7008):
        cast.place(
            str(number),
            discounts=[fixed_discount(10)],
            shipments=[shipment_body({1: 1}), shipment_body({2: 1}, external_id="s2")],
        )
    client = signed_in("staff")
    with django_assert_max_num_queries(14):
        assert len(client.get(ORDERS).json()["results"]) == 7


def test_an_order_number_with_a_hash_has_an_address() -> None:
    cast.place("TW-#77_a")
    assert signed_in("staff").get(f"{ORDERS}TW-%2377_a/").json()["number"] == "TW-#77_a"


def test_a_parcel_is_new_once() -> None:
    order = cast.order_5531(shipments=[])
    client = signed_in("warehouse")
    address = f"{ORDERS}{order.number}/shipments/"
    packed = post(client, address, shipment_body({2: 1}, state="packed"))
    assert (packed.status_code, packed.json()["state"]) == (201, "packed")
    shipped = post(client, address, {"external_id": "s1", "state": "shipped"})
    assert (shipped.status_code, shipped.json()["shipment_id"]) == (200, packed.json()["shipment_id"])
    back = post(client, address, {"external_id": "s1", "state": "packed"})
    assert (back.status_code, back.json()["code"]) == (409, "shipment_moved_on")
    assert post(client, f"{ORDERS}none/shipments/", {}).status_code == 404


def test_a_customer_link_is_made_used_and_revoked() -> None:
    cast.place("7001", who="mei")
    staff, browser = signed_in("staff"), Client()
    made = post(staff, f"{ORDERS}7001/customer-link/")
    assert made.status_code == 201
    assert set(made.json()) == {"url", "expires_at", "link_id"}
    assert made.json()["url"].startswith("http://localhost:8000/l/")
    path = made.json()["url"].removeprefix("http://localhost:8000")
    assert browser.get(path).status_code == 302
    link = f"{ORDERS}7001/customer-link/{made.json()['link_id']}/"
    assert [staff.delete(link).status_code for _ in range(2)] == [204, 204]
    assert browser.get(path).status_code == 410
    assert staff.delete(f"{ORDERS}7001/customer-link/{10**30}/").status_code == 404


def test_a_link_is_revoked_through_its_own_order_only() -> None:
    cast.place("7001", who="mei")
    cast.place("7002", who="mei")
    staff = signed_in("staff")
    link_id = post(staff, f"{ORDERS}7001/customer-link/").json()["link_id"]
    assert staff.delete(f"{ORDERS}7002/customer-link/{link_id}/").status_code == 404
    assert CustomerLink.objects.get().revoked_at is None


def test_a_session_needs_its_csrf_token_to_write() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.staff_user("supervisor"))
    assert post(client, ORDERS, order_body("7001")).status_code == 403
    assert not Order.objects.exists()
