"""A refund of the provider's that is as much as one that a person has booked is taken for it, and somebody confirms."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from orders.models import Order
from orders.tests import cast
from orders.tests.race import at_once
from refunds import books, elsewhere, reported, stripe_facts
from refunds.models import Refund, StaffAlert
from refunds.states import AlertKind
from refunds.tests.browser import signed_in
from refunds.tests.conftest import disconnect
from refunds.tests.reporting import alerts_of, booked, charge_told, paid_by_stripe, refund_told, reports
from refunds.tests.stripe_stand_in import Stripe

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order(stripe: Stripe) -> Order:
    return paid_by_stripe(stripe)


def a_person_books(order: Order, number: str, amount: int = 380) -> Refund:
    body = {"external_ref": number, "amount": amount, "payment_id": cast.payment(order).pk, "note": "匯款"}
    facts = {**body, "lines": [], "for_goods": False}
    return elsewhere.record(order=order, body=facts, actor=cast.staff("supervisor"))


def told(stripe: Stripe) -> None:
    """In every way, and again."""
    for _ in range(2):
        reports("refund.created", refund_told(stripe))
        reports("charge.refunded", charge_told(stripe))
    now = timezone.now()
    books.compare(provider="stripe", since=now - timedelta(days=1), until=now + timedelta(days=1))


def test_it_is_not_booked_again_and_somebody_is_asked_to_confirm(stripe: Stripe, order: Order) -> None:
    transfer = a_person_books(order, "匯款 4411")
    stripe.refund_at_the_desk("ch_1", 38_000)
    told(stripe)
    assert booked() == [("匯款 4411", 380)]
    alert = StaffAlert.objects.get()
    assert (alert.kind, alert.subject, alert.refund) == (AlertKind.DIFFERENCE, "stripe:taken_to_be:re_1", transfer)
    assert (alert.facts["difference"], alert.facts["booked_as"]) == ("taken_to_be", "匯款 4411")
    page = signed_in("staff", headers={"Accept-Language": "en"}).get("/staff/refunds/").content.decode()
    assert "please confirm" in page
    assert "匯款 4411" in page


def test_under_the_providers_own_number_nobody_need_be_asked(stripe: Stripe, order: Order) -> None:
    a_person_books(order, "re_1")
    stripe.refund_at_the_desk("ch_1", 38_000)
    told(stripe)
    assert (booked(), StaffAlert.objects.count()) == ([("re_1", 380)], 0)


def test_the_same_number_with_another_amount_is_told(stripe: Stripe, order: Order) -> None:
    a_person_books(order, "re_1", 38)
    stripe.refund_at_the_desk("ch_1", 38_000)
    reports("refund.created", refund_told(stripe))
    facts = StaffAlert.objects.get().facts
    assert (facts["difference"], facts["ours"]["amount"], facts["theirs"]["amount"]) == ("amount", 38, 380)
    assert booked() == [("re_1", 38)]


def test_it_is_taken_for_it_once_and_a_second_one_is_a_stranger(stripe: Stripe, order: Order) -> None:
    a_person_books(order, "匯款 4411")
    for _ in range(2):
        stripe.refund_at_the_desk("ch_1", 38_000)
        reports("refund.created", refund_told(stripe))
    assert booked() == [("匯款 4411", 380), ("re_2", 380)]
    assert alerts_of(AlertKind.DIFFERENCE) == ["stripe:taken_to_be:re_1"]


def test_two_that_are_told_at_the_same_moment_are_not_both_taken_for_it(stripe: Stripe, order: Order) -> None:
    """Each worker knows of its own one only."""
    a_person_books(order, "匯款 4411")
    payment = cast.payment(order)
    lines = [stripe_facts.refund_line(stripe.refund_at_the_desk("ch_1", 38_000)) for _ in range(2)]
    at_once([lambda line=line: reported.take_over(payment, [line]) for line in lines])  # type: ignore[misc]
    assert len(booked()) == 2
    assert len(alerts_of(AlertKind.DIFFERENCE)) == 1


def test_whoever_says_that_it_is_another_one_books_it_under_its_own_number(stripe: Stripe, order: Order) -> None:
    a_person_books(order, "匯款 4411")
    stripe.refund_at_the_desk("ch_1", 38_000)
    told(stripe)
    a_person_books(order, "re_1")
    reports("charge.refunded", charge_told(stripe))
    assert (len(booked()), StaffAlert.objects.count(), cast.payment(order).refunded_amount) == (2, 1, 760)


def test_what_was_taken_for_it_and_fails_is_told(stripe: Stripe, order: Order) -> None:
    transfer = a_person_books(order, "匯款 4411")
    stripe.refund_at_the_desk("ch_1", 38_000)
    reports("refund.created", refund_told(stripe))
    reports("refund.failed", refund_told(stripe, status="failed"))
    assert StaffAlert.objects.get(subject="stripe:state:re_1").refund == transfer


def test_a_transfer_hides_no_smaller_refund_at_the_desk(stripe: Stripe, order: Order) -> None:
    """The charge's sum is less than our books hold of it, because the transfer is none of the provider's."""
    a_person_books(order, "匯款 4411")
    stripe.refund_at_the_desk("ch_1", 10_000)
    reports("charge.refunded", charge_told(stripe))
    assert booked() == [("匯款 4411", 380), ("re_1", 100)]


@pytest.mark.parametrize("connected", [True, False])
def test_what_was_booked_from_a_report_is_taken_for_no_other_one(stripe: Stripe, order: Order, connected: bool) -> None:
    if not connected:
        disconnect("stripe")
    for _ in range(2):
        stripe.refund_at_the_desk("ch_1", 38_000)
        reports("refund.created", refund_told(stripe))
        stripe.refunds[0]["status"] = "failed"  # and the money is made to go back once more
    assert booked() == [("re_1", 380), ("re_2", 380)]


def test_what_was_booked_from_the_sum_is_named_later_and_nobody_need_be_asked(stripe: Stripe, order: Order) -> None:
    disconnect("stripe")
    made: dict[str, Any] = stripe.refund_at_the_desk("ch_1", 38_000)
    reports("charge.refunded", charge_told(stripe))
    reports("refund.created", made)
    assert (booked(), alerts_of(AlertKind.DIFFERENCE)) == ([("ch_1:38000", 380)], [])
