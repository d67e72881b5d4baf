"""What the chat says of money that went back without a machine of ours."""

import pytest
from django.utils import translation

from agent import sentences
from orders.tests import cast
from refunds.elsewhere_undone import undo
from refunds.models import Refund
from refunds.tests.test_elsewhere import book
from refunds.tests.test_elsewhere_as_told import by_hand, refused

pytestmark = pytest.mark.django_db


@translation.override("en")
def test_what_was_paid_by_hand_is_said_to_be_and_under_which_number_and_not_to_be_on_the_card() -> None:
    said = sentences.of_refund(by_hand(refused()))
    assert ("TR0412" in said, "card" in said, "working days" in said) == (True, False, False)


@translation.override("en")
def test_of_a_refund_in_two_ways_each_amount_is_told_with_its_way() -> None:
    said = sentences.of_refund(by_hand(refused((100, 280))))
    assert "NT$100 is on its way to card" in said
    assert "given you back NT$280 in another way, under number TR0412" in said


def test_a_refund_that_a_person_made_elsewhere_is_told_with_its_number() -> None:
    assert "re_77" in sentences.of_refund(book(cast.order_5531(), 100, lines=[], for_goods=False))


@translation.override("en")
def test_money_that_turned_out_to_be_a_refund_is_told_as_that_and_a_slip_as_a_slip() -> None:
    order = cast.order_5531()
    slip, merged = book(order, 100), book(order, 80, external_ref="re_78")
    undo(refund_id=slip.pk, actor=cast.staff("supervisor"), note="打錯訂單了")
    assert "entered by mistake" in sentences.of_refund(Refund.objects.get(pk=slip.pk))
    other = by_hand(refused())
    Refund.objects.filter(pk=merged.pk).update(state="rejected", needs_assignment=False, same_as=other)
    said = sentences.of_refund(Refund.objects.get(pk=merged.pk))
    assert (f"are your refund {other.pk}" in said, "mistake" in said) == (True, False)
