"""Steps in words: one sentence for a reader, and one row per step for a card."""

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from django.utils import translation

from refunds.explain import _WORDS, explain, step_lines
from refunds.policy import Settlement, Shipping, StepCode
from refunds.tests.settled_order import PICKUP, SettledOrder, bundle, coupon, leaves, percent, terms

NAMES = {"li_1": "Earphones", "li_2": "Case", "li_3": "Cable"}
FREE_FROM_1000 = Shipping(charged=0, standard_fee=80, free_from=1000, waiver="threshold")


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


def stored(settlement: Settlement) -> list[dict[str, Any]]:
    """The steps as a quote stores them and gives them back."""
    steps: list[dict[str, Any]] = json.loads(json.dumps([step.as_json() for step in settlement.steps]))
    return steps


def sentence(settlement: Settlement, names: dict[str, str] = NAMES) -> str:
    return explain(stored(settlement), "TWD", names)


def rows(settlement: Settlement) -> list[tuple[str, str]]:
    return [(line["text"], line["display"]) for line in step_lines(stored(settlement), "TWD", NAMES)]


def earphones_and_case() -> SettledOrder:
    return SettledOrder(terms(1200, 380, discounts=[coupon(150, min_spend=1500)], shipping=PICKUP))


def test_the_coupon_that_no_longer_applies() -> None:
    assert sentence(earphones_and_case().cancel("li_2")) == (
        "Case NT$380 − coupon “滿 1,500 折 150” no longer applies NT$150 = NT$230"
    )


def test_its_row_says_where_the_coupon_starts_and_what_remains() -> None:
    assert rows(earphones_and_case().cancel("li_2")) == [
        ("Case", "NT$380"),
        ("coupon “滿 1,500 折 150” no longer applies: it starts at NT$1,500, and NT$1,200 remains", "−NT$150"),
    ]


def test_a_row_carries_its_code_and_amount() -> None:
    (_, row) = step_lines(stored(earphones_and_case().cancel("li_2")), "TWD", NAMES)
    assert (row["code"], row["amount"]) == ("coupon_lost", -150)


def test_everything_gives_the_coupon_back_with_its_goods() -> None:
    settlement = earphones_and_case().cancel("li_1", "li_2")
    assert sentence(settlement) == "Earphones, Case NT$1,580 − coupon “滿 1,500 折 150” NT$150 = NT$1,430"


def test_a_single_step_needs_no_sum() -> None:
    assert sentence(earphones_and_case().give_back("li_1", shop_fault=True)) == "Earphones NT$1,200"


def test_several_pieces_and_a_bundle() -> None:
    settlement = SettledOrder(terms((100, 4), discounts=[bundle(20, of=3)])).give_back(("li_1", 2))
    assert sentence(settlement) == ("Earphones × 2 NT$200 − bundle “3 件起每件折 20” no longer applies NT$80 = NT$120")
    assert rows(settlement)[1][0] == "bundle “3 件起每件折 20” no longer applies: it starts at 3, and 2 remain"


def test_a_percentage_that_leaves_with_its_goods() -> None:
    settlement = SettledOrder(terms(50, 50, discounts=[percent("10")])).give_back("li_1")
    assert sentence(settlement) == "Earphones NT$50 − its part of the discount “折 10%” NT$5 = NT$45"
    assert rows(settlement)[1] == ("its part of the discount “折 10%”, of which NT$5 stays", "−NT$5")


def test_a_second_return_with_coupon_shipping_and_fee() -> None:
    order = SettledOrder(terms(990, 790, 590, discounts=[coupon(100, min_spend=1000)], shipping=FREE_FROM_1000))
    order.give_back("li_2")
    settlement = order.give_back("li_3")
    assert sentence(settlement) == (
        "Cable NT$590 − coupon “滿 1,000 折 100” no longer applies NT$100 − shipping is no longer free NT$80"
        " − fee for return number 2 NT$80 = NT$330"
    )
    assert rows(settlement)[2][0] == "shipping is no longer free: it is free from NT$1,000, and NT$990 remains"


def test_shipping_that_goes_back() -> None:
    charged = Shipping(charged=80, standard_fee=80, free_from=None, waiver=None)
    settlement = SettledOrder(terms(500, shipping=charged)).give_back("li_1")
    assert sentence(settlement) == "Earphones NT$500 + shipping NT$80 = NT$580"
    assert rows(settlement)[1] == ("shipping, because nothing is kept", "NT$80")


def test_a_fee_that_the_amount_does_not_reach() -> None:
    order = SettledOrder(terms(500, 50))
    order.give_back("li_1")
    settlement = order.give_back("li_2")
    assert sentence(settlement) == "Case NT$50 − fee for return number 2 NT$50 = NT$0"
    assert rows(settlement)[1][0] == "fee for return number 2, normally NT$80; the rest is waived"


def test_never_a_bill_and_what_was_not_taken_is_told_later() -> None:
    order = SettledOrder(terms(100, 1500, discounts=[coupon(150, min_spend=1600)]))
    first, second = order.cancel("li_1"), order.cancel("li_2")
    assert sentence(first).endswith("no longer applies NT$150 + not charged NT$50 = NT$0")
    assert sentence(second) == "Case NT$1,500 − not taken earlier NT$50 = NT$1,450"


def test_what_is_still_due_from_earlier() -> None:
    order = SettledOrder(terms(500, 400), gone=leaves("li_1"), refunded=450)
    assert sentence(order.cancel("li_2")) == "Case NT$400 + still due from earlier NT$50 = NT$450"


def test_payments_that_have_less_left() -> None:
    settlement = SettledOrder(terms(500, 400), compensated=450).cancel("li_1")
    assert sentence(settlement) == "Earphones NT$500 − more than the payments have left NT$50 = NT$450"
    assert rows(settlement)[1][0] == "more than the payments have left, which is NT$450"


def test_a_discount_that_takes_off_more_than_before() -> None:
    order = SettledOrder(terms(100, 100, discounts=[coupon(150, min_spend=200), coupon(80)]))
    assert " + discount “滿 0 折 80” now takes off more NT$30" in sentence(order.cancel("li_1"))


def test_a_gift_gives_nothing_back() -> None:
    assert sentence(SettledOrder(terms(0, 100)).cancel("li_1")) == "Nothing is due: NT$0"


def test_a_sentence_can_begin_with_what_is_taken() -> None:
    steps = [{"code": "floor", "params": {}, "amount": -5}]
    assert explain(steps, "TWD", {}) == "−not charged NT$5"


def test_goods_without_a_name_go_by_their_number() -> None:
    assert sentence(earphones_and_case().give_back("li_1", shop_fault=True), names={}) == "li_1 NT$1,200"


def test_a_name_is_data_and_no_format() -> None:
    names = {"li_1": "100% cotton %(amount)s {total}"}
    order = SettledOrder(terms((100, 2)))
    assert sentence(order.cancel(("li_1", 2)), names) == "100% cotton %(amount)s {total} × 2 NT$200"


def test_currencies_with_decimals() -> None:
    assert explain(stored(SettledOrder(terms(600)).cancel("li_1")), "USD", NAMES) == "Earphones US$6.00"


def test_every_step_has_words() -> None:
    assert set(_WORDS) == set(get_args(StepCode))


def test_a_step_that_is_none_of_ours_is_refused() -> None:
    with pytest.raises(KeyError, match="gift"):
        explain([{"code": "gift", "params": {}, "amount": 1}], "TWD", {})
