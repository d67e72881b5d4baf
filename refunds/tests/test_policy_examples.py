"""The worked examples of docs/money.md, and the kinds of mistakes that other shops' refunds were reported for."""

import json
from typing import Any

import pytest

from refunds.policy import Departure, Ledger, PolicyError, Rules, Shipping, Step, price, settle
from refunds.tests.settled_order import (
    NO_FEE,
    PICKUP,
    SettledOrder,
    bundle,
    coupon,
    leaves,
    percent,
    sums,
    terms,
)

FREE_FROM_1000 = Shipping(charged=0, standard_fee=80, free_from=1000, waiver="threshold")
CHARGED_80 = Shipping(charged=80, standard_fee=80, free_from=1000, waiver=None)


def earphones_and_case() -> SettledOrder:
    """Order 5531: earphones li_1, case li_2, a coupon, store pick-up."""
    return SettledOrder(terms(1200, 380, discounts=[coupon(150, min_spend=1500)], shipping=PICKUP))


def three_to_the_door() -> SettledOrder:
    discounts = [coupon(100, min_spend=1000)]
    return SettledOrder(terms(990, 790, 590, discounts=discounts, shipping=FREE_FROM_1000))


class TestWorkedExamples:
    def test_the_whole_order_was_paid_with_1430(self) -> None:
        assert price(earphones_and_case().terms, ()).total == 1430

    def test_cancelling_the_case_takes_the_coupon_back(self) -> None:
        settlement = earphones_and_case().cancel("li_2")
        assert settlement.amount == 230
        assert sums(settlement) == [("returned_goods", 380), ("coupon_lost", -150)]

    def test_everything_in_one_request_is_everything_paid(self) -> None:
        assert earphones_and_case().cancel("li_1", "li_2").amount == 1430

    def test_returning_the_earphones_for_a_change_of_mind_takes_the_coupon_back(self) -> None:
        settlement = earphones_and_case().give_back("li_1")
        assert (settlement.amount, settlement.fee, settlement.counts_as_return) == (1050, 0, True)

    def test_returning_defective_earphones_leaves_the_coupon(self) -> None:
        settlement = earphones_and_case().give_back("li_1", shop_fault=True)
        assert (settlement.amount, settlement.counts_as_return) == (1200, False)

    def test_a_coupon_is_taken_back_once(self) -> None:
        order = earphones_and_case()
        order.cancel("li_2")
        assert order.give_back("li_1", shop_fault=True).amount == 1200

    def test_what_stays_above_both_thresholds_keeps_both(self) -> None:
        order = three_to_the_door()
        assert order.paid == 2270
        assert sums(order.give_back("li_2")) == [("returned_goods", 790)]

    def test_the_second_return_loses_the_coupon_and_free_shipping_and_pays_the_fee(self) -> None:
        order = three_to_the_door()
        order.give_back("li_2")
        settlement = order.give_back("li_3")
        assert (settlement.amount, settlement.fee) == (330, 80)
        assert sums(settlement) == [
            ("returned_goods", 590),
            ("coupon_lost", -100),
            ("shipping_due", -80),
            ("return_fee", -80),
        ]

    def test_the_last_return_gets_the_shipping_back_that_was_due_meanwhile(self) -> None:
        order = three_to_the_door()
        order.give_back("li_2")
        order.give_back("li_3")
        settlement = order.give_back("li_1")
        assert sums(settlement) == [("returned_goods", 990), ("shipping_returned", 80), ("return_fee", -80)]
        assert settlement.amount == 990
        assert order.refunded == order.paid - 160

    def test_two_lines_in_one_request_are_one_return(self) -> None:
        settlement = three_to_the_door().give_back("li_2", "li_3")
        assert (settlement.amount, settlement.fee) == (1200, 0)

    def test_charged_shipping_stays_charged(self) -> None:
        order = SettledOrder(terms(500, 400, shipping=CHARGED_80))
        assert order.paid == 980
        assert order.give_back("li_1").amount == 500

    def test_charged_shipping_goes_back_with_everything(self) -> None:
        settlement = SettledOrder(terms(500, 400, shipping=CHARGED_80)).give_back("li_1", "li_2")
        assert sums(settlement) == [("returned_goods", 900), ("shipping_returned", 80)]

    def test_a_bundle_is_lost_below_its_number(self) -> None:
        order = SettledOrder(terms((100, 3), discounts=[bundle(20, of=3)]))
        assert order.paid == 240
        settlement = order.give_back("li_1")
        assert sums(settlement) == [("returned_goods", 100), ("bundle_lost", -60)]
        assert settlement.amount == 40

    def test_a_refund_is_never_a_bill_and_what_was_not_taken_is_carried_over(self) -> None:
        order = SettledOrder(terms(100, 1500, discounts=[coupon(150, min_spend=1600)]))
        assert order.paid == 1450
        first = order.cancel("li_1")
        assert sums(first) == [("returned_goods", 100), ("coupon_lost", -150), ("floor", 50)]
        second = order.cancel("li_2")
        assert sums(second) == [("returned_goods", 1500), ("carried_over", -50)]
        assert (first.amount, second.amount) == (0, 1450)


