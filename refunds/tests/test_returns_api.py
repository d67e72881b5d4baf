"""The API of returns, exchanges and replacements: who may, what is answered, and that a list costs the same."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from orders.models import Order
from orders.tests import cast
from refunds.models import Refund, Replacement, Return
from refunds.tests.browser import post_json, signed_in
from refunds.tests.going_back import (
    accepted_exchange,
    earphones,
    exchange,
    lost_earphones,
    own_stock,
    product,
    received_return,
    requested_return,
    sent_again,
    states_of,
    stock_of,
)

pytestmark = pytest.mark.django_db
RETURNS, REPLACEMENTS = "/api/v1/returns/", "/api/v1/replacements/"
LINE = {"line_item_id": "li_1", "quantity": 1, "reason": "defective"}


def exchanges_of(order: Order) -> str:
    return f"/api/v1/orders/{order.number}/exchanges/"


def resends_of(order: Order) -> str:
    return f"/api/v1/orders/{order.number}/resends/"


def steps(client: Client, return_id: str, *names: str) -> Any:
    for name in names:
        answer = post_json(client, f"{RETURNS}{return_id}/{name}/", {"note": "倉庫"})
        assert answer.status_code == 200, answer.content
    return answer.json()


def test_an_exchange_goes_all_the_way() -> None:
    order = earphones()
    product(pieces=2)
    body = {"lines": [{**LINE, "product_id": "EAR-RED"}], "note": "左耳沒聲音"}
    answer = post_json(signed_in("ming"), exchanges_of(order), body)
    shown = answer.json()
    assert (answer.status_code, shown["kind"], shown["amount"], shown["state"]) == (201, "exchange", None, "requested")
    assert shown["return_id"].startswith("rt_")
    assert (shown["lines"][0]["name"], shown["replacement"]["lines"][0]["name"]) == ("藍牙耳機", "藍牙耳機 紅")
    client = signed_in("warehouse")
    steps(client, shown["return_id"], "receive", "accept")
    parcel = {"carrier": "黑貓宅急便", "tracking_number": "T9"}
    sent = post_json(client, f"{RETURNS}{shown['return_id']}/send-replacement/", parcel).json()
    assert (sent["state"], sent["replacement"]["state"], sent["replacement"]["tracking_number"]) == (
        "exchanged",
        "sent",
        "T9",
    )
    assert stock_of("EAR-RED") == (1, 0)


def test_the_same_request_again_is_answered_with_200_and_the_same_exchange() -> None:
    order = earphones()
    body = {"lines": [LINE], "request_ref": "app-1"}
    first, again = (post_json(signed_in("ming"), exchanges_of(order), body) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()


def test_a_reference_belongs_to_its_order_and_its_caller() -> None:
    body = {"lines": [LINE], "request_ref": "1"}
    order = earphones()
    answers = [
        post_json(signed_in("ming"), exchanges_of(order), body),
        post_json(signed_in("staff"), exchanges_of(order), body),
        post_json(signed_in("ming"), exchanges_of(cast.order_5531()), body),
    ]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert len({answer.json()["return_id"] for answer in answers}) == 3


@pytest.mark.parametrize(
    ("line", "status", "code", "field"),
    [
        ({**LINE, "product_id": "NOPE"}, 400, "unknown_product", "lines[0].product_id"),
        ({**LINE, "product_id": "EAR-BIG"}, 409, "price_differs", "lines[0].product_id"),
        ({**LINE, "product_id": 7}, 400, "invalid_argument", "lines[0].product_id"),
        ({**LINE, "quantity": 1.5}, 400, "invalid_argument", "lines[0].quantity"),
        ({**LINE, "amount": 100}, 400, "invalid_argument", "lines[0].amount"),
    ],
)
def test_what_cannot_be_exchanged_is_answered_with_the_one_error(
    line: dict[str, Any], status: int, code: str, field: str
) -> None:
    order = earphones()
    product("EAR-BIG", price=9000)
    answer = post_json(signed_in("ming"), exchanges_of(order), {"lines": [line]})
    error = answer.json()
    assert (answer.status_code, error["code"], error["field"]) == (status, code, field)
    assert error["message"]
    assert error["hint"]
    assert not Return.objects.exists()


def test_goods_are_received_piece_by_piece_and_what_was_accepted_is_refunded() -> None:
    order = earphones()
    request = requested_return(order, (1, 2, "defective"))
    client, address = signed_in("warehouse"), f"{RETURNS}{request.pk}/"
    wrong = post_json(client, f"{address}receive/", {"found": {"li_1": {"accepted": 5}}})
    assert (wrong.status_code, wrong.json()["field"]) == (400, "found.li_1")
    wrong = post_json(client, f"{address}receive/", {"found": {"li_1": {"accepted": "2"}}})
    assert (wrong.status_code, wrong.json()["field"]) == (400, "found.li_1.accepted")
    shown = post_json(client, f"{address}receive/", {"found": {"li_1": {"accepted": 1, "damaged": 1}}}).json()
    assert [(each["found"], each["quantity"]) for each in shown["findings"]] == [("accepted", 1), ("damaged", 1)]
    shown = post_json(client, f"{address}accept/", {"reasons": {"li_1": "changed_mind"}}).json()
    assert (shown["state"], shown["refund_id"]) == ("accepted", Refund.objects.get().pk)
    assert states_of(order) == {"delivered": 2, "refunded": 1}


def test_nothing_accepted_is_answered_with_409() -> None:
    request = received_return(earphones(), (1, 1, "defective"), found={"li_1": {"short": 1}})
    answer = post_json(signed_in("warehouse"), f"{RETURNS}{request.pk}/accept/")
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_accepted")


def test_the_customer_withdraws_before_the_goods_have_arrived_and_not_afterwards() -> None:
    order = earphones()
    own_stock(3)
    mine = f"{RETURNS}{exchange(order).pk}/withdraw/"
    assert post_json(signed_in("ming2"), mine).status_code == 404
    assert post_json(signed_in("ming"), mine).json()["state"] == "withdrawn"
    assert stock_of() == (3, 0)
    late = received_return(order, (1, 1, "changed_mind"))
    answer = post_json(signed_in("ming"), f"{RETURNS}{late.pk}/withdraw/")
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")


def test_rejecting_needs_a_reason() -> None:
    request = received_return(earphones(), (1, 1, "changed_mind"))
    client, address = signed_in("warehouse"), f"{RETURNS}{request.pk}/reject/"
    assert (post_json(client, address).status_code, Return.objects.get().state) == (400, "received")
    assert post_json(client, address, {"note": "空盒"}).json()["state"] == "rejected"


@pytest.mark.parametrize("step", ["receive", "accept", "reject", "send-replacement"])
@pytest.mark.parametrize(("who", "status"), [("ming", 403), ("ming2", 404), ("staff", 403), ("auditor", 403)])
def test_only_who_handles_goods_may(step: str, who: str, status: int) -> None:
    request = received_return(earphones(), (1, 1, "changed_mind"))
    answer = post_json(signed_in(who), f"{RETURNS}{request.pk}/{step}/", {"note": "x"} if step == "reject" else {})
    assert answer.status_code == status
    request.refresh_from_db()
    assert request.state == "received"


def test_returns_and_replacements_are_seen_by_their_customer_and_by_staff() -> None:
    request = accepted_exchange(earphones())
    replacement = Replacement.objects.get()
    for who, status in (("ming", 200), ("warehouse", 200), ("staff", 200), ("auditor", 200), ("ming2", 404)):
        assert signed_in(who).get(f"{RETURNS}{request.pk}/").status_code == status
        assert signed_in(who).get(f"{REPLACEMENTS}{replacement.pk}/").status_code == status
    assert signed_in("ming2").get(RETURNS).json()["count"] == 0
    assert signed_in("ming").get(f"{RETURNS}?state=accepted&order=7801").json()["count"] == 1
    assert signed_in("ming").get(f"{RETURNS}?state=rejected").json()["count"] == 0
    assert signed_in("ming").get(f"{REPLACEMENTS}?state=reserved").json()["count"] == 1
    for address in (f"{RETURNS}?state=lost", f"{REPLACEMENTS}?state=lost"):
        assert signed_in("ming").get(address).json()["field"] == "state"
    assert Client().get(RETURNS).status_code == 401


def test_lost_goods_are_sent_again() -> None:
    order = lost_earphones()
    body = {"lines": [{"line_item_id": "li_1", "quantity": 1}], "request_ref": "app-1"}
    first, again = (post_json(signed_in("ming"), resends_of(order), body) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    number = first.json()["replacement_id"]
    assert (number[:3], first.json()["kind"], first.json()["state"]) == ("rp_", "lost", "reserved")
    assert first.json() == again.json()
    sent = post_json(signed_in("warehouse"), f"{REPLACEMENTS}{number}/send/", {"carrier": "黑貓宅急便"}).json()
    assert (sent["state"], sent["carrier"]) == ("sent", "黑貓宅急便")


def test_a_replacement_is_released_with_a_reason_and_the_customer_cannot() -> None:
    order = lost_earphones()
    address = f"{REPLACEMENTS}{sent_again(order, (1, 1, 'lost')).pk}/release/"
    assert post_json(signed_in("ming"), address, {"note": "x"}).status_code == 403
    assert post_json(signed_in("staff"), address).status_code == 400
    assert post_json(signed_in("staff"), address, {"note": "客人改要退款"}).json()["state"] == "released"
    assert states_of(order) == {"lost": 2}


def test_lists_cost_the_same_however_long_they_are(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    order = earphones(4)
    product()
    received_return(order, (1, 1, "defective"))
    client = signed_in("warehouse")
    exchange(order, product_id="EAR-RED")
    counts = []
    for turn in range(2):
        for address in (RETURNS, REPLACEMENTS):
            with django_assert_max_num_queries(20) as captured:
                client.get(address)
            counts.append(len(captured))
        if not turn:
            exchange(order, ref="card_2", product_id="EAR-RED")
            received_return(order, (1, 1, "defective"))
    assert (counts[2] - counts[0], counts[3] - counts[1]) == (0, 0)
