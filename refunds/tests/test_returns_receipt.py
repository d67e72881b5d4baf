"""What the warehouse finds, piece by piece: only accepted pieces are settled, the others are the customer's again."""

from typing import Any

import pytest
from django.utils import translation

from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent, OrderAnnouncement
from orders.tests import cast
from orders.tests.factories import fixed_discount, line_body, shipment_body
from refunds import approvals, returns
from refunds.acceptance import accept
from refunds.models import Refund, ReturnFinding
from refunds.present import return_as_dict
from refunds.states import RefundState, ReturnState
from refunds.tests.ask import ask
from refunds.tests.going_back import (
    earphones,
    received_return,
    requested_return,
    returned,
    states_of,
    warehouse,
)

pytestmark = pytest.mark.django_db


def found_rows() -> list[tuple[str, int]]:
    return list(ReturnFinding.objects.order_by("return_line", "pk").values_list("found", "quantity"))


def test_goods_that_nobody_found_fault_with_are_accepted_all_of_them() -> None:
    received_return(earphones(), (1, 3, "changed_mind"))
    assert found_rows() == [("accepted", 3)]


def test_two_returned_and_one_damaged_settles_one_and_the_other_stays_the_customers() -> None:
    order = earphones()
    request = received_return(order, (1, 2, "changed_mind"), found={"li_1": {"accepted": 1, "damaged": 1}})
    request = accept(return_id=request.pk, actor=warehouse())
    refund = Refund.objects.get()
    assert (refund.amount, refund.state) == (1200, RefundState.PENDING_APPROVAL)
    assert states_of(order) == {"delivered": 2, "refunded": 1}
    approvals.approve_refund(refund_id=refund.pk, actor=cast.staff("supervisor"), reason="只收回一副")
    request.refresh_from_db()
    assert request.state == ReturnState.REFUNDED


def test_the_amount_is_made_again_over_what_was_accepted_coupon_and_all() -> None:
    """3 × 500 with 150 off from 1,000: two back promise 850, one back keeps the coupon and comes to 500."""
    order = cast.place(
        "7802",
        lines=[line_body(1, "襪", 500, 3)],
        discounts=[fixed_discount(150, 1000)],
        shipments=[shipment_body({1: 3})],
    )
    request = requested_return(order, (1, 2, "changed_mind"))
    assert request.quote is not None
    assert request.quote.amount == 850
    returns.receive(return_id=request.pk, actor=warehouse(), found={"li_1": {"accepted": 1, "short": 1}})
    accept(return_id=request.pk, actor=warehouse())
    assert Refund.objects.get().amount == 500
    assert ask(order, (1, 2, "changed_mind")).amount == 850 - 80


def test_what_is_missing_or_other_goods_can_be_sent_back_later_and_comes_to_the_rest() -> None:
    order = earphones()
    found = {"li_1": {"accepted": 1, "short": 1, "wrong_item": 1}}
    accept(return_id=received_return(order, (1, 3, "defective"), found=found).pk, actor=warehouse())
    approvals.approve_refund(refund_id=Refund.objects.get().pk, actor=cast.staff("supervisor"))
    returned(order, (1, 2, "defective"))
    assert states_of(order) == {"refunded": 3}
    assert cast.payment(order).refunded_amount == 3600


def test_nothing_accepted_is_refused_with_the_way_out() -> None:
    order = earphones()
    request = received_return(order, (1, 2, "changed_mind"), found={"li_1": {"damaged": 2}})
    with translation.override("en"), pytest.raises(Refusal) as caught:
        accept(return_id=request.pk, actor=warehouse())
    assert (caught.value.code, caught.value.status) == ("nothing_accepted", 409)
    assert "Reject" in caught.value.hint
    assert not Refund.objects.exists()
    returns.reject(return_id=request.pk, actor=warehouse(), note="兩副都摔壞了")
    assert states_of(order) == {"delivered": 3}


@pytest.mark.parametrize(
    "found",
    [
        {"li_1": {"accepted": 1}},
        {"li_1": {"accepted": 3}},
        {"li_1": {"accepted": 3, "damaged": -1}},
        {"li_1": {"accepted": True, "damaged": 1}},
        {"li_1": {"accepted": 2.0}},
        {"li_1": {"stolen": 2}},
        {"li_1": {}},
    ],
)
def test_findings_come_to_what_was_announced_and_name_the_field(found: Any) -> None:
    request = requested_return(earphones(), (1, 2, "changed_mind"))
    with pytest.raises(InvalidInput) as caught:
        returns.receive(return_id=request.pk, actor=warehouse(), found=found)
    assert caught.value.field == "found.li_1"
    request.refresh_from_db()
    assert (request.state, found_rows()) == (ReturnState.REQUESTED, [])