class TestDiscounts:
    def test_a_percentage_leaves_with_its_goods(self) -> None:
        assert SettledOrder(terms(50, 50, discounts=[percent("10")])).give_back("li_1").amount == 45

    def test_a_voucher_is_not_paid_out(self) -> None:
        assert SettledOrder(terms(100, discounts=[coupon(20)])).give_back("li_1").amount == 80

    def test_a_percentage_of_a_partial_quantity(self) -> None:
        assert SettledOrder(terms((100, 3), discounts=[percent("10")])).give_back(("li_1", 2)).amount == 180

    def test_a_percentage_is_rounded_once_over_all_its_goods(self) -> None:
        assert price(terms((2390, 10), discounts=[percent("25")]), ()).total == 17925

    def test_half_a_unit_is_rounded_up_on_the_discount(self) -> None:
        assert price(terms(5, discounts=[percent("10")]), ()).discounts[0].amount == 1
        assert price(terms(5, discounts=[percent("9.9")]), ()).discounts[0].amount == 0

    def test_three_times_nineteen_ninety_nine_has_no_tail(self) -> None:
        order = SettledOrder(terms((1999, 3)))
        assert [order.give_back("li_1", shop_fault=True).amount for _ in range(3)] == [1999] * 3

    def test_a_discount_on_one_of_three_units_is_taken_once(self) -> None:
        order = SettledOrder(terms((100, 3), discounts=[coupon(30, only=["li_1"])]))
        amounts = [order.cancel(("li_1", 2)).amount, order.cancel("li_1").amount]
        assert amounts == [200, 70]
        assert order.refunded == order.paid == 270

    def test_a_discount_looks_at_its_own_goods_only(self) -> None:
        order = SettledOrder(terms(1000, 400, discounts=[coupon(100, min_spend=1000, only=["li_1"])]))
        assert order.cancel("li_2").amount == 400
        assert order.cancel("li_1").amount == 900

    def test_a_discount_on_no_line_takes_nothing(self) -> None:
        assert price(terms(1000, discounts=[coupon(100, only=[])]), ()).total == 1000

    def test_discounts_do_not_compound(self) -> None:
        assert price(terms(1000, discounts=[percent("10"), percent("10")]), ()).total == 800

    def test_exactly_at_a_threshold_the_coupon_is_kept(self) -> None:
        order = SettledOrder(terms(1000, 500, 1, discounts=[coupon(150, min_spend=1500)]))
        assert order.cancel("li_3").amount == 1
        assert order.cancel("li_2").amount == 350

    def test_a_percentage_has_a_threshold_too(self) -> None:
        order = SettledOrder(terms(900, 200, discounts=[percent("10", min_spend=1000)]))
        assert order.cancel("li_2").amount == 990 - 900

    def test_a_bundle_above_its_number_shrinks_by_the_unit_that_leaves(self) -> None:
        settlement = SettledOrder(terms((100, 4), discounts=[bundle(20, of=3)])).give_back("li_1")
        assert sums(settlement) == [("returned_goods", 100), ("coupon_reduced", -20)]

    def test_a_bundle_takes_no_more_than_its_goods_cost_together(self) -> None:
        assert price(terms(100, 100, 10, discounts=[bundle(20, of=3)]), ()).total == 210 - 60
        assert (
            price(terms(10, 10, 10, 500, discounts=[bundle(20, of=3, only=("li_1", "li_2", "li_3"))]), ()).total == 500
        )

    def test_a_coupon_larger_than_what_stays_is_reduced_to_it(self) -> None:
        settlement = SettledOrder(terms(1500, 100, discounts=[coupon(150)])).give_back("li_1")
        assert sums(settlement) == [("returned_goods", 1500), ("coupon_reduced", -50)]

    def test_discounts_together_never_exceed_the_goods(self) -> None:
        priced = price(terms(100, discounts=[coupon(70), coupon(70)]), ())
        assert [discount.amount for discount in priced.discounts] == [70, 30]
        assert priced.total == 0

    def test_a_discount_gets_room_when_another_is_lost(self) -> None:
        order = SettledOrder(terms(100, 100, discounts=[coupon(150, min_spend=200), coupon(80)]))
        assert order.paid == 0
        settlement = order.cancel("li_1")
        assert ("coupon_reduced", 30) in sums(settlement)
        assert settlement.amount == 0


