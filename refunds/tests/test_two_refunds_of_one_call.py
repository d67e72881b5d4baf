"""The provider has made two refunds for one call of ours: one is ours, the other nobody asked for, and people hear."""

from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from django.utils import timezone

from orders.actors import staff_actor
from orders.errors import Refusal
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import alerts, books, send, tasks
from refunds.attention import admit_failure
from refunds.by_hand import paid_by_hand
from refunds.elsewhere import assign, record
from refunds.models import GatewayAttempt, Refund, StaffAlert
from refunds.retry import retry
from refunds.states import AlertKind, RefundState
from refunds.tests.ask import ask
from refunds.tests.paying import outcomes, pending_refund, state_of, time_passes
from refunds.tests.reporting import alerts_of, booked, charge_told, paid_by_stripe, refund_told, reports
from refunds.tests.stripe_stand_in import Fault, Stripe

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order(stripe: Stripe) -> Order:
    return paid_by_stripe(stripe)


@pytest.fixture
def refund(order: Order) -> Refund:
    """The case, 380, confirmed and not sent yet."""
    return pending_refund(order, (2, 1, "other"))


def twin(stripe: Stripe, **changes: Any) -> dict[str, Any]:
    """Stripe had forgotten the key, and has made another refund for the same call."""
    key = GatewayAttempt.objects.get().idempotency_key
    return stripe.refund_at_the_desk("ch_1", **{"amount": 38_000, "metadata": {"idempotency_key": key}, **changes})


def compared() -> list[str]:
    now = timezone.now()
    report = books.compare(provider="stripe", since=now - timedelta(days=1), until=now + timedelta(days=1))
    return [each["difference"] for each in report.differences]


def told_of_the_refund(stripe: Stripe) -> None:
    reports("refund.created", stripe.refunds[0])


def told_of_the_sum(stripe: Stripe) -> None:
    reports("charge.refunded", charge_told(stripe))


def told_by_the_list(stripe: Stripe) -> None:
    assert compared() == ["missing_here"]


@pytest.mark.parametrize("news", [told_of_the_refund, told_of_the_sum, told_by_the_list])
def test_the_second_one_is_booked_told_and_stops_quotes(stripe: Stripe, refund: Refund, news: Any) -> None:
    tasks.send_refund(refund.pk)
    twin(stripe)
    news(stripe)
    told_of_the_sum(stripe)
    assert (booked(), alerts_of(AlertKind.NOT_ANNOUNCED)) == ([("re_2", 380)], ["stripe:re_2"])
    alert = StaffAlert.objects.get()
    assert (alert.attempt, alert.facts["second_of"]) == (GatewayAttempt.objects.get(), "re_1")
    assert (outcomes(), cast.payment(refund.order).refunded_amount) == ([(1, "succeeded")], 760)
    with pytest.raises(Refusal) as caught:
        ask(refund.order, (1, 1, "other"))
    assert caught.value.code == "needs_assignment"


def test_a_second_one_that_has_failed_spoils_nothing(stripe: Stripe, refund: Refund) -> None:
    tasks.send_refund(refund.pk)
    reports("refund.failed", twin(stripe, status="failed"))
    books.look_at(cast.payment(refund.order))
    attempt = GatewayAttempt.objects.get()
    assert (state_of(refund), attempt.outcome, attempt.trouble) == (RefundState.SUCCEEDED, "succeeded", "")
    assert (booked(), StaffAlert.objects.count()) == ([], 0)


@pytest.mark.parametrize("in_turn", list(permutations(["succeeded", "failed"])))
def test_whichever_of_the_two_is_told_first_the_one_that_paid_is_ours(
    stripe: Stripe, refund: Refund, in_turn: tuple[str, ...]
) -> None:
    assert send.claim_allocation(refund.allocations.get().pk)
    for status in in_turn:
        twin(stripe, status=status)
        reports("refund.created", refund_told(stripe))
    assert (state_of(refund), outcomes(), booked()) == (RefundState.SUCCEEDED, [(1, "succeeded")], [])
    assert GatewayAttempt.objects.get().provider_refund_id == f"re_{in_turn.index('succeeded') + 1}"


def test_what_is_asked_about_is_paid_if_one_of_the_two_is(stripe: Stripe, refund: Refund) -> None:
    stripe.faults.append(Fault(hang_up=True, acted=True))
    tasks.send_refund(refund.pk)
    twin(stripe, status="failed")
    time_passes(60)
    tasks.sweep()
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "succeeded")])


def test_a_refund_of_ours_that_the_list_lacks_is_not_hidden_by_the_second_one(stripe: Stripe, refund: Refund) -> None:
    tasks.send_refund(refund.pk)
    twin(stripe)
    stripe.refunds.pop()  # ours
    assert compared() == ["missing_here", "missing_there"]


def test_a_sum_that_our_books_do_not_explain_is_told(stripe: Stripe, refund: Refund) -> None:
    """A person has said that it failed; Stripe goes on counting it as given back."""
    tasks.send_refund(refund.pk)
    reports("refund.failed", refund_told(stripe, status="failed"))
    supervisor = staff_actor(cast.staff_user("supervisor"))
    admit_failure(refund_id=refund.pk, actor=supervisor, note="收單行說退款失敗")
    for _ in range(2):
        told_of_the_sum(stripe)
    payment = cast.payment(refund.order)
    alert = StaffAlert.objects.get(subject=f"stripe:given_back:{payment.pk}:380")
    assert (alert.facts["ours"]["amount"], alert.facts["theirs"]["amount"]) == (0, 380)


