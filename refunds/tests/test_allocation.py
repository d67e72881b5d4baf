"""An amount is split over the payments in tender order: the card first, store credit last."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refunds.allocation import AllocationError, PaymentLeft, allocate
from refunds.tests.generated_orders import GENERATED, payments_for

TENDER_ORDER = ["card", "*", "store_credit"]

CARD = PaymentLeft("pay_card", "card", 50, captured_order=2)
CREDIT = PaymentLeft("pay_credit", "store_credit", 30, captured_order=0)
BANK = PaymentLeft("pay_bank", "bank_transfer", 40, captured_order=1)


def test_everything_goes_back_to_where_it_came_from() -> None:
    assert allocate(amount=80, payments=[CREDIT, CARD], tender_order=TENDER_ORDER) == [
        ("pay_card", 50),
        ("pay_credit", 30),
    ]


def test_a_part_goes_to_the_card_first() -> None:
    assert allocate(amount=20, payments=[CREDIT, CARD], tender_order=TENDER_ORDER) == [("pay_card", 20)]


def test_methods_that_the_order_does_not_name_stand_at_the_star() -> None:
    shares = allocate(amount=100, payments=[CREDIT, BANK, CARD], tender_order=TENDER_ORDER)
    assert shares == [("pay_card", 50), ("pay_bank", 40), ("pay_credit", 10)]


def test_without_a_star_they_come_last() -> None:
    shares = allocate(amount=100, payments=[BANK, CREDIT, CARD], tender_order=["store_credit", "card"])
    assert [payment_id for payment_id, _ in shares] == ["pay_credit", "pay_card", "pay_bank"]


def test_payments_of_one_method_go_by_their_capture() -> None:
    second = PaymentLeft("pay_second", "card", 50, captured_order=2)
    first = PaymentLeft("pay_first", "card", 50, captured_order=1)
    assert allocate(amount=60, payments=[second, first], tender_order=TENDER_ORDER) == [
        ("pay_first", 50),
        ("pay_second", 10),
    ]


def test_an_empty_payment_gets_no_share() -> None:
    spent = PaymentLeft("pay_spent", "card", 0, captured_order=0)
    assert allocate(amount=10, payments=[spent, CARD], tender_order=TENDER_ORDER) == [("pay_card", 10)]


def test_nothing_needs_no_payment() -> None:
    assert allocate(amount=0, payments=[], tender_order=TENDER_ORDER) == []
    assert allocate(amount=0, payments=[CARD], tender_order=TENDER_ORDER) == []


def test_more_than_is_left_is_refused() -> None:
    with pytest.raises(AllocationError, match="81 is more than the 80"):
        allocate(amount=81, payments=[CARD, CREDIT], tender_order=TENDER_ORDER)


@pytest.mark.parametrize("amount", [-1, 1.0, "1", True, None])
def test_an_amount_is_a_whole_number(amount: Any) -> None:
    with pytest.raises(AllocationError, match="amount"):
        allocate(amount=amount, payments=[CARD], tender_order=TENDER_ORDER)


def test_a_payment_cannot_have_less_than_nothing_left() -> None:
    overdrawn = PaymentLeft("pay_overdrawn", "card", -1, captured_order=0)
    with pytest.raises(AllocationError, match="pay_overdrawn"):
        allocate(amount=1, payments=[overdrawn, CARD], tender_order=TENDER_ORDER)


def test_a_payment_is_counted_once() -> None:
    with pytest.raises(AllocationError, match="twice"):
        allocate(amount=1, payments=[CARD, CARD], tender_order=TENDER_ORDER)


@GENERATED
@given(st.data(), st.integers(0, 5000))
def test_shares_sum_to_the_amount_and_stay_within_each_payment(data: st.DataObject, paid: int) -> None:
    payments = data.draw(payments_for(paid))
    amount = data.draw(st.integers(0, paid))
    shares = allocate(amount=amount, payments=payments, tender_order=TENDER_ORDER)
    left = {payment.payment_id: payment.left for payment in payments}
    assert sum(share for _, share in shares) == amount
    assert all(0 < share <= left[payment_id] for payment_id, share in shares)
    assert len({payment_id for payment_id, _ in shares}) == len(shares)
    assert shares == allocate(amount=amount, payments=payments[::-1], tender_order=TENDER_ORDER)
