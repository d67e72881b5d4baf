"""Exchanges, new parcels and exceptions name no action: what they are refused for speaks of goods, in words."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import translation

from orders.errors import InvalidInput, Refusal
from orders.links import issue_link
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import payment_body, shipment_body
from refunds import approvals, compensation, errors, overrides
from refunds.exchange_check import check_exchange
from refunds.resend_check import check_resend
from refunds.tests.ask import Asked, ask, choices
from refunds.tests.going_back import lost_earphones, own_stock

pytestmark = pytest.mark.django_db


def exchange(order: Order, *asked: Asked) -> object:
    return check_exchange(order, choices(*asked))


def send_again(order: Order, *asked: Asked) -> object:
    return check_resend(order, choices(*asked))


def exception(order: Order, *asked: Asked) -> object:
    return overrides.preview(order=order, choices=choices(*asked), actor=cast.staff())


def refused(order: Order, *asked: Asked, by: Callable[..., object]) -> InvalidInput:
    with translation.override("en"), pytest.raises(InvalidInput) as caught:
        by(order, *asked)
    return caught.value


def earphones(**parcel: Any) -> Order:
    return cast.place("7731", lines=[("藍牙耳機", 1200, 2)], shipments=[shipment_body({1: 2}, **parcel)])


@pytest.mark.parametrize(
    ("parcel", "by", "instead"),
    [
        ({"state": "lost"}, exchange, "refund as lost, send again"),
        ({"state": "lost"}, exception, "refund as lost, send again"),
        ({}, send_again, "return, exchange"),
    ],
    ids=["exchange of lost goods", "exception for lost goods", "new parcel for what has arrived"],
)
def test_what_does_not_fit_where_the_goods_are_names_the_line_and_what_can_be_done(
    parcel: dict[str, Any], by: Callable[..., object], instead: str
) -> None:
    refusal = refused(earphones(**parcel), (1, 1, "defective"), by=by)
    assert (refusal.field, refusal.hint) == ("lines[0].line_item_id", f"What can be asked for it: {instead}.")
    assert "“藍牙耳機”" in refusal.message


def test_where_only_some_pieces_can_be_exchanged_it_is_the_quantity_that_does_not_fit() -> None:
    parcels = [shipment_body({1: 1}, external_id="s1"), shipment_body({1: 1}, external_id="s2", state="lost")]
    order = cast.place("7732", lines=[("藍牙耳機", 1200, 2)], shipments=parcels)
    refusal = refused(order, (1, 2, "defective"), by=exchange)
    assert (refusal.field, "only 1" in refusal.message) == ("lines[0].quantity", True)


def test_goods_that_can_take_nothing_now_are_named_by_their_entry_too() -> None:
    order = cast.place("7736", lines=[("殼", 300, 1), ("藍牙耳機", 1200, 2)], shipments=[shipment_body({1: 1, 2: 2})])
    order.shipments.update(state="shipped", delivered_at=None)
    with pytest.raises(Refusal) as caught:
        exchange(order, (2, 1, "defective"))
    assert (caught.value.code, caught.value.field) == ("line_in_transit", "lines[0].line_item_id")


def test_a_line_that_is_named_twice_for_more_than_there_is_is_said_to_be_named_twice() -> None:
    refusal = refused(earphones(), (1, 2, "other"), (1, 1, "defective"), by=ask)
    assert (refusal.field, "named twice" in refusal.message) == ("lines[1].quantity", True)


@translation.override("en")
def test_what_is_sent_again_is_the_same_so_no_other_product_is_offered_where_it_is_out_of_stock() -> None:
    order = lost_earphones(1)
    own_stock(0)
    with pytest.raises(Refusal) as caught:
        check_resend(order, choices((1, 1, "lost")))
    assert (caught.value.code, "another product" in caught.value.hint) == ("out_of_stock", False)


@translation.override("en")
def test_a_person_of_the_shop_is_told_what_to_do_where_others_are_told_to_let_one_take_over() -> None:
    order = cast.place("7733", payments=[payment_body(1580, method="cash_on_delivery", last4="")])
    hints = []
    for actor in (cast.shopper(), cast.staff()):
        with pytest.raises(Refusal) as caught:
            ask(order, (2, 1, "other"), actor=actor)
        hints.append((caught.value.code, caught.value.hint))
    assert hints == [
        ("needs_a_person", "Let a person of the shop take over: they arrange the transfer."),
        ("needs_a_person", "Pay it back by transfer or in cash, and then book that as a refund made elsewhere."),
    ]


@translation.override("en")
def test_only_who_has_made_a_customers_link_is_told_that_this_is_why_they_cannot_decide() -> None:
    boss = cast.staff("supervisor")
    said = []
    for number in ("7734", "7735"):
        order = cast.place(number)
        asked = compensation.propose(order=order, amount=100, reason="遲到", actor=boss, request_ref=number)
        if number == "7735":
            issue_link(order=order, actor=boss)
        with pytest.raises(Refusal) as caught:
            approvals.approve(approval_id=asked.pk, actor=boss)
        said.append((caught.value.code, "link" in caught.value.message))
    assert said == [("own_decision", False), ("own_decision", True)]


@translation.override("en")
def test_what_is_not_possible_yet_is_not_said_to_be_possible_no_more() -> None:
    assert "any more" not in errors.wrong_state("rt_1 (asked for)").message
