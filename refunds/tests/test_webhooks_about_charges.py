"""Stripe reports what it has given back of a charge in all: only the difference to our books is news."""

import pytest

from orders.errors import Refusal
from orders.models import Order
from orders.tests import cast
from refunds import elsewhere, tasks
from refunds.models import ProviderEvent, Refund, StaffAlert
from refunds.states import AlertKind, RefundState
from refunds.tests.ask import ask
from refunds.tests.conftest import disconnect
from refunds.tests.paying import pending_refund, state_of
from refunds.tests.reporting import (
    alerts_of,
    booked,
    charge_told,
    later,
    paid_by_stripe,
    refund_told,
    reports,
)
from refunds.tests.stripe_stand_in import Fault, Stripe

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order(stripe: Stripe) -> Order:
    return paid_by_stripe(stripe)


@pytest.fixture
def refund(order: Order) -> Refund:
    """The case, 380, confirmed and not sent yet."""
    return pending_refund(order, (2, 1, "other"))


def test_the_sum_of_our_own_refunds_is_no_news(stripe: Stripe, refund: Refund) -> None:
    tasks.send_refund(refund.pk)
    kept = reports("charge.refunded", charge_told(stripe))
    assert (kept.outcome, booked(), StaffAlert.objects.count()) == ("nothing new", [], 0)


def test_the_sum_tells_of_our_own_refund_before_we_know_of_it(stripe: Stripe, refund: Refund) -> None:
    """In doubt here, paid there: the difference is looked into, and is our own attempt."""
    stripe.faults.append(Fault(hang_up=True, acted=True))
    tasks.send_refund(refund.pk)
    reports("charge.refunded", charge_told(stripe))
    assert (state_of(refund), booked(), StaffAlert.objects.count()) == (RefundState.SUCCEEDED, [], 0)


def test_a_refund_that_we_never_asked_for_is_booked_and_told_and_stops_quotes_until_it_is_assigned(
    stripe: Stripe, refund: Refund
) -> None:
    tasks.send_refund(refund.pk)
    stripe.refund_at_the_desk("ch_1", 10_000)
    reports("charge.refunded", charge_told(stripe))
    assert (booked(), alerts_of(AlertKind.NOT_ANNOUNCED)) == ([("re_2", 100)], ["stripe:re_2"])
    assert cast.payment(refund.order).refunded_amount == 480
    with pytest.raises(Refusal) as caught:
        ask(refund.order, (1, 1, "other"))
    assert caught.value.code == "needs_assignment"


def test_the_same_refund_told_in_every_way_and_order_is_booked_once(stripe: Stripe, refund: Refund) -> None:
    tasks.send_refund(refund.pk)
    first = charge_told(stripe)
    stripe.refund_at_the_desk("ch_1", 10_000)
    for kind, told in [
        ("refund.created", refund_told(stripe)),
        ("charge.refunded", charge_told(stripe)),
        ("charge.refunded", first),
        ("refund.updated", refund_told(stripe)),
        ("charge.refunded", charge_told(stripe)),
    ]:
        reports(kind, told)
    assert (booked(), alerts_of(AlertKind.NOT_ANNOUNCED)) == ([("re_2", 100)], ["stripe:re_2"])


def test_two_of_them_are_told_by_one_sum_and_booked_each_under_its_number(stripe: Stripe, order: Order) -> None:
    stripe.refund_at_the_desk("ch_1", 10_000)
    stripe.refund_at_the_desk("ch_1", 5_000)
    reports("charge.refunded", charge_told(stripe))
    assert sorted(booked()) == [("re_1", 100), ("re_2", 50)]


def test_what_a_person_had_booked_already_is_not_booked_again(stripe: Stripe, order: Order) -> None:
    body = {"external_ref": "desk 7", "amount": 100, "payment_id": cast.payment(order).pk, "note": "後台退款"}
    elsewhere.record(order=order, body=body, actor=cast.staff("supervisor"))
    stripe.refund_at_the_desk("ch_1", 10_000)
    reports("refund.created", refund_told(stripe))
    reports("charge.refunded", charge_told(stripe))
    assert (booked(), alerts_of(AlertKind.NOT_ANNOUNCED)) == ([("desk 7", 100)], [])


def test_more_than_the_payment_has_left_by_our_books_is_told_and_left_to_a_person(
    stripe: Stripe, refund: Refund
) -> None:
    stripe.refund_at_the_desk("ch_1", 150_000)  # 380 of 1,580 are promised here
    kept = reports("charge.refunded", charge_told(stripe))
    assert (booked(), alerts_of(AlertKind.NOT_ANNOUNCED)) == ([], ["stripe:re_1"])
    assert kept.applied_at
    assert StaffAlert.objects.get().facts["not_booked"] == "payment_has_less"


