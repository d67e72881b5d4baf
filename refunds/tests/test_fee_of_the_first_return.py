"""The first return that counts costs no fee, also where one turns out to be the first only afterwards."""

import pytest
from django.db.models import Sum

from orders.models import Order, Payment
from orders.tests import cast
from refunds import returns
from refunds.acceptance import accept
from refunds.models import Refund, Return
from refunds.tests.ask import ask
from refunds.tests.going_back import earphones, received_return, requested_return, returned, warehouse

pytestmark = pytest.mark.django_db
ONE = (1, 1, "changed_mind")


def accepted(request: Return, found: dict[str, str] | None = None) -> Refund:
    returns.receive(return_id=request.pk, actor=warehouse())
    refund = accept(return_id=request.pk, actor=warehouse(), found=found).refund
    assert refund is not None
    return refund


def given_back(order: Order) -> int:
    return order.payments.aggregate(total=Sum("refunded_amount"))["total"] or 0


def carried_over(refund: Refund) -> list[int]:
    assert refund.quote is not None
    return [step["amount"] for step in refund.quote.steps if step["code"] == "carried_over"]


def second_of_two_is_back_first() -> tuple[Order, Return]:
    """Of three pieces at 1,200, one is announced and not sent, and a second return has cost its fee already."""
    order = earphones(3)
    first = requested_return(order, ONE)
    assert accepted(requested_return(order, ONE)).amount == 1120
    return order, first


def test_a_fee_that_was_taken_before_the_first_return_was_withdrawn_comes_back_with_the_next() -> None:
    order, first = second_of_two_is_back_first()
    returns.withdraw(return_id=first.pk, actor=cast.shopper())
    next_one = accepted(requested_return(order, (1, 2, "changed_mind")))
    assert (next_one.amount, carried_over(next_one)) == (2400, [80])
    assert next_one.quote is not None
    assert (next_one.quote.fee, given_back(order)) == (80, 3600 - 80)


def test_a_fee_that_was_taken_before_the_first_return_was_rejected_comes_back_with_the_next() -> None:
    order, first = second_of_two_is_back_first()
    returns.receive(return_id=first.pk, actor=warehouse())
    returns.reject(return_id=first.pk, actor=warehouse(), note="外盒不見")
    assert ask(order, (1, 2, "changed_mind")).amount == 2400


def test_a_fee_comes_back_where_the_first_return_proves_to_be_the_shops_fault() -> None:
    order, first = second_of_two_is_back_first()
    refund = accepted(first, found={"li_1": "defective"})
    assert (refund.amount, carried_over(refund), given_back(order)) == (1280, [80], 2400)


def test_while_the_first_return_is_open_the_fee_of_the_second_is_due() -> None:
    order, first = second_of_two_is_back_first()
    assert (accepted(first).amount, given_back(order)) == (1200, 2400 - 80)


def test_a_promised_fee_is_not_taken_by_the_return_that_has_become_the_first_and_nobody_else_gets_it() -> None:
    order = earphones(3)
    first, second = requested_return(order, ONE), requested_return(order, ONE)
    returns.withdraw(return_id=first.pk, actor=cast.shopper())
    third = requested_return(order, ONE)
    assert second.quote is not None
    assert third.quote is not None
    assert (second.quote.amount, third.quote.amount) == (1120, 1120)
    assert (accepted(third).amount, accepted(second).amount, given_back(order)) == (1120, 1200, 2400 - 80)


def test_returns_that_follow_each_other_cost_what_they_did() -> None:
    order = earphones(3)
    amounts = [returned(order, ONE).refund for _ in range(3)]
    assert [refund.amount for refund in amounts if refund] == [1200, 1120, 1120]
    assert Payment.objects.get(order=order).refunded_amount == 3600 - 160


def test_what_is_received_and_not_accepted_still_counts_as_the_first() -> None:
    order = earphones(3)
    received_return(order, ONE)
    assert ask(order, ONE).fee == 80