class TestProrate:
    def test_an_order_discount_is_shared_by_price(self) -> None:
        order = SettledOrder(terms(600, 400, discounts=[coupon(100, prorate=True)]))
        assert order.give_back("li_2").amount == 360

    def test_the_kept_item_keeps_its_share(self) -> None:
        order = SettledOrder(terms(5000, 1000, discounts=[coupon(1000, prorate=True)]))
        assert order.cancel("li_1", shop_fault=True).amount == 4167
        assert price(order.terms, order.gone).total == 833

    def test_shares_of_three_lines_sum_exactly(self) -> None:
        order = SettledOrder(terms(3333, 3333, 3334, discounts=[coupon(2420, prorate=True)]), rules=NO_FEE)
        amounts = [order.give_back(line).amount for line in ("li_1", "li_2", "li_3")]
        assert sum(amounts) == order.paid == 10000 - 2420

    def test_the_odd_unit_goes_to_the_first_unit_and_the_last_unit_leaves_first(self) -> None:
        order = SettledOrder(terms((100, 3), discounts=[coupon(20, prorate=True)]), rules=NO_FEE)
        assert [order.give_back("li_1").amount for _ in range(3)] == [94, 93, 93]

    def test_a_tie_goes_to_the_earlier_line(self) -> None:
        order = SettledOrder(terms(100, 100, discounts=[coupon(5, prorate=True)]), rules=NO_FEE)
        assert order.give_back("li_1").amount == 97

    def test_a_prorated_coupon_is_not_lost_below_its_threshold(self) -> None:
        order = SettledOrder(terms(1200, 380, discounts=[coupon(150, min_spend=1500, prorate=True)]))
        assert order.cancel("li_2").amount == 344

    def test_a_prorated_bundle_stays_with_each_unit(self) -> None:
        order = SettledOrder(terms(100, 200, 300, discounts=[bundle(20, of=3, prorate=True)]))
        assert order.give_back("li_3").amount == 280

    def test_a_prorated_percentage_is_shared_as_the_checkout_rounded_it(self) -> None:
        order = SettledOrder(terms((15, 3), discounts=[percent("10", prorate=True)]), rules=NO_FEE)
        assert order.paid == 40
        assert [order.give_back("li_1").amount for _ in range(3)] == [14, 13, 13]

    def test_a_share_is_that_of_what_the_checkout_could_still_take_off(self) -> None:
        order = SettledOrder(terms(100, 100, discounts=[coupon(150, prorate=True), coupon(150, prorate=True)]))
        assert order.paid == 0
        assert order.cancel("li_1").amount == 0
        assert price(order.terms, order.gone).total == 0

    def test_gifts_carry_no_share(self) -> None:
        order = SettledOrder(terms(0, 100, discounts=[coupon(10, prorate=True)]))
        assert order.give_back("li_1").amount == 0
        assert price(terms(0, discounts=[coupon(10, prorate=True)]), ()).total == 0