def test_a_list_that_lags_behind_its_message_is_asked_again(stripe: Stripe, order: Order) -> None:
    ours = stripe.refund_at_the_desk("ch_1", 10_000)
    stripe.refunds.clear()
    early = [reports("refund.created", ours), reports("charge.refunded", charge_told(stripe, amount_refunded=10_000))]
    assert [kept.applied_at for kept in early] == [None, None]
    stripe.refunds.append(ours)
    later()
    tasks.sweep()
    assert (booked(), ProviderEvent.objects.filter(applied_at=None).count()) == ([("re_1", 100)], 0)


def test_a_refund_that_was_booked_as_made_elsewhere_and_then_fails_is_told(stripe: Stripe, order: Order) -> None:
    stripe.refund_at_the_desk("ch_1", 10_000)
    reports("refund.failed", refund_told(stripe, status="failed"))
    assert StaffAlert.objects.count() == 0  # it was never booked
    reports("refund.created", refund_told(stripe))
    reports("refund.failed", refund_told(stripe, status="failed"))
    assert alerts_of(AlertKind.DIFFERENCE) == ["stripe:state:re_1"]


def test_a_difference_that_stripe_cannot_be_asked_about_now_waits_and_is_never_dropped(
    stripe: Stripe, order: Order
) -> None:
    stripe.refund_at_the_desk("ch_1", 10_000)
    stripe.faults += [Fault(method="GET", status=503) for _ in range(5)]
    kept = reports("charge.refunded", charge_told(stripe))
    for _ in range(4):
        later()
        tasks.sweep()
    kept.refresh_from_db()
    assert (kept.applied_at, kept.attempts, booked()) == (None, 5, [])
    assert alerts_of(AlertKind.DIFFERENCE) == [f"stripe:event:{kept.event_id}"]
    later()
    tasks.sweep()
    kept.refresh_from_db()
    assert kept.applied_at
    assert booked() == [("re_1", 100)]


def test_an_event_that_is_put_off_is_tried_more_and_more_rarely(stripe: Stripe, order: Order) -> None:
    stripe.refund_at_the_desk("ch_1", 10_000)
    stripe.faults.append(Fault(method="GET", status=503))
    kept = reports("charge.refunded", charge_told(stripe))
    tasks.sweep()  # at once: too early
    kept.refresh_from_db()
    assert (kept.attempts, kept.applied_at) == (1, None)


def test_where_stripe_is_not_connected_the_difference_itself_is_booked_once(stripe: Stripe, order: Order) -> None:
    disconnect("stripe")
    for sum_so_far in (10_000, 10_000, 15_000, 10_000):
        reports("charge.refunded", charge_told(stripe, amount_refunded=sum_so_far))
    assert booked() == [("ch_1:10000", 100), ("ch_1:15000", 50)]


def test_charges_of_others_and_events_about_something_else_change_nothing(stripe: Stripe, order: Order) -> None:
    assert reports("charge.refunded", charge_told(stripe, id="ch_9", payment_intent="pi_9")).outcome == (
        "no payment of ours"
    )
    assert reports("customer.created", {"id": "cus_1"}).outcome == "not about a refund"
    assert (booked(), StaffAlert.objects.count()) == ([], 0)


def facts_of_the_alert() -> dict[str, object]:
    return dict(StaffAlert.objects.get().facts)


def test_what_is_no_whole_dollar_is_told_as_such_and_compared_in_the_providers_unit(
    stripe: Stripe, refund: Refund
) -> None:
    disconnect("stripe")
    elsewhere.record(
        order=refund.order,
        body={
            "external_ref": "desk 1",
            "amount": 100,
            "payment_id": cast.payment(refund.order).pk,
            "note": "在後台退的",
            "lines": [],
            "for_goods": False,
        },
        actor=cast.staff("supervisor"),
    )
    kept = reports("charge.refunded", charge_told(stripe, amount_refunded=12_345))
    facts = facts_of_the_alert()
    assert (facts["amount"], facts["currency"], facts["not_booked"]) == (2_345, "TWD/100", "another_currency")
    assert kept.outcome == f"told of what {cast.payment(refund.order).pk} lacks (another_currency)"
    assert [number for number, _amount in booked()] == ["desk 1"]


def test_a_sum_below_what_our_books_hold_is_no_news_in_whatever_unit_it_comes(stripe: Stripe, order: Order) -> None:
    disconnect("stripe")
    reports("charge.refunded", charge_told(stripe, amount_refunded=20_000))
    assert reports("charge.refunded", charge_told(stripe, amount_refunded=12_345)).outcome == "nothing new"
    assert booked() == [("ch_1:20000", 200)]


def test_what_stripe_lists_as_no_whole_dollar_is_told_once(stripe: Stripe, order: Order) -> None:
    stripe.refund_at_the_desk("ch_1", 12_345)
    reports("charge.refunded", charge_told(stripe))
    reports("charge.refunded", charge_told(stripe))
    assert (alerts_of(AlertKind.NOT_ANNOUNCED), alerts_of(AlertKind.DIFFERENCE)) == (["stripe:re_1"], [])
    assert facts_of_the_alert()["amount"] == 12_345
