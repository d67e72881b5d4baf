"""What customers and staff read of money that went back without a machine of ours."""

import pytest
from django.http import Http404

from orders.tests import cast
from refunds import access, selectors
from refunds.elsewhere_undone import undo
from refunds.tests.test_elsewhere import CASE, book

pytestmark = pytest.mark.django_db


def test_one_that_was_taken_back_is_nothing_that_a_person_has_to_look_at() -> None:
    refund = book(cast.order_5531(), lines=[CASE])
    undo(refund_id=refund.pk, actor=cast.staff("supervisor"), note="打錯訂單了")
    assert not selectors.needs_a_look().exists()


def test_one_that_was_taken_back_is_kept_for_staff_and_not_shown_to_the_customer() -> None:
    order = cast.order_5531()
    refund = book(order, lines=[CASE])
    kept = book(order, 100, external_ref="re_78")
    undo(refund_id=refund.pk, actor=cast.staff("supervisor"), note="打錯訂單了")
    customer = cast.customer_user("ming")
    assert list(selectors.refunds_of(order)) == [kept, refund]
    assert list(selectors.refunds_shown_to_customer(order)) == [kept]
    assert list(access.rows_for(customer, selectors.refunds(), access.VIEW_REFUND)) == [kept]
    assert access.refund_for(cast.staff_user("supervisor"), refund.pk) == refund
    with pytest.raises(Http404):
        access.refund_for(customer, refund.pk)