class TestShopsFault:
    def test_a_defective_unit_leaves_the_bundle_intact(self) -> None:
        order = SettledOrder(terms((100, 3), discounts=[bundle(20, of=3)]))
        assert order.give_back("li_1", shop_fault=True).amount == 80

    def test_lost_goods_leave_free_shipping_and_coupon_intact(self) -> None:
        assert three_to_the_door().lose("li_1", "li_2").amount == 1780

    def test_a_percentage_with_a_threshold_survives(self) -> None:
        order = SettledOrder(terms(900, 200, discounts=[percent("10", min_spend=1000)]))
        assert order.give_back("li_2", shop_fault=True).amount == 180

    def test_goods_that_left_earlier_through_the_shops_fault_go_on_counting(self) -> None:
        order = SettledOrder(terms(600, 500, 400, discounts=[coupon(100, min_spend=1000)]))
        order.give_back("li_1", shop_fault=True)
        assert order.give_back("li_3").amount == 400

    def test_but_they_do_not_bring_a_lost_coupon_back(self) -> None:
        order = SettledOrder(terms(600, 500, 400, discounts=[coupon(100, min_spend=1100)]))
        assert order.cancel("li_1").amount == 500
        assert order.give_back("li_2", shop_fault=True).amount == 500

    def test_a_coupon_never_exceeds_what_is_kept_even_so(self) -> None:
        settlement = SettledOrder(terms(1500, 100, discounts=[coupon(150, min_spend=1600)])).lose("li_1")
        assert sums(settlement) == [("returned_goods", 1500), ("coupon_reduced", -50)]

    def test_two_units_of_one_line_with_two_reasons(self) -> None:
        order = SettledOrder(terms((100, 3), discounts=[bundle(20, of=3)]))
        asked = [Departure("li_1", 1, True), Departure("li_1", 1, False)]
        settlement = order.quote("return", asked)
        assert settlement.steps[0].params["lines"] == [{"line_item_id": "li_1", "quantity": 2, "unit_price": 100}]
        assert settlement.amount == 140

    def test_goods_are_lost_through_the_shops_fault_or_not_at_all(self) -> None:
        with pytest.raises(PolicyError, match="shop_fault"):
            three_to_the_door().quote("lost", leaves("li_1"))


class TestReturnFee:
    def test_a_cancellation_neither_pays_nor_counts(self) -> None:
        order = SettledOrder(terms(500, 400, 300))
        assert not order.cancel("li_1").counts_as_return
        assert order.give_back("li_2").fee == 0
        assert order.give_back("li_3").fee == 80

    def test_a_return_at_the_shops_fault_neither_pays_nor_counts(self) -> None:
        order = SettledOrder(terms(500, 400, 300))
        order.give_back("li_1")
        assert order.give_back("li_2", shop_fault=True).fee == 0
        assert order.returns_counted == 1

    def test_a_mixed_return_pays_and_counts(self) -> None:
        order = SettledOrder(terms(500, 400, 300))
        order.give_back("li_1")
        mixed = order.carry_out("return", [*leaves("li_2", shop_fault=True), *leaves("li_3")])
        assert (mixed.amount, mixed.fee, order.returns_counted) == (620, 80, 2)

    def test_the_fee_reaches_as_far_as_the_amount_and_the_rest_is_forgone(self) -> None:
        order = SettledOrder(terms(500, 50, 400))
        order.give_back("li_1")
        small = order.give_back("li_2")
        assert (small.amount, small.fee) == (0, 50)
        assert sums(small) == [("returned_goods", 50), ("return_fee", -50)]
        assert order.give_back("li_3").amount == 320

    def test_no_fee_is_taken_from_a_return_that_comes_to_less_than_nothing(self) -> None:
        order = SettledOrder(terms(100, 50, 1500, discounts=[coupon(150, min_spend=1550)]))
        order.give_back("li_1")
        settlement = order.give_back("li_2")
        assert (settlement.amount, settlement.fee, settlement.counts_as_return) == (0, 0, True)

    def test_the_fee_can_be_switched_off_and_returns_go_on_counting(self) -> None:
        order = SettledOrder(terms(500, 400), rules=NO_FEE)
        order.give_back("li_1")
        assert order.give_back("li_2").fee == 0
        assert order.returns_counted == 2


