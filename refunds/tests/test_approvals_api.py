"""The API of decisions: who may ask, read and decide, what is answered, and that a list costs the same."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import compensation
from refunds.models import Approval, Refund, Return
from refunds.redeem import redeem
from refunds.tests.ask import ask
from refunds.tests.browser import post_json, signed_in

pytestmark = pytest.mark.django_db
APPROVALS, REFUNDS = "/api/v1/approvals/", "/api/v1/refunds/"
PROPOSAL = {"amount": 100, "reason": "包裹遲到", "request_ref": "ticket-17"}
EARPHONES = {"line_item_id": "li_1", "quantity": 1, "reason": "changed_mind"}


def of(order: Order, what: str) -> str:
    return f"/api/v1/orders/{order.number}/{what}/"


def proposed(number: str = "7601", amount: int = 100) -> Approval:
    order = cast.place(number)
    return compensation.propose(
        order=order, amount=amount, reason="遲到", actor=cast.staff(), request_ref=f"c:{number}"
    )


def late_order() -> Order:
    order = cast.order_5531(shipments=[shipment_body({1: 1, 2: 1})])
    cast.delivered_days_ago(order, 10)
    return order


def elsewhere(order: Order, **more: Any) -> dict[str, Any]:
    payment_id = cast.payment(order).pk
    return {"external_ref": "re_1", "amount": 230, "payment_id": payment_id, "note": "在後台退的", **more}


def test_a_proposal_is_answered_with_everything_the_contract_names() -> None:
    answer = post_json(signed_in("staff"), of(cast.order_5531(), "compensations"), PROPOSAL)
    assert answer.status_code == 201
    shown = answer.json()
    assert shown["approval_id"].startswith("ap_")
    assert {name: shown[name] for name in ("kind", "state", "order_number", "amount", "display", "currency")} == {
        "kind": "compensation",
        "state": "waiting",
        "order_number": "5531",
        "amount": 100,
        "display": "NT$100",
        "currency": "TWD",
    }
    assert (shown["reason"], shown["asked_by"]) == ("包裹遲到", "staff")
    assert (shown["refund_id"], shown["quote_id"], shown["decided_by"]) == (None, None, None)
    assert shown["expires_at"].endswith("+08:00")


def test_the_same_proposal_again_is_the_same_and_another_one_under_its_reference_is_409() -> None:
    client, order = signed_in("staff"), cast.order_5531()
    first = post_json(client, of(order, "compensations"), PROPOSAL)
    again = post_json(client, of(order, "compensations"), PROPOSAL)
    assert first.json() == again.json()
    other = post_json(client, of(order, "compensations"), {**PROPOSAL, "amount": 50})
    assert (other.status_code, other.json()["code"]) == (409, "reference_reused")


def test_a_reference_of_one_order_means_nothing_to_another() -> None:
    client = signed_in("staff")
    for number in ("7602", "7603"):
        assert post_json(client, of(cast.place(number), "compensations"), PROPOSAL).status_code == 201
    assert Approval.objects.count() == 2


def test_an_approved_compensation_shows_its_refund_which_has_no_quote() -> None:
    approval = proposed()
    answer = post_json(signed_in("supervisor"), f"{APPROVALS}{approval.pk}/approve/", {"reason": "合理"})
    assert (answer.status_code, answer.json()["state"], answer.json()["decided_by"]) == (200, "approved", "supervisor")
    refund = signed_in("ming").get(f"{REFUNDS}{answer.json()['refund_id']}/").json()
    assert (refund["kind"], refund["quote_id"], refund["state"], refund["amount"]) == (
        "compensation",
        None,
        "pending",
        100,
    )


def test_a_no_needs_a_reason_and_is_final() -> None:
    client, approval = signed_in("supervisor"), proposed()
    missing = post_json(client, f"{APPROVALS}{approval.pk}/reject/")
    assert (missing.status_code, missing.json()["field"]) == (400, "reason")
    assert post_json(client, f"{APPROVALS}{approval.pk}/reject/", {"reason": "不行"}).status_code == 200
    again = post_json(client, f"{APPROVALS}{approval.pk}/approve/")
    assert (again.status_code, again.json()["code"]) == (409, "wrong_state")


def test_a_refund_is_decided_about_by_its_own_number_and_by_the_approvals() -> None:
    orders = [cast.place(number, lines=[("音響", 30_000, 1)]) for number in ("7604", "7605")]
    refunds = [redeem(quote_id=ask(order, (1, 1, "other")).pk, actor=cast.shopper()).refund for order in orders]
    assert all(refunds)
    by_refund, by_approval = (refund.pk for refund in refunds if refund)
    client = signed_in("supervisor")
    assert post_json(client, f"{REFUNDS}{by_refund}/approve/").json()["state"] == "pending"
    approval = Approval.objects.get(refund=by_approval)
    assert post_json(client, f"{APPROVALS}{approval.pk}/approve/").json()["state"] == "approved"
    assert set(Refund.objects.values_list("state", flat=True)) == {"pending"}


def test_who_asked_is_told_that_somebody_else_decides() -> None:
    client, order = signed_in("supervisor"), cast.order_5531()
    asked = post_json(client, of(order, "compensations"), PROPOSAL).json()
    answer = post_json(client, f"{APPROVALS}{asked['approval_id']}/approve/")
    assert (answer.status_code, answer.json()["code"]) == (403, "own_decision")


def test_an_exception_is_asked_for_approved_and_becomes_a_return() -> None:
    order = late_order()
    asked = post_json(signed_in("staff"), of(order, "overrides"), {"lines": [EARPHONES], "reason": "老客人"})
    assert (asked.status_code, asked.json()["kind"], asked.json()["amount"]) == (201, "override", 1050)
    quote_id = asked.json()["quote_id"]
    refused = post_json(signed_in("staff"), f"/api/v1/refund-quotes/{quote_id}/redeem/")
    assert (refused.status_code, refused.json()["code"]) == (409, "waits_for_approval")
    assert post_json(signed_in("staff"), f"/api/v1/refund-quotes/{quote_id}/decline/").status_code == 409
    assert signed_in("ming").get(f"/api/v1/refund-quotes/{quote_id}/").status_code == 404
    post_json(signed_in("supervisor"), f"{APPROVALS}{asked.json()['approval_id']}/approve/")
    assert Return.objects.get().quote_id == quote_id
    assert signed_in("ming").get(f"/api/v1/refund-quotes/{quote_id}/").json()["state"] == "redeemed"


def test_an_exception_says_why_for_each_line_and_for_the_second_person() -> None:
    client, order = signed_in("staff"), late_order()
    for body, field in [
        ({"lines": [EARPHONES]}, "reason"),
        ({"lines": [{"line_item_id": "li_1", "quantity": 1}], "reason": "老客人"}, "lines[0].reason"),
        ({"lines": [], "reason": "老客人"}, "lines"),
        ({"lines": [EARPHONES], "reason": "老客人", "amount": 1}, "amount"),
    ]:
        answer = post_json(client, of(order, "overrides"), body)
        assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_a_compensation_is_proposed_with_201_and_again_with_200() -> None:
    address = of(cast.order_5531(), "compensations")
    first, again = (post_json(signed_in("staff"), address, PROPOSAL) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()


def test_a_refund_made_elsewhere_is_booked_with_201_and_again_with_200() -> None:
    client, order = signed_in("supervisor"), cast.order_5531()
    first = post_json(client, of(order, "refunds-elsewhere"), elsewhere(order))
    again = post_json(client, of(order, "refunds-elsewhere"), elsewhere(order))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert (first.json()["kind"], first.json()["state"], first.json()["quote_id"]) == ("elsewhere", "succeeded", None)
    other = post_json(client, of(order, "refunds-elsewhere"), elsewhere(order, amount=1))
    assert (other.status_code, other.json()["code"]) == (409, "reference_reused")


def test_until_it_is_assigned_the_order_is_not_quoted() -> None:
    client, order = signed_in("supervisor"), cast.order_5531()
    refund_id = post_json(client, of(order, "refunds-elsewhere"), elsewhere(order)).json()["refund_id"]
    blocked = post_json(client, of(order, "refund-quotes"), {"lines": [EARPHONES]})
    assert (blocked.status_code, blocked.json()["code"]) == (409, "needs_assignment")
    body = {"lines": [{"line_item_id": "li_2", "quantity": 1}], "note": "查過了"}
    assigned = post_json(client, f"{REFUNDS}{refund_id}/assign/", body)
    assert assigned.status_code == 200
    assert assigned.json()["quote_id"].startswith("rq_")
    assert post_json(client, f"{REFUNDS}{refund_id}/assign/", body).status_code == 409
    assert post_json(client, of(order, "refund-quotes"), {"lines": [EARPHONES]}).status_code == 201


@pytest.mark.parametrize("who", ["ming", "ming2", "staff", "warehouse", "auditor"])
def test_without_the_permission_nothing_is_decided_booked_or_assigned(who: str) -> None:
    approval = proposed()
    order = approval.order
    client = signed_in(who)
    answers = [
        post_json(client, f"{APPROVALS}{approval.pk}/approve/"),
        post_json(client, f"{APPROVALS}{approval.pk}/reject/", {"reason": "不行"}),
        post_json(client, of(order, "refunds-elsewhere"), elsewhere(order)),
    ]
    assert {answer.status_code for answer in answers} <= {403, 404}
    approval.refresh_from_db()
    assert (approval.state, Refund.objects.count()) == ("waiting", 0)


@pytest.mark.parametrize("who", ["ming", "warehouse", "auditor"])
def test_without_the_permission_nothing_is_proposed(who: str) -> None:
    order, client = late_order(), signed_in(who)
    assert post_json(client, of(order, "compensations"), PROPOSAL).status_code == 403
    assert post_json(client, of(order, "overrides"), {"lines": [EARPHONES], "reason": "我要"}).status_code == 403
    assert not Approval.objects.exists()


def test_customers_see_no_questions_and_cannot_tell_missing_ones_from_others() -> None:
    approval, client = proposed(), signed_in("ming")
    assert client.get(APPROVALS).status_code == 403
    foreign, missing = client.get(f"{APPROVALS}{approval.pk}/"), client.get(f"{APPROVALS}ap_000000000000/")
    assert foreign.status_code == missing.status_code == 404
    assert foreign.json() == missing.json()
    assert Client().get(APPROVALS).status_code == 401


def test_the_list_is_filtered_by_state_kind_and_order() -> None:
    client, waiting = signed_in("auditor"), proposed("7606")
    rejected = proposed("7607")
    post_json(signed_in("supervisor"), f"{APPROVALS}{rejected.pk}/reject/", {"reason": "不行"})

    def found(query: str) -> list[str]:
        return [row["approval_id"] for row in client.get(f"{APPROVALS}?{query}").json()["results"]]

    assert found("") == [rejected.pk, waiting.pk]
    assert found("state=waiting") == [waiting.pk]
    assert found("order=7607&kind=compensation") == [rejected.pk]
    assert found("kind=override") == []
    for wrong in ("state=gone", "kind=gone"):
        answer = client.get(f"{APPROVALS}?{wrong}")
        assert (answer.status_code, answer.json()["field"]) == (400, wrong.partition("=")[0])


def test_the_list_costs_the_same_however_long_it_is(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    client = signed_in("auditor")
    for number in range(7610, 7616):
        proposed(str(number))
    with django_assert_max_num_queries(8):
        assert len(client.get(APPROVALS).json()["results"]) == 6


def test_the_openapi_page_describes_every_address_with_its_refusals() -> None:
    schema: Any = signed_in("staff").get("/api/v1/schema/?format=json").json()
    ours = ("/api/v1/approvals/", "compensations/", "overrides/", "refunds-elsewhere/", "/assign/")
    paths = {path: operations for path, operations in schema["paths"].items() if any(part in path for part in ours)}
    assert len(paths) == 8
    for path, operations in paths.items():
        for method, operation in operations.items():
            wanted = {"401", "404"} if method == "get" else {"400", "401", "403", "404", "409"}
            assert wanted <= set(operation["responses"]), path
