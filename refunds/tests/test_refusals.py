"""Every refusal says what is wrong in the customer's words and what to do instead."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone, translation

from orders.errors import InvalidInput, Refusal
from orders.models import LineItem, Order, Payment
from orders.shipments import pack_order, ship
from orders.tests import cast
from orders.tests.factories import payment_body, shipment_body
from refunds.models import Refund
from refunds.redeem import redeem
from refunds.states import RefundState
from refunds.tests.ask import ask
from refunds.tests.old_rules import published_long_ago

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def in_english() -> Any:
    with translation.override("en"):
        yield


def refused(code: str, act: Callable[[], Any]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act()
    assert caught.value.code == code
    assert caught.value.message
    assert caught.value.hint
    return caught.value


def packed_order() -> Order:
    order = cast.order_5531()
    pack_order(order=order, actor=cast.staff("warehouse"), carrier="黑貓")
    return order


def test_packed_goods_are_being_prepared_and_can_be_returned_after_receipt() -> None:
    refusal = refused("line_in_fulfilment", lambda: ask(packed_order(), (2, 1, "late_delivery")))
    assert "being prepared" in refusal.message
    assert "within 7 days" in refusal.hint


def test_shipped_goods_can_be_tracked_and_the_day_on_which_they_count_as_lost_is_named() -> None:
    order = packed_order()
    parcel = order.shipments.get(state="packed")
    ship(shipment=parcel, actor=cast.staff("warehouse"), tracking_number="TN-9")
    refusal = refused("line_in_transit", lambda: ask(order, (2, 1, "late_delivery")))
    assert "TN-9" in refusal.hint
    assert "counts as lost" in refusal.hint


def test_after_the_window_a_person_decides_and_the_last_day_is_named() -> None:
    order = cast.order_5531()
    cast.delivered_days_ago(order, 9)
    refusal = refused("return_window_over", lambda: ask(order, (1, 1, "changed_mind")))
    assert str((timezone.localdate() - timedelta(days=2)).day) in refusal.message
    assert "person" in refusal.hint


def test_what_is_already_cancelled_names_the_earlier_day_amount_and_number() -> None:
    order = cast.order_5531()
    refund = redeem(quote_id=ask(order, (2, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    refusal = refused("already_cancelled", lambda: ask(order, (2, 1, "other")))
    assert "NT$230" in refusal.message
    assert refund.pk in refusal.message
    assert refusal.details == {
        "line_item_id": "li_2",
        "refund_id": refund.pk,
        "amount": 230,
        "date": timezone.localdate().isoformat(),
        "state": "pending",
    }


@pytest.mark.parametrize(
    ("state", "message", "hint"),
    [
        (RefundState.PENDING, "On its way to the payment provider", "Wait until it has arrived"),
        (RefundState.PENDING_APPROVAL, "Waiting for a second person", "Nothing has been paid yet"),
        (RefundState.UNKNOWN, "Being checked", "Nobody knows yet"),
        (RefundState.FAILED, "The payment provider refused it", "A person of the shop sees to it"),
        (RefundState.SUCCEEDED, "was already cancelled", "Look at that refund"),
    ],
)
def test_what_is_already_cancelled_says_where_its_money_really_is(state: RefundState, message: str, hint: str) -> None:
    order = cast.order_5531()
    refund = redeem(quote_id=ask(order, (2, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    Refund.objects.filter(pk=refund.pk).update(state=state)

    refusal = refused("already_cancelled", lambda: ask(order, (2, 1, "other")))

    assert (message in refusal.message, hint in refusal.hint, refusal.details["state"]) == (True, True, state)
    if state != RefundState.SUCCEEDED:
        assert "was already" not in refusal.message


def test_what_is_already_refunded_names_the_earlier_refund() -> None:
    order = cast.order_5531(shipments=[shipment_body({1: 1}), shipment_body({2: 1}, external_id="s2", state="lost")])
    refund = redeem(quote_id=ask(order, (2, 1, "lost")).pk, actor=cast.shopper()).refund
    assert refund is not None
    assert refund.pk in refused("already_refunded", lambda: ask(order, (2, 1, "lost"))).message


def test_what_is_already_being_returned_names_the_return() -> None:
    order = cast.order_5531()
    request = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).return_request
    assert request is not None
    assert request.pk in refused("already_returning", lambda: ask(order, (1, 1, "defective"))).message


def test_goods_that_need_different_actions_are_split_with_the_cancellation_first() -> None:
    refusal = refused("mixed_actions", lambda: ask(cast.order_5531(), (1, 1, "changed_mind"), (2, 1, "other")))
    assert [part["action"] for part in refusal.details["split"]] == ["cancel", "return"]
    assert refusal.hint.index("耳機殼") < refusal.hint.index("藍牙耳機")


def test_a_line_in_two_places_asks_which_pieces_are_meant() -> None:
    order = cast.place("6701", lines=[("襪", 100, 2)], shipments=[shipment_body({1: 1})])
    refusal = refused("ambiguous_action", lambda: ask(order, (1, 1, "changed_mind")))
    assert refusal.details["options"] == {"cancel": 1, "return": 1}
    assert ask(order, (1, 1, "changed_mind", "cancel")).action == "cancel"
    assert ask(order, (1, 1, "changed_mind", "return")).action == "return"


def test_partly_packed_goods_say_how_many_can_still_be_cancelled() -> None:
    order = cast.place("6702", lines=[("襪", 100, 3)], shipments=[shipment_body({1: 2}, state="packed")])
    refusal = refused("line_in_fulfilment", lambda: ask(order, (1, 3, "other")))
    assert "Only 1" in refusal.hint
    assert ask(order, (1, 1, "other")).amount == 100


def test_excluded_goods_can_only_be_returned_when_they_are_defective() -> None:
    order = cast.order_5531()
    published_long_ago(excluded_categories=["audio"])
    refusal = refused("excluded_category", lambda: ask(order, (1, 1, "changed_mind")))
    assert "unless the shop is at fault (defective, wrong item)" in refusal.message
    assert ask(order, (1, 1, "defective")).amount == 1200


def test_cash_on_delivery_needs_a_person() -> None:
    order = cast.place("6703", payments=[payment_body(1580, method="cash_on_delivery", last4="")])
    refused("needs_a_person", lambda: ask(order, (2, 1, "other")))


def test_cash_on_delivery_beside_a_card_that_has_enough_needs_nobody() -> None:
    payments = [
        payment_body(1000),
        payment_body(580, external_id="p2", method="cash_on_delivery", last4=""),
    ]
    order = cast.place("6704", payments=payments)
    assert ask(order, (2, 1, "other")).amount == 380
    refused("needs_a_person", lambda: ask(order, (1, 1, "other")))


def test_a_currency_without_a_policy_needs_a_person() -> None:
    order = cast.place("6705", currency="JPY")
    refused("no_policy", lambda: ask(order, (2, 1, "other")))


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ((9, 1, "other"), "lines[0].line_item_id"),
        ((2, 2, "other"), "lines[0].quantity"),
        ((2, 1, "other", "return"), "lines[0].action"),
        ((2, 1, "shop_cancelled"), "lines[0].reason"),
        ((2, 1, "lost"), "lines[0].reason"),
        ((1, 1, "lost"), "lines[0].reason"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(asked: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        ask(cast.order_5531(), asked)
    assert caught.value.field == field


def test_the_same_line_twice_cannot_exceed_what_is_there() -> None:
    order = cast.place("6706", lines=[("襪", 100, 3)])
    assert ask(order, (1, 2, "other"), (1, 1, "changed_mind")).amount == 300
    with pytest.raises(InvalidInput) as caught:
        ask(order, (1, 2, "other"), (1, 2, "changed_mind"))
    assert caught.value.field == "lines[1].quantity"


def test_staff_cannot_call_a_return_cancelled_by_the_shop() -> None:
    with pytest.raises(InvalidInput):
        ask(cast.order_5531(), (1, 1, "shop_cancelled"), actor=cast.staff())


def test_an_order_that_is_fully_refunded_says_so_and_nothing_happens() -> None:
    order = cast.place("6707", lines=[("書", 100, 1)])
    redeem(quote_id=ask(order, (1, 1, "other")).pk, actor=cast.shopper())
    before = list(Payment.objects.values()), list(LineItem.objects.values())
    refused("already_cancelled", lambda: ask(order, (1, 1, "other")))
    assert before == (list(Payment.objects.values()), list(LineItem.objects.values()))