class TestShipping:
    def test_fully_discounted_shipping_is_not_paid_out(self) -> None:
        promotion = Shipping(charged=0, standard_fee=80, free_from=None, waiver="promotion")
        assert SettledOrder(terms(100, shipping=promotion)).give_back("li_1").amount == 100

    @pytest.mark.parametrize("waiver", ["pickup", "promotion", None])
    def test_only_free_by_threshold_can_be_lost(self, waiver: Any) -> None:
        free = Shipping(charged=0, standard_fee=80, free_from=1000, waiver=waiver)
        assert SettledOrder(terms(900, 200, shipping=free)).cancel("li_2").amount == 200

    def test_the_threshold_looks_at_goods_before_coupons(self) -> None:
        order = SettledOrder(terms(1000, 200, discounts=[coupon(150)], shipping=FREE_FROM_1000))
        assert order.cancel("li_2").amount == 200

    def test_shipping_that_was_given_back_already_is_not_given_back_twice(self) -> None:
        order = SettledOrder(terms(500, 400, shipping=CHARGED_80))
        order.gone, order.refunded = leaves("li_1"), 580
        settlement = order.cancel("li_2")
        assert sums(settlement) == [("returned_goods", 400), ("shipping_returned", 80), ("carried_over", -80)]
        assert order.refunded == order.paid

    def test_shipping_is_due_once_however_many_goods_leave(self) -> None:
        order = SettledOrder(terms(500, 400, 300, shipping=FREE_FROM_1000))
        assert [order.cancel("li_1").amount, order.cancel("li_2").amount, order.cancel("li_3").amount] == [
            420,
            400,
            380,
        ]


class TestPayments:
    def test_never_more_than_the_payments_have_left(self) -> None:
        order = SettledOrder(terms(500, 400), compensated=450)
        settlement = order.cancel("li_1")
        assert sums(settlement) == [("returned_goods", 500), ("payment_limit", -50)]
        assert settlement.steps[-1].params == {"limit": 450}

    def test_an_item_added_unpaid_and_removed_again_gives_nothing(self) -> None:
        order = SettledOrder(terms(100, 50), paid=100)
        assert order.cancel("li_2").amount == 0

    def test_an_order_that_was_free_gives_nothing(self) -> None:
        assert SettledOrder(terms(100, discounts=[percent("100")])).cancel("li_1").amount == 0

    def test_an_amount_short_earlier_is_made_good(self) -> None:
        order = SettledOrder(terms(500, 400))
        order.gone, order.refunded = leaves("li_1"), 450
        assert sums(order.cancel("li_2")) == [("returned_goods", 400), ("carried_over", 50)]


def test_steps_survive_being_stored() -> None:
    order = three_to_the_door()
    order.give_back("li_2")
    for step in order.give_back("li_3").steps:
        assert json.loads(json.dumps(step.as_json())) == step.as_json()


def test_a_step_says_what_decided_it() -> None:
    (_, lost) = earphones_and_case().cancel("li_2").steps
    assert isinstance(lost, Step)
    assert lost.params["min_spend"] == 1500
    assert lost.params["counted_goods"] == 1200
    assert (lost.params["before"], lost.params["after"]) == (150, 0)


def test_settle_takes_keywords_only() -> None:
    order = earphones_and_case()
    settlement = settle(
        terms=order.terms,
        gone=(),
        asked=leaves("li_2"),
        action="cancel",
        ledger=Ledger(1430, 0, 0, 0, 1430),
        rules=Rules(80, True),
    )
    assert settlement.amount == 230