def test_a_line_that_is_not_in_the_return_is_refused() -> None:
    request = requested_return(earphones(), (1, 2, "changed_mind"))
    with pytest.raises(InvalidInput) as caught:
        returns.receive(return_id=request.pk, actor=warehouse(), found={"li_7": {"accepted": 1}})
    assert caught.value.field == "found.li_7"


def test_a_receipt_is_corrected_before_the_goods_are_accepted_and_the_history_knows_both() -> None:
    order = earphones()
    request = received_return(order, (1, 2, "changed_mind"), found={"li_1": {"damaged": 2}})
    returns.receive(return_id=request.pk, actor=warehouse(), found={"li_1": {"accepted": 2}}, note="看錯了")
    assert found_rows() == [("accepted", 2)]
    event = AuditEvent.objects.get(action="return.corrected")
    assert event.outcome == {
        "state": "received",
        "before": {"li_1": {"damaged": 2}},
        "after": {"li_1": {"accepted": 2}},
    }
    accept(return_id=request.pk, actor=warehouse())
    assert Refund.objects.get().amount == 2400


def test_receiving_again_without_findings_or_with_the_same_changes_nothing() -> None:
    found = {"li_1": {"accepted": 1, "damaged": 1}}
    request = received_return(earphones(), (1, 2, "changed_mind"), found=found)
    events = AuditEvent.objects.count()
    returns.receive(return_id=request.pk, actor=warehouse())
    returns.receive(return_id=request.pk, actor=warehouse(), found=found)
    assert (found_rows(), AuditEvent.objects.count()) == ([("accepted", 1), ("damaged", 1)], events)


def test_what_was_accepted_cannot_be_corrected_any_more() -> None:
    request = returned(earphones(), (1, 2, "changed_mind"))
    with pytest.raises(Refusal) as caught:
        returns.receive(return_id=request.pk, actor=warehouse(), found={"li_1": {"damaged": 2}})
    assert caught.value.code == "wrong_state"


def test_pieces_of_two_parcels_are_one_line_to_whoever_opens_the_box() -> None:
    order = earphones(shipments=[shipment_body({1: 1}), shipment_body({1: 2}, external_id="s2")])
    request = received_return(order, (1, 3, "changed_mind"), found={"li_1": {"accepted": 2, "damaged": 1}})
    assert found_rows() == [("accepted", 1), ("accepted", 1), ("damaged", 1)]
    accept(return_id=request.pk, actor=warehouse())
    assert states_of(order) == {"refunded": 2, "delivered": 1}


def test_what_was_found_is_shown_and_told_to_the_shop(settings: Any) -> None:
    settings.ORDER_WEBHOOK_URL = "https://shop.example/hook"
    request = received_return(earphones(), (1, 2, "changed_mind"), found={"li_1": {"accepted": 1, "short": 1}})
    shown = [(each["name"], each["found"], each["quantity"]) for each in return_as_dict(request)["findings"]]
    assert shown == [("藍牙耳機", "accepted", 1), ("藍牙耳機", "short", 1)]
    told = OrderAnnouncement.objects.get(event="return.received")
    assert told.payload["found"] == {"li_1": {"accepted": 1, "short": 1}}
    assert [(line["sku"], line["quantity"]) for line in told.payload["lines"]] == [("EAR", 2)]


def test_a_smaller_refund_that_is_rejected_gives_the_customer_everything_back() -> None:
    order = earphones()
    request = received_return(order, (1, 2, "changed_mind"), found={"li_1": {"accepted": 1, "damaged": 1}})
    accept(return_id=request.pk, actor=warehouse())
    approvals.reject_refund(refund_id=Refund.objects.get().pk, actor=cast.staff("supervisor"), reason="全部寄回")
    request.refresh_from_db()
    assert (request.state, states_of(order)) == (ReturnState.REJECTED, {"delivered": 3})
    assert cast.payment(order).refunded_amount == 0
