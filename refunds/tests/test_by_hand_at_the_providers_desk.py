"""A part that a person has paid back at the provider's own desk is in our books; its report is no second refund."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import books, tasks
from refunds.by_hand import paid_by_hand
from refunds.models import Refund, StaffAlert
from refunds.states import AlertKind, RefundState
from refunds.tests.paying import pending_refund, state_of
from refunds.tests.reporting import alerts_of, booked, charge_told, paid_by_stripe, refund_told, reports
from refunds.tests.stripe_stand_in import Fault, Stripe

pytestmark = pytest.mark.django_db(transaction=True)


def refused(stripe: Stripe, order: Order, *asked: Any) -> Refund:
    refund = pending_refund(order, *asked)
    stripe.faults.append(Fault(status=402))
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.FAILED
    return refund


def by_hand(refund: Refund, number: str) -> None:
    paid_by_hand(refund_id=refund.pk, external_ref=number, actor=cast.staff("supervisor"), note="在收單行後台退的")


def told_in_every_way(stripe: Stripe, **charge: Any) -> None:
    reports("refund.created", refund_told(stripe))
    reports("charge.refunded", charge_told(stripe, **charge))
    now = timezone.now()
    books.compare(provider="stripe", since=now - timedelta(days=1), until=now + timedelta(days=1))


@pytest.mark.parametrize("number", ["re_1", "後台 11/29"])
def test_it_is_booked_once_whatever_number_the_person_gave(stripe: Stripe, number: str) -> None:
    order = paid_by_stripe(stripe)
    by_hand(refused(stripe, order, (2, 1, "other")), number)
    stripe.refund_at_the_desk("ch_1", 38_000)
    told_in_every_way(stripe)
    assert (booked(), cast.payment(order).refunded_amount) == ([], 380)
    assert alerts_of(AlertKind.NOT_ANNOUNCED) == []


def test_of_a_refund_in_two_parts_the_one_that_was_paid_by_hand_is_meant(stripe: Stripe) -> None:
    """The other part went to the customer's store credit, by machine."""
    stripe.charge("ch_2", 100_000)
    card = {**payment_body(1000), "provider": "stripe", "provider_ref": "ch_2"}
    credit = payment_body(500, external_id="p2", method="store_credit", last4="")
    order = cast.place("6602", lines=[("線", 1500, 1)], payments=[card, credit])
    refund = refused(stripe, order, (1, 1, "other"))
    made = stripe.refund_at_the_desk("ch_2", 100_000)
    by_hand(refund, made["id"])
    charge = {"id": "ch_2", "payment_intent": None, "amount_refunded": 100_000}
    told_in_every_way(stripe, **charge)
    assert (state_of(refund), booked(), StaffAlert.objects.count()) == (RefundState.SUCCEEDED, [], 0)
    assert [cast.payment(order, position).refunded_amount for position in (1, 2)] == [1000, 500]


def test_another_refund_at_the_desk_is_another_one(stripe: Stripe) -> None:
    order = paid_by_stripe(stripe)
    by_hand(refused(stripe, order, (2, 1, "other")), "re_1")
    stripe.refund_at_the_desk("ch_1", 38_000)
    stripe.refund_at_the_desk("ch_1", 38_000)
    told_in_every_way(stripe)
    assert (booked(), alerts_of(AlertKind.NOT_ANNOUNCED)) == ([("re_2", 380)], ["stripe:re_2"])


def test_that_it_has_failed_there_is_told(stripe: Stripe) -> None:
    order = paid_by_stripe(stripe)
    by_hand(refused(stripe, order, (2, 1, "other")), "re_1")
    stripe.refund_at_the_desk("ch_1", 38_000, status="failed")
    reports("refund.failed", refund_told(stripe))
    assert alerts_of(AlertKind.DIFFERENCE) == ["stripe:state:re_1"]
