"""A refund at the provider's desk that was reported first, and then told by a person: the same money counts once."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from orders.errors import Refusal
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import payment_body
from orders.tests.race import at_once
from refunds import attention, books, elsewhere, given_back, reported, selectors, stripe_facts, tasks
from refunds.by_hand import paid_by_hand
from refunds.elsewhere_undone import undo
from refunds.models import GatewayAttempt, Refund, StaffAlert
from refunds.states import AlertKind, AttemptOutcome, RefundKind, RefundState
from refunds.tests.paying import outcomes, pending_refund, state_of
from refunds.tests.reporting import alerts_of, charge_told, paid_by_stripe, refund_told, reports
from refunds.tests.stripe_stand_in import Fault, Stripe

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order(stripe: Stripe) -> Order:
    return paid_by_stripe(stripe)


def refused(stripe: Stripe, order: Order, **fault: Any) -> Refund:
    """The case, 380, confirmed and refused by Stripe."""
    refund = pending_refund(order, (2, 1, "other"))
    stripe.faults.append(Fault(status=402, **fault))
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.FAILED
    return refund


def reported_first(stripe: Stripe, amount: int = 38_000) -> None:
    stripe.refund_at_the_desk("ch_1", amount)
    reports("refund.created", refund_told(stripe))


def by_hand(refund: Refund, number: str) -> Refund:
    actor = cast.staff("supervisor")
    return paid_by_hand(refund_id=refund.pk, external_ref=number, actor=actor, note="在收單行後台退的")


def a_person_books(order: Order, number: str, amount: int = 380, **goods: Any) -> Refund:
    body = {"external_ref": number, "amount": amount, "payment_id": cast.payment(order).pk, "note": "匯款"}
    facts = {**body, **(goods or {"lines": [], "for_goods": False})}
    return elsewhere.record(order=order, body=facts, actor=cast.staff("supervisor"))


def told_in_every_way(stripe: Stripe) -> None:
    reports("refund.created", refund_told(stripe))
    reports("charge.refunded", charge_told(stripe))
    now = timezone.now()
    books.compare(provider="stripe", since=now - timedelta(days=1), until=now + timedelta(days=1))


def counted(order: Order) -> tuple[int, int]:
    """What the payment counts as given back, and what the books hold beside the provider's list."""
    payment = cast.payment(order)
    return payment.refunded_amount, given_back.known(payment)


def bookings() -> list[tuple[int, str]]:
    rows = Refund.objects.filter(kind=RefundKind.ELSEWHERE).order_by("created_at")
    return list(rows.values_list("amount", "state"))


def test_under_its_number_it_is_the_refund_that_was_paid_by_hand(stripe: Stripe, order: Order) -> None:
    refund = refused(stripe, order)
    reported_first(stripe)
    assert counted(order) == (760, 380)
    assert by_hand(refund, "re_1").state == RefundState.SUCCEEDED
    told_in_every_way(stripe)
    assert (counted(order), bookings()) == ((380, 380), [(380, "rejected")])
    assert alerts_of(AlertKind.NOT_ANNOUNCED) == ["stripe:re_1"]


def test_under_another_number_a_person_has_to_say_first_whether_it_is_the_same(stripe: Stripe, order: Order) -> None:
    refund = refused(stripe, order)
    reported_first(stripe)
    with pytest.raises(Refusal) as caught:
        by_hand(refund, "後台 11/29")
    assert (caught.value.code, caught.value.field) == ("reported_already", "external_ref")
    assert caught.value.details["external_ref"] == "re_1"
    assert (state_of(refund), bookings()) == (RefundState.FAILED, [(380, "succeeded")])
    a_person_books(order, "re_1")  # it was another one, for no goods
    assert by_hand(refund, "後台 11/29").state == RefundState.SUCCEEDED
    assert counted(order) == (760, 760)


def test_what_a_person_books_is_not_booked_beside_the_same_that_was_reported(stripe: Stripe, order: Order) -> None:
    reported_first(stripe)
    with pytest.raises(Refusal) as caught:
        a_person_books(order, "匯款 4411")
    assert caught.value.code == "reported_already"
    assert a_person_books(order, "匯款 4412", 100).amount == 100
    lines = [{"line_item_id": "li_2", "quantity": 1}]
    assert a_person_books(order, "re_1", lines=lines, for_goods=True).quote is not None
    assert (counted(order)[0], bookings()) == (480, [(380, "succeeded"), (100, "succeeded")])


def test_of_two_reported_ones_a_person_means_one(stripe: Stripe, order: Order) -> None:
    refund = refused(stripe, order)
    for _ in range(2):
        reported_first(stripe)
    by_hand(refund, "re_2")
    told_in_every_way(stripe)
    assert (counted(order), bookings()) == ((760, 760), [(380, "succeeded"), (380, "rejected")])
    assert Refund.objects.get(external_ref__startswith="re_2~").same_as == refund


def two_parts_refused(stripe: Stripe) -> Refund:
    """1,200 on two cards, 1,000 and 200; both are refused."""
    stripe.charge("ch_1", 100_000, payment_intent="pi_1")
    stripe.charge("ch_2", 58_000, payment_intent="pi_2")
    cards = [(1000, "p1", "ch_1"), (580, "p2", "ch_2")]
    payments = [
        {**payment_body(amount, external_id=name), "provider": "stripe", "provider_ref": charge}
        for amount, name, charge in cards
    ]
    refund = pending_refund(cast.place("6602", payments=payments), (1, 1, "other"))
    stripe.faults += [Fault(status=402), Fault(status=402)]
    tasks.send_refund(refund.pk)
    return refund


def parts(refund: Refund) -> list[tuple[int, str, str]]:
    return list(refund.allocations.order_by("position").values_list("amount", "state", "external_ref"))


