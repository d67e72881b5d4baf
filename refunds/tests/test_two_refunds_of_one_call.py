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
from refunds import books, send, tasks
from refunds.attention import admit_failure
from refunds.models import GatewayAttempt, Refund, StaffAlert
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
    return stripe.refund_at_the_desk("ch_1", 38_000, metadata={"idempotency_key": key}, **changes)


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
