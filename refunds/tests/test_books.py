"""Once a day our books are held against the provider's own list, and every difference is told once."""

from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import books, tasks
from refunds.gateways.base import GatewayTimeout
from refunds.models import BooksCompared, GatewayAttempt, Refund, SimulatedRefund, StaffAlert
from refunds.states import AlertKind, RefundKind, RefundState, Trouble
from refunds.tests.paying import pending_refund, state_of, switch_on
from refunds.tests.stripe_stand_in import Fault, Stripe

pytestmark = pytest.mark.django_db(transaction=True)


def paid(order: Order | None = None) -> Refund:
    refund = pending_refund(order)
    tasks.send_refund(refund.pk)
    return refund


def compared(provider: str = "simulated", until: datetime | None = None) -> BooksCompared:
    until = until or timezone.now() + timedelta(seconds=1)
    return books.compare(provider=provider, since=until - timedelta(days=1), until=until)


def found(report: BooksCompared) -> list[str]:
    return [each["difference"] for each in report.differences]


def alerts_raised() -> list[tuple[str, str]]:
    return list(StaffAlert.objects.order_by("pk").values_list("kind", "subject"))


def at_their_desk(order: Order, amount: int, number: str = "sim_desk") -> None:
    """A refund that the acquirer makes without us."""
    SimulatedRefund.objects.create(
        provider_refund_id=number,
        idempotency_key=f"desk-{number}",
        charge_ref=cast.payment(order).pk,
        amount=amount,
        currency="TWD",
    )


def test_books_that_agree_differ_in_nothing() -> None:
    paid()
    report = compared()
    assert (report.checked, report.differences, alerts_raised()) == (1, [], [])


def test_a_refund_that_only_the_provider_has_is_booked_as_made_elsewhere_and_told() -> None:
    refund = paid()
    at_their_desk(refund.order, 100)
    report = compared()
    assert found(report) == ["missing_here"]
    assert report.differences[0]["order_number"] == "5531"
    assert alerts_raised() == [(AlertKind.NOT_ANNOUNCED, "simulated:sim_desk")]
    assert Refund.objects.get(kind=RefundKind.ELSEWHERE).amount == 100
    assert cast.payment(refund.order).refunded_amount == 330


def test_a_refund_of_a_charge_that_we_do_not_know_is_told() -> None:
    at_their_desk(paid().order, 100)
    SimulatedRefund.objects.filter(provider_refund_id="sim_desk").update(charge_ref="pay_of_nobody")
    assert found(compared()) == ["missing_here"]
    assert alerts_raised() == [(AlertKind.DIFFERENCE, "simulated:missing_here:sim_desk")]


def test_a_refund_that_only_we_have_is_told() -> None:
    refund = paid()
    SimulatedRefund.objects.all().delete()
    report = compared()
    key = GatewayAttempt.objects.get().idempotency_key
    assert report.differences == [
        {"difference": "missing_there", "number": key, "order_number": "5531", "amount": 230, "currency": "TWD"}
    ]
    alert = StaffAlert.objects.get()
    assert (alert.kind, alert.refund, alert.order) == (AlertKind.DIFFERENCE, refund, refund.order)


def test_another_amount_there_than_here_is_told() -> None:
    paid()
    SimulatedRefund.objects.update(amount=2300)
    report = compared()
    assert found(report) == ["amount"]
    assert report.differences[0]["theirs"] == {"amount": 2300, "currency": "TWD"}


def test_what_is_in_doubt_here_and_paid_there_is_taken_as_the_fact_it_is() -> None:
    switch_on("timeout_after")
    refund = paid()
    assert state_of(refund) == RefundState.UNKNOWN
    assert found(compared()) == []
    assert state_of(refund) == RefundState.SUCCEEDED


def test_every_night_looks_back_so_far_that_a_late_failure_is_found(stripe: Stripe) -> None:
    stripe.charge("ch_1", 158_000)
    order = cast.place("6701", payments=[{**payment_body(1580), "provider": "stripe", "provider_ref": "ch_1"}])
    refund = pending_refund(order, (2, 1, "other"))
    tasks.send_refund(refund.pk)
    in_three_weeks = timezone.now() + timedelta(days=21)
    books.compare_all(in_three_weeks)
    assert alerts_raised() == []
    stripe.refunds[0] |= {"status": "failed", "failure_reason": "lost_or_stolen_card"}
    books.compare_all(in_three_weeks + timedelta(days=1))
    assert GatewayAttempt.objects.get().trouble == Trouble.FAILED_AFTER_PAYMENT
    assert alerts_raised() == [(AlertKind.DIFFERENCE, "stripe:state:re_1")]
    assert state_of(refund) == RefundState.UNKNOWN  # no machine pays again


def test_a_day_is_compared_once_and_a_difference_is_told_once_however_often_it_is_found() -> None:
    paid()
    SimulatedRefund.objects.all().delete()
    until = timezone.now() + timedelta(seconds=1)
    assert compared(until=until) == compared(until=until)
    assert found(compared(until=until + timedelta(minutes=1))) == ["missing_there"]
    assert (BooksCompared.objects.count(), len(alerts_raised())) == (2, 1)


def test_a_provider_that_does_not_give_its_list_keeps_no_other_back_and_is_told(stripe: Stripe) -> None:
    stripe.faults.append(Fault(method="GET", status=500))
    tasks.compare_books()
    assert set(BooksCompared.objects.values_list("provider", flat=True)) == {"simulated", "store_credit"}
    midnight = timezone.localtime().date()
    assert alerts_raised() == [(AlertKind.DIFFERENCE, f"stripe:not_compared:{midnight}")]
    tasks.compare_books()  # and so it is made good
    assert BooksCompared.objects.filter(provider="stripe").exists()


def test_a_list_in_pages_is_read_to_its_end(stripe: Stripe) -> None:
    stripe.charge("ch_1", 158_000)
    stripe.page = 3
    for _ in range(7):
        stripe.refund_at_the_desk("ch_1", 100)
    assert compared("stripe").checked == 7


def test_a_list_that_breaks_off_is_no_list(stripe: Stripe) -> None:
    stripe.charge("ch_1", 158_000)
    stripe.faults.append(Fault(method="GET", hang_up=True))
    with pytest.raises(GatewayTimeout):
        compared("stripe")
    assert not BooksCompared.objects.exists()


def test_no_provider_is_asked_inside_a_transaction() -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        compared()
