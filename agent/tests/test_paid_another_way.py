"""What the chat says of money that went back without a machine of ours."""

import pytest
from django.utils import translation

from agent import sentences
from orders.tests import cast
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
