"""The limit above which a second person decides is the order's: asking in parts does not go around it."""

from functools import partial

import pytest
from django.utils import translation

from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from orders.tests.race import at_once
from refunds import approvals, compensation, elsewhere
from refunds.acceptance import accept
from refunds.models import Refund, RefundPolicy
from refunds.policy_examples import examples
from refunds.redeem import redeem
from refunds.second_person import given_alone
from refunds.states import ApprovalKind, RefundState
from refunds.tests.ask import ask
from refunds.tests.going_back import received_return, returned, warehouse

pytestmark = pytest.mark.django_db
WAITS, SENT = RefundState.PENDING_APPROVAL, RefundState.PENDING


def order_of(price: int, quantity: int, number: str = "6701") -> Order:
    """Not packed; version 1 asks a second person above 20,000."""
    return cast.place(number, lines=[("相機", price, quantity), ("電池", 100, 3)])


def cancelled(order: Order, position: int = 1, quantity: int = 1, *, who: str = "ming") -> Refund:
    actor = cast.shopper() if who == "ming" else cast.staff(who)
    refund = redeem(quote_id=ask(order, (position, quantity, "other"), actor=actor).pk, actor=actor, note="來電").refund
    assert refund is not None
    return refund


def yes(refund: Refund) -> None:
    approvals.approve_refund(refund_id=refund.pk, actor=cast.staff("supervisor"), reason="查證過")


@pytest.mark.parametrize("who", ["ming", "staff", "admin"])
def test_what_brings_the_order_above_the_limit_waits_whoever_confirms_it(who: str) -> None:
    order = order_of(10_000, 4)
    assert [cancelled(order, who=who).state for _ in range(3)] == [SENT, SENT, WAITS]
    assert given_alone(order) == 20_000


def test_different_people_who_confirm_count_together() -> None:
    order = order_of(10_001, 2)
    assert [cancelled(order, who=who).state for who in ("ming", "staff")] == [SENT, WAITS]


def test_after_the_limit_is_used_up_the_smallest_refund_waits_and_one_of_nothing_does_not() -> None:
    order = cast.place("6702", lines=[("相機", 20_000, 1), ("電池", 100, 1), ("贈品", 0, 1)])
    assert [cancelled(order, position).state for position in (1, 2)] == [SENT, WAITS]
    assert cancelled(order, 3).state == RefundState.SUCCEEDED


def test_what_a_second_person_has_approved_does_not_use_up_the_limit() -> None:
    order = order_of(20_001, 1)
    large = cancelled(order)
    assert (large.state, given_alone(order)) == (WAITS, 0)
    assert cancelled(order, 2).state == SENT
    yes(large)
    assert (cancelled(order, 2).state, given_alone(order)) == (SENT, 200)


def test_what_was_rejected_gives_nothing_back_and_uses_up_nothing() -> None:
    order = order_of(15_000, 2)
    cancelled(order)
    approvals.reject_refund(refund_id=cancelled(order).pk, actor=cast.staff("supervisor"), reason="不符規定")
    assert (given_alone(order), cancelled(order, 2).state, cancelled(order).state) == (15_000, SENT, WAITS)


def test_returns_count_with_cancellations_when_their_goods_are_accepted() -> None:
    order = cast.place("6703", lines=[("相機", 15_000, 1), ("鏡頭", 12_000, 1)], shipments=[shipment_body({2: 1})])
    cancelled(order)
    request = returned(order, (2, 1, "changed_mind"))
    assert (request.state, Refund.objects.get(return_request=request).state) == ("accepted", WAITS)


def test_another_order_has_a_limit_of_its_own() -> None:
    assert [cancelled(order_of(20_000, 1, number)).state for number in ("6704", "6705")] == [SENT, SENT]


def test_neither_compensation_nor_what_was_paid_elsewhere_is_in_it() -> None:
    order = order_of(20_000, 2)
    asked = compensation.propose(order=order, amount=100, reason="遲到", actor=cast.staff(), request_ref="call_1")
    approvals.approve(approval_id=asked.pk, actor=cast.staff("supervisor"), reason="合理")
    lines = [{"line_item_id": "li_1", "quantity": 1}]
    facts = {
        "external_ref": "T1",
        "amount": 5_000,
        "payment_id": cast.payment(order).pk,
        "note": "匯款",
        "lines": lines,
    }
    elsewhere.record(order=order, body=facts, actor=cast.staff("supervisor"))
    assert given_alone(order) == 0


def test_the_question_is_about_the_amount_and_says_what_went_before() -> None:
    order = order_of(15_000, 2)
    cancelled(order)
    asked = cancelled(order).approval
    assert (asked.kind, asked.amount) == (ApprovalKind.AMOUNT, 15_000)
    event = AuditEvent.objects.get(action="approval.waiting", subject_id=asked.pk)
    assert (event.computed["given_alone"], event.computed["approval_above"]) == (15_000, 20_000)


@pytest.mark.django_db(transaction=True)
def test_two_returns_that_are_accepted_at_the_same_moment_count_together() -> None:
    order = cast.place("6706", lines=[("相機", 15_000, 2)], shipments=[shipment_body({1: 2})])
    requests = [received_return(order, (1, 1, "changed_mind")).pk for _ in range(2)]
    actor = warehouse()
    at_once([partial(accept, return_id=key, actor=actor) for key in requests])
    assert sorted(Refund.objects.values_list("state", flat=True)) == [SENT, WAITS]


def test_the_examples_of_a_version_count_the_same_way() -> None:
    policy = RefundPolicy.objects.get(currency="TWD", version=1)
    policy.approval_above = 1_000
    with translation.override("en"):
        first, second, *_ = examples(policy, None)
    assert (first.now.notes, second.now.notes) == ((), ("Waits for a second person.",))
