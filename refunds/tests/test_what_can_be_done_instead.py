"""Exchanges, new parcels and exceptions name no action: what they are refused for speaks of goods, in words."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import translation

from orders.errors import InvalidInput
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import overrides
from refunds.exchange_check import check_exchange
from refunds.resend_check import check_resend
from refunds.tests.ask import Asked, ask, choices

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


def test_a_line_that_is_named_twice_for_more_than_there_is_is_said_to_be_named_twice() -> None:
    refusal = refused(earphones(), (1, 2, "other"), (1, 1, "defective"), by=ask)
    assert (refusal.field, "named twice" in refusal.message) == ("lines[1].quantity", True)
