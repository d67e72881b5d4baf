"""What an earlier refund kept back for a return that has come to nothing since: staff are told, once, how much."""

import pytest

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import fixed_discount, shipment_body
from refunds import alerts, approvals, returns
from refunds.models import Approval, StaffAlert
from refunds.owed import owed_for_nothing
from refunds.redeem import redeem
from refunds.states import AlertKind
from refunds.tests.ask import ask
from refunds.tests.going_back import earphones, requested_return, returned, warehouse
from refunds.tests.old_rules import published_long_ago
from refunds.tests.test_elsewhere import book

pytestmark = pytest.mark.django_db
ONE = (1, 1, "changed_mind")


def told() -> list[tuple[str, int]]:
    rows = StaffAlert.objects.filter(kind=AlertKind.OWED_MONEY).order_by("pk")
    return [(alert.facts["number"], alert.facts["amount"]) for alert in rows]


def test_the_fee_of_what_is_the_first_return_now_is_told_when_the_earlier_one_is_withdrawn() -> None:
    order = earphones(3)
    first = requested_return(order, ONE)
    returned(order, ONE)
    returns.withdraw(return_id=first.pk, actor=cast.shopper())
    assert told() == [(first.pk, 80)]
    assert owed_for_nothing(order) == 80


def test_and_when_it_is_rejected() -> None:
    order = earphones(3)
    first = requested_return(order, ONE)
    returned(order, ONE)
    returns.receive(return_id=first.pk, actor=warehouse())
    returns.reject(return_id=first.pk, actor=warehouse(), note="外盒不見")
    assert told() == [(first.pk, 80)]


def with_a_coupon() -> Order:
    """1,200 + 380 + 380, less 150 from 1,500 on: any two of them that are kept earn it, if the dear one is there."""
    goods = [("藍牙耳機", 1200, 1), ("耳機殼", 380, 1), ("耳機套", 380, 1)]
    return cast.place(
        "7901",
        lines=goods,
        discounts=[fixed_discount(150, min_spend=1500)],
        shipments=[shipment_body({1: 1, 2: 1, 3: 1})],
    )


def test_a_coupon_that_was_lost_with_goods_that_are_kept_after_all_is_told_with_the_fee() -> None:
    order = with_a_coupon()
    first = requested_return(order, (2, 1, "changed_mind"))
    assert ask(order, (3, 1, "changed_mind")).amount == 380 - 150 - 80
    returned(order, (3, 1, "changed_mind"))
    returns.withdraw(return_id=first.pk, actor=cast.shopper())
    assert told() == [(first.pk, 150 + 80)]


def test_where_nothing_is_due_nobody_is_told() -> None:
    order = earphones(3)
    returned(order, ONE)
    second = requested_return(order, ONE)
    returns.withdraw(return_id=second.pk, actor=cast.shopper())
    assert told() == []


def test_an_open_return_takes_it_up_and_if_that_ends_too_it_is_told_then() -> None:
    order = earphones(3)
    first = requested_return(order, ONE)
    returned(order, ONE)
    third = requested_return(order, ONE)
    returns.withdraw(return_id=first.pk, actor=cast.shopper())
    assert told() == []
    returns.withdraw(return_id=third.pk, actor=cast.shopper())
    assert told() == [(third.pk, 80)]


def test_what_staff_have_not_settled_yet_is_not_told_again_and_afterwards_it_is() -> None:
    order = earphones(4)
    first = requested_return(order, ONE)
    returned(order, ONE)
    returns.withdraw(return_id=first.pk, actor=cast.shopper())
    again = requested_return(order, ONE)
    returns.withdraw(return_id=again.pk, actor=cast.shopper())
    assert len(told()) == 1
    alerts.settle(alert_id=StaffAlert.objects.get().pk, actor=cast.staff("supervisor"), note="下次一併退")
    once_more = requested_return(order, ONE)
    returns.withdraw(return_id=once_more.pk, actor=cast.shopper())
    assert told() == [(first.pk, 80), (once_more.pk, 80)]


def test_a_cancellation_that_a_second_person_refuses_leaves_due_what_was_kept_back_for_it() -> None:
    published_long_ago(version=3, approval_above=379)
    goods = [("藍牙耳機", 1200, 1), ("耳機殼", 380, 1), ("耳機套", 380, 1)]
    order = cast.place("7902", lines=goods, discounts=[fixed_discount(150, min_spend=1500)])
    waiting = redeem(quote_id=ask(order, (2, 1, "other")).pk, actor=cast.shopper()).refund
    paid = redeem(quote_id=ask(order, (3, 1, "other")).pk, actor=cast.shopper()).refund
    assert waiting is not None
    assert paid is not None
    assert (waiting.state, paid.state, paid.amount) == ("pending_approval", "pending", 380 - 150)
    approval = Approval.objects.get(refund=waiting)
    approvals.reject(approval_id=approval.pk, actor=cast.staff("supervisor"), reason="不成立")
    assert told() == [(waiting.pk, 150)]


def test_while_nobody_has_said_what_a_refund_made_elsewhere_was_for_a_return_can_be_withdrawn_all_the_same() -> None:
    order = earphones(3)
    first = requested_return(order, ONE)
    returned(order, ONE)
    book(order, 100)
    returns.withdraw(return_id=first.pk, actor=cast.shopper())
    assert told() == []
