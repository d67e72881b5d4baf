"""Goods of an excluded category do not come back but for the shop's fault: what counts is what is really there."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from django.utils import timezone, translation

from orders.errors import Refusal
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import ago, line_body, shipment_body
from refunds import returns
from refunds.acceptance import accept
from refunds.eligibility_report import what_may_be_asked
from refunds.exchange_check import Unit, check_exchange
from refunds.models import Refund
from refunds.tests.ask import Asked, ask, choices
from refunds.tests.going_back import (
    earphones,
    exchange,
    exchanged,
    product,
    received_return,
    states_of,
    warehouse,
)
from refunds.tests.old_rules import published_long_ago

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_hygiene_goods_back() -> None:
    published_long_ago(excluded_categories=["hygiene"])


def earplugs(**changes: Any) -> Order:
    bought = line_body(1, "耳塞", 1200, category="hygiene", sku="BUDS")
    return cast.place("7803", **{"lines": [bought], "shipments": [shipment_body({1: 1})], **changes})


def swapped_for_earplugs(quantity: int = 1) -> Order:
    """Earphones of which one was exchanged for earplugs of the same price."""
    order = earphones(quantity)
    product("BUDS", name="耳塞", category="hygiene")
    exchanged(order, product_id="BUDS")
    return order


def refusal_of(order: Order, *asked: Asked, by: Callable[..., Any] = ask) -> Refusal:
    with translation.override("en"), pytest.raises(Refusal) as caught:
        by(order, *asked)
    return caught.value


def check(order: Order, *asked: Asked) -> list[Unit]:
    return check_exchange(order, choices(*asked))


def test_they_are_neither_returned_nor_exchanged_unless_they_are_defective() -> None:
    order = earplugs()
    for by in (ask, check):
        assert refusal_of(order, (1, 1, "changed_mind"), by=by).code == "excluded_category"
    assert ask(order, (1, 1, "defective")).amount == 1200
    assert len(check(order, (1, 1, "defective"))) == 1


def test_they_can_be_cancelled_before_they_are_packed() -> None:
    assert ask(earplugs(shipments=[]), (1, 1, "changed_mind")).action == "cancel"


def test_goods_that_came_in_exchange_count_by_their_own_category() -> None:
    refusal = refusal_of(swapped_for_earplugs(), (1, 1, "changed_mind"))
    assert refusal.code == "excluded_category"
    assert "耳塞" in refusal.message


def test_and_what_they_replaced_does_not_count_any_more() -> None:
    order = earplugs()
    product("EAR-RED", category="audio")
    exchanged(order, (1, 1, "defective"), product_id="EAR-RED")
    assert ask(order, (1, 1, "changed_mind")).amount == 1200


def test_of_a_line_with_both_those_come_back_that_may() -> None:
    order = swapped_for_earplugs(3)
    assert ask(order, (1, 2, "changed_mind")).amount == 2400
    assert ask(order, (1, None, "changed_mind")).amount == 2400
    assert refusal_of(order, (1, 3, "changed_mind")).code == "excluded_category"
    assert refusal_of(order, (1, 2, "changed_mind"), (1, 1, "other")).code == "excluded_category"
    assert ask(order, (1, 3, "defective")).amount == 3600


@pytest.mark.parametrize("asked", list(permutations([(1, 1, "changed_mind"), (1, 1, "defective"), (1, 1, "other")])))
def test_and_it_does_not_matter_in_which_order_the_reasons_are_told(asked: tuple[Asked, ...]) -> None:
    """Two earphones and one pair of earplugs: only the claim can be about the earplugs."""
    quote = ask(swapped_for_earplugs(3), *asked)
    assert quote.amount == 3600
    assert [line.reason for line in quote.lines.order_by("pk")] == [reason for *_, reason in asked]
    claimed = [line.shipment_line for line in quote.lines.filter(reason="defective")]
    assert [there and there.category for there in claimed] == ["hygiene"]


def test_what_may_be_asked_is_told_of_each_by_itself() -> None:
    (line,) = what_may_be_asked(swapped_for_earplugs(2), timezone.now())
    told = {each["name"]: each["only_for"] for each in line["units"]}
    assert told == {"藍牙耳機": [], "耳塞": ["defective", "wrong_item"]}


def test_on_acceptance_too_a_claim_that_does_not_show_goes_to_a_second_person() -> None:
    request = received_return(swapped_for_earplugs(), (1, 1, "defective"))
    accept(return_id=request.pk, actor=warehouse(), found={"li_1": "changed_mind"})
    assert Refund.objects.get().state == "pending_approval"


def test_and_is_not_exchanged_once_more() -> None:
    order = swapped_for_earplugs()
    request = exchange(order, ref="card_2")
    returns.receive(return_id=request.pk, actor=warehouse())
    with translation.override("en"), pytest.raises(Refusal) as caught:
        accept(return_id=request.pk, actor=warehouse(), found={"li_1": "changed_mind"})
    assert caught.value.code == "claim_refuted"
    assert "耳塞" in caught.value.message
    assert states_of(order) == {"exchanging": 1}


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (["defective", "wrong_item", "lost"], "(defective, wrong item)"),
        (["wrong_item", "lost"], "(wrong item)"),
        (["lost"], "cannot be returned."),
    ],
)
def test_what_would_be_the_shops_fault_is_told_as_the_policy_has_it(faults: list[str], said: str) -> None:
    later = {"version": 3, "in_force_from": ago(days=29)}
    published_long_ago(excluded_categories=["hygiene"], shop_fault_reasons=faults, **later)
    refusal = refusal_of(earplugs(), (1, 1, "other"))
    assert (refusal.code, said in refusal.message) == ("excluded_category", True)


@pytest.mark.parametrize("named", ["Hygiene", "hygiene ", " HYGIENE"])
def test_a_category_is_the_same_however_its_name_is_capitalised_and_spaced(named: str) -> None:
    published_long_ago(version=3, in_force_from=ago(days=29), excluded_categories=[named])
    assert refusal_of(earplugs(), (1, 1, "other")).code == "excluded_category"
    bought = line_body(1, "耳塞", 1200, category="HyGiene", sku="BUDS")
    order = cast.place("7804", lines=[bought], shipments=[shipment_body({1: 1})])
    (line,) = what_may_be_asked(order, timezone.now())
    assert refusal_of(order, (1, 1, "other")).code == "excluded_category"
    assert line["units"][0]["refusal"]["code"] == "excluded_category"


def test_staff_are_told_to_ask_for_an_exception_and_customers_that_staff_decide() -> None:
    refusal = refusal_of(earplugs(), (1, 1, "other"))
    assert "A person of the shop decides" in refusal.hint
    assert "Ask for an exception" in refusal.told_to(staff=True).hint
