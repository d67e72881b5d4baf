"""The API of refunds: who may, what is answered, and that a list costs the same however long it is."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from orders.models import AuditEvent, Order
from orders.shipments import pack_order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import outcome, send
from refunds.api.common import NO_NOTE
from refunds.gateways.base import GatewayAnswer
from refunds.models import Refund, RefundQuote
from refunds.redeem import redeem
from refunds.states import RefundState
from refunds.tests.ask import ask
from refunds.tests.browser import post_json, signed_in

pytestmark = pytest.mark.django_db
QUOTES, REFUNDS = "/api/v1/refund-quotes/", "/api/v1/refunds/"
CASE = {"lines": [{"line_item_id": "li_2", "quantity": 1, "reason": "changed_mind"}]}


def quotes_of(order: Order) -> str:
    return f"/api/v1/orders/{order.number}/refund-quotes/"


def test_a_quote_is_answered_with_everything_the_contract_names() -> None:
    answer = post_json(signed_in("staff"), quotes_of(cast.order_5531()), CASE)
    assert answer.status_code == 201
    shown = answer.json()
    assert shown["quote_id"].startswith("rq_")
    assert (shown["action"], shown["state"], shown["amount"], shown["currency"]) == ("cancel", "open", 230, "TWD")
    assert (shown["display"], shown["policy_version"], shown["refund"], shown["return"]) == ("NT$230", 1, None, None)
    assert sum(step["amount"] for step in shown["steps"]) == 230
    assert shown["explanation"].endswith("NT$230")
    assert shown["expires_at"].endswith("+08:00")
    assert [(share["last4"], share["amount"]) for share in shown["to"]] == [("4242", 230)]
    assert [(line["line_item_id"], line["quantity"], line["reason"]) for line in shown["lines"]] == [
        ("li_2", 1, "changed_mind")
    ]


def test_a_quote_is_redeemed_with_201_and_again_with_200_and_the_same_refund() -> None:
    client, order = signed_in("staff"), cast.order_5531()
    quote_id = post_json(client, quotes_of(order), CASE).json()["quote_id"]
    first = post_json(client, f"{QUOTES}{quote_id}/redeem/")
    again = post_json(client, f"{QUOTES}{quote_id}/redeem/", {"note": "再按一次"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert first.json()["refund_id"].startswith("rf_")
    assert (first.json()["amount"], first.json()["state"]) == (230, "pending")
    read = client.get(f"{QUOTES}{quote_id}/").json()
    assert (read["state"], read["refund"]) == ("redeemed", first.json())
    assert Refund.objects.get().note == "Confirmed through the API without a note."


def test_what_the_records_say_without_a_note_does_not_depend_on_the_callers_language() -> None:
    client, order = signed_in("staff", headers={"Accept-Language": "zh-TW"}), cast.order_5531()
    quote_id = post_json(client, quotes_of(order), CASE).json()["quote_id"]
    assert post_json(client, f"{QUOTES}{quote_id}/redeem/").status_code == 201
    assert AuditEvent.objects.get(action="quote.redeemed").chosen == {"note": NO_NOTE}


def test_a_quote_to_return_is_redeemed_to_a_return() -> None:
    client, order = signed_in("ming"), cast.order_5531()
    body = {"reason": "changed_mind", "lines": [{"line_item_id": "li_1", "quantity": 1}]}
    quote_id = post_json(client, quotes_of(order), body).json()["quote_id"]
    answer = post_json(client, f"{QUOTES}{quote_id}/redeem/")
    assert answer.status_code == 201
    assert answer.json()["return_id"].startswith("rt_")
    assert (answer.json()["amount"], answer.json()["state"]) == (1050, "requested")
    assert answer.json()["return_id"] in answer.json()["instructions"]


def test_a_customer_quotes_and_redeems_their_own_order() -> None:
    client, order = signed_in("ming"), cast.order_5531()
    quote_id = post_json(client, quotes_of(order), CASE).json()["quote_id"]
    assert post_json(client, f"{QUOTES}{quote_id}/redeem/").status_code == 201
    assert Refund.objects.get().confirmed_by_kind == "customer"


def test_anothers_order_quote_and_refund_are_the_same_404_as_missing_ones() -> None:
    order = cast.order_5531()
    quote = ask(order, (2, 1, "other"))
    refund = redeem(quote_id=quote.pk, actor=cast.shopper()).refund
    assert refund is not None
    other = signed_in("ming2")
    pairs = [
        (post_json(other, quotes_of(order), CASE), post_json(other, "/api/v1/orders/none/refund-quotes/", CASE)),
        (other.get(f"{QUOTES}{quote.pk}/"), other.get(f"{QUOTES}rq_00000000000000000000/")),
        (post_json(other, f"{QUOTES}{quote.pk}/redeem/"), post_json(other, f"{QUOTES}rq_0/redeem/")),
        (post_json(other, f"{QUOTES}{quote.pk}/decline/"), post_json(other, f"{QUOTES}%00/decline/")),
        (other.get(f"{REFUNDS}{refund.pk}/"), other.get(f"{REFUNDS}rf_00000000000000000000/")),
        (post_json(other, f"{REFUNDS}{refund.pk}/retry/"), post_json(other, f"{REFUNDS}x/retry/")),
    ]
    for foreign, missing in pairs:
        assert foreign.status_code == missing.status_code == 404
        assert foreign.json() == missing.json()


def test_a_wrong_body_is_answered_with_400_and_the_field() -> None:
    client, order = signed_in("staff"), cast.order_5531()
    wrong = {"lines": [{**CASE["lines"][0], "quantity": "1"}]}
    answer = post_json(client, quotes_of(order), wrong)
    assert (answer.status_code, answer.json()["field"]) == (400, "lines[0].quantity")
    quote = ask(order, (2, 1, "other"), actor=cast.staff())
    for body in ({"note": 5}, {"note": "\x00"}, {"amount": 230}, ["note"]):
        assert post_json(client, f"{QUOTES}{quote.pk}/redeem/", body).status_code == 400
    assert not Refund.objects.exists()


def test_a_quote_whose_time_is_over_is_shown_as_expired_and_answered_with_409() -> None:
    client, quote = signed_in("ming"), ask(cast.order_5531(), (2, 1, "other"))
    RefundQuote.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get(f"{QUOTES}{quote.pk}/").json()["state"] == "expired"
    assert client.get(f"{QUOTES}?state=expired").json()["count"] == 1
    assert client.get(f"{QUOTES}?state=open").json()["count"] == 0
    answer = post_json(client, f"{QUOTES}{quote.pk}/redeem/")
    assert (answer.status_code, answer.json()["code"]) == (409, "quote_expired")


def test_a_changed_order_is_answered_with_409_and_what_to_do() -> None:
    client, quote = signed_in("ming"), ask(cast.order_5531(), (2, 1, "other"))
    pack_order(order=quote.order, actor=cast.staff("warehouse"))
    answer = post_json(client, f"{QUOTES}{quote.pk}/redeem/")
    assert (answer.status_code, answer.json()["code"]) == (409, "order_changed")
    assert answer.json()["hint"]
    assert not answer.json()["retryable"]


def test_a_declined_quote_is_declined() -> None:
    client, quote = signed_in("ming"), ask(cast.order_5531(), (2, 1, "other"))
    answer = post_json(client, f"{QUOTES}{quote.pk}/decline/")
    assert (answer.status_code, answer.json()["state"]) == (200, "declined")


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_redeeming_needs_a_post(method: str) -> None:
    client, quote = signed_in("ming"), ask(cast.order_5531(), (2, 1, "other"))
    assert getattr(client, method)(f"{QUOTES}{quote.pk}/redeem/").status_code == 405
    assert not Refund.objects.exists()


def test_a_session_without_its_csrf_token_redeems_nothing() -> None:
    quote = ask(cast.order_5531(), (2, 1, "other"))
    client = signed_in("ming", enforce_csrf_checks=True)
    assert post_json(client, f"{QUOTES}{quote.pk}/redeem/").status_code == 403
    assert not Refund.objects.exists()


def test_nobody_does_anything_without_signing_in() -> None:
    order = cast.order_5531()
    for address in (quotes_of(order), f"{QUOTES}rq_00000000000000000000/redeem/"):
        assert post_json(Client(), address, CASE).status_code == 401


@pytest.mark.parametrize("role", ["auditor", "warehouse"])
def test_staff_without_the_permission_neither_quote_nor_redeem(role: str) -> None:
    order = cast.order_5531()
    quote = ask(order, (2, 1, "other"))
    assert post_json(signed_in(role), quotes_of(order), CASE).status_code == 403
    assert post_json(signed_in(role), f"{QUOTES}{quote.pk}/redeem/").status_code in {403, 404}
    assert not Refund.objects.exists()


def test_lists_show_staff_everything_and_customers_their_own() -> None:
    ask(cast.order_5531(), (2, 1, "other"))
    ask(cast.place("6801", who="ming2"), (2, 1, "other"), actor=cast.shopper("ming2"))
    assert signed_in("auditor").get(QUOTES).json()["count"] == 2
    assert signed_in("staff").get(f"{QUOTES}?order=6801&state=open").json()["count"] == 1
    assert [row["order_number"] for row in signed_in("ming").get(QUOTES).json()["results"]] == ["5531"]
    assert signed_in("warehouse").get(QUOTES).status_code == 403
    assert signed_in("staff").get(f"{QUOTES}?state=done").json()["field"] == "state"
    assert signed_in("staff").get(f"{QUOTES}?order=%00").json()["count"] == 0


def test_lists_cost_the_same_however_long_they_are(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    client = signed_in("auditor")
    for number in range(4):
        shipments = [shipment_body({1: 1})]
        order = cast.place(f"69{number:02}", shipments=shipments)
        redeem(quote_id=ask(order, (2, 1, "other")).pk, actor=cast.shopper())
        redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
        ask(cast.place(f"68{number:02}"), (2, 1, "other"))
    with django_assert_max_num_queries(18):
        assert client.get(f"{QUOTES}?page_size=100").json()["count"] == 12
    with django_assert_max_num_queries(8):
        assert client.get(REFUNDS).json()["count"] == 4


def large_refund() -> Refund:
    order = cast.place("6802", lines=[("音響", 30_000, 1)])
    refund = redeem(quote_id=ask(order, (1, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    return refund


def test_a_supervisor_approves_and_rejects() -> None:
    refund = large_refund()
    client = signed_in("supervisor")
    assert post_json(client, f"{REFUNDS}{refund.pk}/reject/").json()["field"] == "reason"
    answer = post_json(client, f"{REFUNDS}{refund.pk}/approve/", {"reason": "查證過"})
    assert (answer.status_code, answer.json()["state"]) == (200, "pending")
    answer = post_json(client, f"{REFUNDS}{refund.pk}/reject/", {"reason": "後悔"})
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")
    assert post_json(signed_in("staff"), f"{REFUNDS}{refund.pk}/approve/").status_code == 403


def test_staff_send_a_failed_refund_again() -> None:
    refund = redeem(quote_id=ask(cast.order_5531(), (2, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    refund.allocations.update(state="failed")
    Refund.objects.update(state=RefundState.FAILED)
    client = signed_in("staff")
    assert client.get(f"{REFUNDS}?state=failed").json()["count"] == 1
    wrong = post_json(client, f"{REFUNDS}{refund.pk}/retry/", {"payment_id": "pay_0"})
    assert (wrong.status_code, wrong.json()["code"]) == (409, "payment_cannot_take")
    answer = post_json(client, f"{REFUNDS}{refund.pk}/retry/", {"note": "銀行說可以了"})
    assert (answer.status_code, answer.json()["state"]) == (200, "pending")
    assert refund.allocations.get().attempt == 2


def test_staff_say_that_they_have_settled_it_with_the_provider() -> None:
    refund = redeem(quote_id=ask(cast.order_5531(), (2, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    claim = send.claim_allocation(refund.allocations.get().pk)
    assert claim is not None
    outcome.record_success(claim.attempt, GatewayAnswer("sim_1", 23_000, "TWD"))
    client, address = signed_in("staff"), f"{REFUNDS}{refund.pk}/settle/"
    assert post_json(client, address).json()["field"] == "note"
    assert post_json(signed_in("ming"), address, {"note": "好了"}).status_code == 403
    answer = post_json(client, address, {"note": "金流商已更正為 230"})
    assert (answer.status_code, answer.json()["state"]) == (200, "succeeded")
    assert post_json(client, address, {"note": "再一次"}).json()["code"] == "wrong_state"


def test_the_openapi_page_describes_every_address_with_its_refusals() -> None:
    schema: Any = signed_in("staff").get("/api/v1/schema/?format=json").json()
    paths = {path: each for path, each in schema["paths"].items() if "refund" in path and "policies" not in path}
    assert len(paths) == 16
    for path, operations in paths.items():
        for operation in operations.values():
            assert {"401", "404"} <= set(operation["responses"]), path
    redeeming = paths["/api/v1/refund-quotes/{quote_id}/redeem/"]["post"]["responses"]
    assert {"200", "201", "400", "403", "404", "409"} <= set(redeeming)