def test_one_number_of_the_providers_pays_the_part_that_it_is_and_no_other(stripe: Stripe) -> None:
    refund = two_parts_refused(stripe)
    stripe.refund_at_the_desk("ch_2", 20_000)
    reports("refund.created", refund_told(stripe))
    for _ in range(2):
        assert by_hand(refund, "re_1").state == RefundState.FAILED
        assert parts(refund) == [(1000, "failed", ""), (200, "succeeded", "re_1")]
    assert by_hand(refund, "匯款 4411").state == RefundState.SUCCEEDED
    assert parts(refund) == [(1000, "succeeded", "匯款 4411"), (200, "succeeded", "re_1")]


def test_each_of_two_that_were_reported_is_told_under_its_own_number(stripe: Stripe) -> None:
    refund = two_parts_refused(stripe)
    for charge, amount in (("ch_1", 100_000), ("ch_2", 20_000)):
        stripe.refund_at_the_desk(charge, amount)
        reports("refund.created", refund_told(stripe))
    assert bookings() == [(200, "succeeded")]  # the other could not be booked: its payment has nothing left
    assert by_hand(refund, "re_1").state == RefundState.FAILED
    assert parts(refund) == [(1000, "succeeded", "re_1"), (200, "failed", "")]
    assert by_hand(refund, "re_2").state == RefundState.SUCCEEDED
    assert bookings() == [(200, "rejected")]


def test_what_was_reported_and_could_not_be_booked_pays_no_part_of_another_sum(stripe: Stripe) -> None:
    refund = two_parts_refused(stripe)
    stripe.refund_at_the_desk("ch_1", 90_000)
    reports("refund.created", refund_told(stripe))
    with pytest.raises(Refusal) as caught:
        by_hand(refund, "re_1")
    assert (caught.value.code, state_of(refund)) == ("reference_reused", RefundState.FAILED)


def test_a_person_and_a_report_at_the_same_moment_count_it_once(stripe: Stripe, order: Order) -> None:
    refund = refused(stripe, order)
    line = stripe_facts.refund_line(stripe.refund_at_the_desk("ch_1", 38_000))
    payment = cast.payment(order)
    at_once([lambda: by_hand(refund, "re_1"), lambda: reported.take_over(payment, [line])])
    assert (state_of(refund), counted(order)) == (RefundState.SUCCEEDED, (380, 380))


def test_a_refund_that_was_sent_from_here_is_nothing_to_book(stripe: Stripe, order: Order) -> None:
    tasks.send_refund(pending_refund(order, (2, 1, "other")).pk)
    with pytest.raises(Refusal) as caught:
        a_person_books(order, "re_1")
    assert (caught.value.code, counted(order)) == ("reference_reused", (380, 380))


# --- the gateway has refused, and has paid all the same ---
def test_what_a_person_found_at_the_providers_under_its_number_is_no_second_payment(
    stripe: Stripe, order: Order
) -> None:
    refund = refused(stripe, order, acted=True)
    by_hand(refund, "re_1")
    told_in_every_way(stripe)
    attempt = GatewayAttempt.objects.get()
    assert (attempt.outcome, attempt.trouble) == (AttemptOutcome.SUCCEEDED, "")
    assert (counted(order), list(selectors.needs_a_look())) == ((380, 380), [])
    assert StaffAlert.objects.count() == 0


def test_under_another_number_somebody_looks_into_it_and_then_it_counts_once(stripe: Stripe, order: Order) -> None:
    refund = refused(stripe, order, acted=True)
    by_hand(refund, "匯款 4411")
    told_in_every_way(stripe)
    assert list(selectors.needs_a_look()) == [refund]
    attention.settle(refund_id=refund.pk, actor=cast.staff(), note="匯款已收回", stands="provider")
    assert (counted(order), outcomes()) == ((380, 380), [(1, "succeeded")])
    assert not selectors.needs_a_look().exists()


def test_another_sum_under_the_number_of_ours_is_nothing_that_a_machine_takes_back(
    stripe: Stripe, order: Order
) -> None:
    stripe.faults.append(Fault(hang_up=True, acted=True))
    tasks.send_refund(pending_refund(order, (2, 1, "other")).pk)
    body = {"external_ref": "re_1", "amount": 100, "payment_id": cast.payment(order).pk, "note": "後台看到的"}
    elsewhere.record(order=order, body=body, actor=cast.staff("supervisor"))
    told_in_every_way(stripe)
    assert (counted(order)[0], bookings()) == (480, [(100, "succeeded")])
    assert alerts_of(AlertKind.DIFFERENCE) == ["stripe:booked_twice:re_1"]


def test_what_a_person_has_booked_while_it_was_in_doubt_is_told_when_it_turns_out_to_be_ours(
    stripe: Stripe, order: Order
) -> None:
    stripe.faults.append(Fault(hang_up=True, acted=True))
    refund = pending_refund(order, (2, 1, "other"))
    tasks.send_refund(refund.pk)
    booking = a_person_books(order, "re_1")
    told_in_every_way(stripe)
    assert state_of(refund) == RefundState.SUCCEEDED
    alert = StaffAlert.objects.get(subject="stripe:booked_twice:re_1")
    assert (alert.refund, alert.facts["number"]) == (booking, refund.pk)


def test_a_booking_that_was_taken_back_and_is_listed_again_is_told_again(stripe: Stripe, order: Order) -> None:
    reported_first(stripe)
    undo(refund_id=Refund.objects.get().pk, actor=cast.staff("supervisor"), note="查無此筆")
    told_in_every_way(stripe)
    assert bookings() == [(380, "rejected"), (380, "succeeded")]
    assert alerts_of(AlertKind.NOT_ANNOUNCED) == ["stripe:re_1", "stripe:re_1:2"]