def test_what_is_under_way_is_no_difference(stripe: Stripe, refund: Refund) -> None:
    stripe.status = "pending"
    tasks.send_refund(refund.pk)
    told_of_the_sum(stripe)
    assert (state_of(refund), StaffAlert.objects.count()) == (RefundState.UNKNOWN, 0)


# --- ours fails later, and the other one may be the customer's money ---
def ours_fails(stripe: Stripe, refund: Refund) -> None:
    ours = stripe.refunds[-1]  # the list begins with the newest
    ours["status"] = "failed"
    reports("refund.failed", ours)
    admit_failure(refund_id=refund.pk, actor=cast.staff("supervisor"), note="收單行說退款失敗")
    assert state_of(refund) == RefundState.FAILED


def two_of_one_call(stripe: Stripe, refund: Refund) -> None:
    tasks.send_refund(refund.pk)
    reports("refund.created", twin(stripe))
    ours_fails(stripe, refund)


def sent_once_more(refund: Refund) -> str:
    """The code of the refusal, or nothing."""
    try:
        retry(refund_id=refund.pk, actor=cast.staff())
    except Refusal as refusal:
        return refusal.code if refusal.hint and "re_2" in refusal.message else "in no words"
    return ""


def test_nothing_is_sent_once_more_before_the_other_one_is_explained(stripe: Stripe, refund: Refund) -> None:
    two_of_one_call(stripe, refund)
    assert (sent_once_more(refund), state_of(refund)) == ("may_be_paid", RefundState.FAILED)
    paid_by_hand(refund_id=refund.pk, external_ref="re_2", actor=cast.staff("supervisor"), note="第二筆就是")
    assert (state_of(refund), cast.payment(refund.order).refunded_amount) == (RefundState.SUCCEEDED, 380)
    assert len(stripe.refunds) == 2


def test_once_it_is_said_that_the_other_one_was_for_something_else_ours_is_sent(stripe: Stripe, refund: Refund) -> None:
    two_of_one_call(stripe, refund)
    booking = Refund.objects.get(external_ref="re_2")
    facts: dict[str, Any] = {"lines": [], "for_goods": False, "note": "另一筆賠償"}
    assign(refund_id=booking.pk, actor=cast.staff("supervisor"), **facts)
    told_of_the_refund(stripe)
    assert compared() == []
    assert (sent_once_more(refund), cast.payment(refund.order).refunded_amount) == ("", 760)


def test_told_once_more_the_other_one_is_ours_and_counts_once(stripe: Stripe, refund: Refund) -> None:
    two_of_one_call(stripe, refund)
    reports("refund.updated", stripe.refunds[0])
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "succeeded")])
    assert Refund.objects.get(external_ref__startswith="re_2~").state == RefundState.REJECTED
    assert cast.payment(refund.order).refunded_amount == 380


def test_a_second_one_of_another_sum_is_not_ours(stripe: Stripe, refund: Refund) -> None:
    tasks.send_refund(refund.pk)
    reports("refund.created", twin(stripe, amount=10_000))
    ours_fails(stripe, refund)
    told_of_the_refund(stripe)
    assert (state_of(refund), GatewayAttempt.objects.get().trouble) == (RefundState.FAILED, "")
    assert (booked(), sent_once_more(refund)) == ([("re_2", 100)], "may_be_paid")


def test_nor_is_one_that_a_person_had_found_once_ours_was_paid_by_hand(stripe: Stripe, refund: Refund) -> None:
    """Both count in our books, and neither is a trouble of the attempt that has failed."""
    tasks.send_refund(refund.pk)
    ours_fails(stripe, refund)
    twin(stripe)
    facts = {"external_ref": "re_2", "amount": 380, "payment_id": cast.payment(refund.order).pk, "note": "後台看到的"}
    record(order=refund.order, body=facts, actor=cast.staff("supervisor"))
    paid_by_hand(refund_id=refund.pk, external_ref="匯款 0412", actor=cast.staff("supervisor"), note="匯了")
    told_of_the_refund(stripe)
    assert (state_of(refund), GatewayAttempt.objects.get().trouble) == (RefundState.SUCCEEDED, "")
    assert cast.payment(refund.order).refunded_amount == 760


def test_one_that_could_not_be_booked_keeps_ours_back_until_its_alert_is_settled(stripe: Stripe) -> None:
    stripe.charge("ch_1", 38_000)
    card = {**payment_body(380), "provider": "stripe", "provider_ref": "ch_1"}
    refund = pending_refund(cast.place("6603", lines=[("殼", 380, 1)], payments=[card]), (1, 1, "other"))
    tasks.send_refund(refund.pk)
    with stripe.lock:
        stripe.charges["ch_1"]["amount"] = 76_000  # Stripe's own mistake
    reports("refund.created", twin(stripe))
    ours_fails(stripe, refund)
    assert sent_once_more(refund) == "may_be_paid"
    alert = StaffAlert.objects.get(kind=AlertKind.NOT_ANNOUNCED)
    assert alert.facts["not_booked"] == "payment_has_less"
    alerts.settle(alert_id=alert.pk, actor=cast.staff(), note="已向收單行追回")
    assert sent_once_more(refund) == ""
