"""What may be asked for every unit, told before anybody asks: each unit once, with its reason where nothing may."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone, translation

from orders.errors import Refusal
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import line_body, shipment_body
from refunds.eligibility_report import what_may_be_asked
from refunds.redeem import redeem
from refunds.tests.ask import ask
from refunds.tests.browser import signed_in
from refunds.tests.going_back import (
    earphones,
    exchange,
    exchanged,
    lost_earphones,
    product,
    requested_return,
    returned,
    sent_again,
)
from refunds.tests.old_rules import published_long_ago

pytestmark = pytest.mark.django_db


def units(order: Order, position: int = 1, *, days: int = 0) -> list[dict[str, Any]]:
    now = timezone.now() + timedelta(days=days)
    found: list[dict[str, Any]] = what_may_be_asked(order, now)[position - 1]["units"]
    assert sum(each["quantity"] for each in found) == cast.line(order, position).quantity
    return found


def the_one(order: Order, position: int = 1, **options: Any) -> dict[str, Any]:
    (found,) = units(order, position, **options)
    return found


def test_what_is_not_packed_can_be_cancelled() -> None:
    told = the_one(cast.order_5531(), 2)
    assert (told["state"], told["can"], told["refusal"], told["until"]) == ("unfulfilled", ["cancel"], None, None)


def test_what_was_delivered_can_come_back_until_the_end_of_the_window() -> None:
    order = earphones(1)
    told = the_one(order)
    delivered_at = cast.shipment(order).delivered_at
    assert delivered_at is not None
    assert told["can"] == ["return", "exchange"]
    assert told["until"] == (timezone.localdate(delivered_at) + timedelta(days=7)).isoformat()


def test_after_the_window_a_person_decides() -> None:
    with translation.override("en"):
        told = the_one(earphones(1), days=10)
    assert (told["state"], told["can"], told["refusal"]["code"]) == ("window_over", [], "return_window_over")
    assert "person" in told["refusal"]["hint"]


@pytest.mark.parametrize(("state", "code"), [("packed", "line_in_fulfilment"), ("shipped", "line_in_transit")])
def test_what_has_not_arrived_is_waited_for(state: str, code: str) -> None:
    told = the_one(earphones(1, shipments=[shipment_body({1: 1}, state=state)]))
    assert (told["can"], told["refusal"]["code"]) == ([], code)


def test_lost_goods_are_refunded_or_sent_again() -> None:
    assert the_one(lost_earphones(1))["can"] == ["lost", "resend"]


def test_an_excluded_category_comes_back_only_through_the_shops_fault() -> None:
    published_long_ago(excluded_categories=["hygiene"])
    lines = [line_body(1, "耳塞", 300, category="hygiene"), line_body(2, "盒", 100)]
    order = cast.place("7804", lines=lines, shipments=[shipment_body({1: 1, 2: 1})])
    told = the_one(order)
    assert (told["can"], told["only_for"]) == (["return", "exchange"], ["defective", "wrong_item"])
    assert told["refusal"]["code"] == "excluded_category"
    assert (the_one(order, 2)["only_for"], the_one(order, 2)["refusal"]) == ([], None)


def test_what_is_under_way_or_over_names_what_took_it() -> None:
    order = earphones(5)
    refunded = returned(order, (1, 1, "changed_mind"))
    request = requested_return(order, (1, 1, "changed_mind"))
    swapped = exchange(order)
    told = {each["state"]: each for each in units(order)}
    assert told["delivered"]["quantity"] == 2
    assert refunded.refund_id in told["refunded"]["refusal"]["message"]
    assert request.pk in told["returning"]["refusal"]["message"]
    assert swapped.pk in told["exchanging"]["refusal"]["message"]
    assert [told[state]["can"] for state in ("returning", "exchanging", "refunded")] == [[], [], []]


def test_what_is_being_sent_again_names_its_replacement() -> None:
    order = lost_earphones(2)
    replacement = sent_again(order, (1, 1, "lost"))
    told = {each["state"]: each for each in units(order)}
    assert (told["resending"]["can"], told["lost"]["can"]) == ([], ["lost", "resend"])
    assert told["resending"]["refusal"]["code"] == "already_resending"
    assert replacement.pk in told["resending"]["refusal"]["message"]


def test_cancelled_units_name_their_refund() -> None:
    order = cast.order_5531()
    refund = redeem(quote_id=ask(order, (2, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    assert refund.pk in the_one(order, 2)["refusal"]["message"]


def test_a_replacement_is_told_of_by_its_own_name_and_its_own_day() -> None:
    order = earphones(1)
    cast.delivered_days_ago(order, 6)
    product()
    exchanged(order, product_id="EAR-RED")
    told = the_one(order)
    assert (told["name"], told["can"]) == ("藍牙耳機 紅", ["return", "exchange"])
    assert told["until"] == (timezone.localdate() + timedelta(days=7)).isoformat()


def test_without_a_policy_nothing_can_be_told() -> None:
    order = earphones(1)
    Order.objects.filter(pk=order.pk).update(currency="JPY")
    with pytest.raises(Refusal) as caught:
        what_may_be_asked(Order.objects.get(pk=order.pk), timezone.now())
    assert caught.value.code == "no_policy"


class TestByApi:
    def test_the_customer_and_staff_read_it_and_others_do_not(self) -> None:
        cast.order_5531()
        address = "/api/v1/orders/5531/returns/eligibility/"
        for who in ("ming", "staff", "warehouse", "auditor"):
            answer = signed_in(who).get(address)
            assert answer.status_code == 200
            body = answer.json()
            assert body["order_number"] == "5531"
            assert [line["line_item_id"] for line in body["lines"]] == ["li_1", "li_2"]
        assert signed_in("ming2").get(address).status_code == 404
