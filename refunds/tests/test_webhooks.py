"""Stripe reports: signed, kept once, applied afterwards; early, late, twice and in any order, with the same end."""

import json
from itertools import permutations
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from orders.actors import staff_actor
from orders.errors import Refusal
from orders.models import Order
from orders.tests import cast
from orders.tests.race import at_once
from refunds import outcome, provider_events, send, tasks
from refunds.attention import admit_failure, settle
from refunds.gateways.base import GatewayAnswer
from refunds.models import GatewayAttempt, ProviderEvent, Refund
from refunds.retry import retry
from refunds.states import AlertKind, RefundState, Trouble
from refunds.tests.paying import outcomes, pending_refund, state_of
from refunds.tests.reporting import (
    ADDRESS,
    alerts_of,
    booked,
    charge_told,
    paid_by_stripe,
    post,
    refund_told,
    reports,
)
from refunds.tests.stripe_stand_in import Fault, Stripe, event, signed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order(stripe: Stripe) -> Order:
    return paid_by_stripe(stripe)


@pytest.fixture
def refund(order: Order) -> Refund:
    """The case, 380, confirmed and not sent yet."""
    return pending_refund(order, (2, 1, "other"))


# --- the address ---
def test_an_event_is_kept_and_answered_at_once(stripe: Stripe) -> None:
    body = json.dumps(event("charge.refunded", {"id": "ch_unknown", "amount_refunded": 100, "currency": "twd"}))
    assert post(body) == 200
    kept = ProviderEvent.objects.get()
    assert (kept.event_id, kept.kind, kept.applied_at, kept.payload) == (
        "evt_1",
        "charge.refunded",
        None,
        json.loads(body),
    )


@pytest.mark.parametrize(
    "forge",
    [
        lambda body: signed(body, secret="whsec_of_somebody_else"),
        lambda body: signed(body + " "),
        lambda body: signed(body, seconds_ago=301),
        lambda body: signed(body).replace("v1=", "v0="),
        lambda body: "",
        lambda body: "nonsense",
        lambda body: "t=1,v1=é",
    ],
)
def test_what_is_not_signed_by_stripe_is_refused_and_not_kept(stripe: Stripe, forge: Any) -> None:
    body = json.dumps(event("refund.updated", {"id": "re_1"}))
    assert post(body, forge(body)) == 400
    assert not ProviderEvent.objects.exists()


def test_without_a_secret_nothing_is_accepted(stripe: Stripe, settings: Settings) -> None:
    settings.STRIPE_WEBHOOK_SECRET = ""
    body = json.dumps(event("refund.updated", {"id": "re_1"}))
    assert post(body, signed(body, secret="")) == 400
    assert not ProviderEvent.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{}",
        "nonsense",
        '{"id": 1, "type": "x"}',
        '{"id": "e", "type": "\\u0000"}',
        '{"id": "e", "type": "t", "data": 1e400}',
        '{"id": "e", "type": "t", "data": -1e400}',
        '{"id": "e", "type": "t", "data": NaN}',
        '{"id": "e", "type": "t", "data": [Infinity]}',
        '{"id": "e", "type": "t", "data": "\\ud800"}',
        '{"id": "\\udfff", "type": "t"}',
        "[" * 50_000,
        '{"id": "e", "type": "t", "data": ' + "[" * 900 + "]" * 900 + "}",
        '{"id": "e", "type": "t", "data": ' + "9" * 5_000 + "}",
    ],
)
def test_a_signed_body_that_is_no_event_is_refused(stripe: Stripe, body: str) -> None:
    assert post(body) == 400
    assert not ProviderEvent.objects.exists()


@pytest.mark.parametrize(("header", "code"), [("nonsense", "wrong_signature"), (None, "malformed_body")])
def test_a_refusal_is_the_one_error_object(stripe: Stripe, header: str | None, code: str) -> None:
    headers = {"Stripe-Signature": header or signed("[]"), "Accept-Language": "en"}
    answer = Client().post(ADDRESS, "[]", content_type="application/json", headers=headers)
    assert (answer.status_code, answer.json()["code"], answer.json()["retryable"]) == (400, code, False)
    assert answer.json()["message"]
    assert answer.json()["hint"]


@pytest.mark.parametrize("amount", [-38_000, 380.5, True, None, "38000"])
def test_an_amount_that_cannot_be_is_refused_once_for_all_and_told(
    stripe: Stripe, refund: Refund, amount: object
) -> None:
    tasks.send_refund(refund.pk)
    told = [
        reports("refund.updated", refund_told(stripe, amount=amount)),
        reports("charge.refunded", charge_told(stripe, amount_refunded=amount)),
    ]
    assert all(kept.applied_at and kept.outcome.startswith("refused: amount") for kept in told)
    assert (state_of(refund), booked()) == (RefundState.SUCCEEDED, [])
    assert alerts_of(AlertKind.DIFFERENCE) == [f"stripe:event:{kept.event_id}" for kept in told]


def test_bytes_that_are_no_text_are_refused(stripe: Stripe) -> None:
    headers = {"Stripe-Signature": signed("x")}
    assert Client().post(ADDRESS, b"\xff\xfe", content_type="application/json", headers=headers).status_code == 400


def test_only_post_is_answered() -> None:
    assert Client().get(ADDRESS).status_code == 405


def test_an_event_that_is_delivered_twice_is_kept_and_applied_once(stripe: Stripe, refund: Refund) -> None:
    tasks.send_refund(refund.pk)
    body = json.dumps(event("refund.updated", refund_told(stripe)))
    assert [post(body), post(body)] == [200, 200]
    provider_events.apply_waiting()
    provider_events.apply_waiting()
    kept = ProviderEvent.objects.get()
    assert (kept.attempts, kept.applied_at is not None) == (1, True)


def test_an_event_that_is_delivered_many_times_at_once_is_kept_once(stripe: Stripe) -> None:
    body = json.dumps(event("refund.updated", {"id": "re_1"}))
    header = signed(body)
    assert at_once([lambda: post(body, header)] * 6) == [200] * 6
    assert ProviderEvent.objects.count() == 1


def test_an_event_whose_job_was_lost_is_applied_by_the_sweeper(stripe: Stripe, refund: Refund) -> None:
    tasks.send_refund(refund.pk)
    stripe.refund_at_the_desk("ch_1", 10_000)
    assert post(json.dumps(event("charge.refunded", charge_told(stripe)))) == 200
    tasks.sweep()
    assert ProviderEvent.objects.get().applied_at
    assert booked() == [("re_2", 100)]


# --- about a refund of ours ---
def test_a_report_before_the_api_has_answered_pays_once(stripe: Stripe, refund: Refund) -> None:
    """The worker has called and not written down what came of it; the report is first."""
    claim = send.claim_allocation(refund.allocations.get().pk)
    assert claim is not None
    answer = send._call(claim)
    reports("refund.created", refund_told(stripe))
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "succeeded")])
    assert isinstance(answer, GatewayAnswer)
    outcome.record_success(claim.attempt, answer)
    assert (state_of(refund), outcomes(), len(stripe.posts())) == (RefundState.SUCCEEDED, [(1, "succeeded")], 1)


def test_the_report_and_the_api_answer_at_the_same_moment_write_one_success(stripe: Stripe, refund: Refund) -> None:
    claim = send.claim_allocation(refund.allocations.get().pk)
    assert claim is not None
    answer = send._call(claim)
    assert isinstance(answer, GatewayAnswer)
    body = json.dumps(event("refund.updated", refund_told(stripe)))
    assert post(body) == 200
    kept = ProviderEvent.objects.get().pk
    at_once([lambda: outcome.record_success(claim.attempt, answer), lambda: tasks.apply_event(kept)] * 2)
    events = refund.order.audit_events.filter(action__in=["attempt.succeeded", "refund.succeeded"])
    assert (state_of(refund), events.count()) == (RefundState.SUCCEEDED, 2)


def test_a_report_ends_doubt(stripe: Stripe, refund: Refund) -> None:
    stripe.faults.append(Fault(hang_up=True, acted=True))
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.UNKNOWN
    reports("refund.updated", refund_told(stripe))
    assert state_of(refund) == RefundState.SUCCEEDED


@pytest.mark.parametrize("order_of_arrival", list(permutations(["pending", "succeeded", "failed"])))
def test_whatever_the_order_of_the_reports_a_refund_that_failed_is_never_called_paid_in_silence(
    stripe: Stripe, refund: Refund, order_of_arrival: tuple[str, ...]
) -> None:
    stripe.status = "pending"
    tasks.send_refund(refund.pk)
    for status in order_of_arrival:
        reports("refund.updated", refund_told(stripe, status=status))
    attempt = GatewayAttempt.objects.get()
    if order_of_arrival.index("succeeded") < order_of_arrival.index("failed"):
        assert (state_of(refund), attempt.trouble) == (RefundState.UNKNOWN, Trouble.FAILED_AFTER_PAYMENT)
        assert alerts_of(AlertKind.DIFFERENCE) == ["stripe:state:re_1"]
    else:
        assert (state_of(refund), attempt.outcome) == (RefundState.FAILED, "refused")


def test_a_refund_that_fails_after_it_was_paid_is_a_persons_matter_and_no_machine_pays_again(
    stripe: Stripe, refund: Refund
) -> None:
    tasks.send_refund(refund.pk)
    for _ in range(2):
        reports("refund.failed", refund_told(stripe, status="failed", failure_reason="expired_or_canceled_card"))
    tasks.sweep()
    attempt = GatewayAttempt.objects.get()
    assert (state_of(refund), attempt.trouble, attempt.code) == (
        RefundState.UNKNOWN,
        Trouble.FAILED_AFTER_PAYMENT,
        "expired_or_canceled_card",
    )
    assert len(stripe.posts()) == 1
    assert refund.order.audit_events.filter(action="attempt.failed_after_paid").count() == 1


def test_a_person_says_that_it_has_failed_indeed_and_only_then_can_it_be_sent_once_more(
    stripe: Stripe, refund: Refund
) -> None:
    tasks.send_refund(refund.pk)
    supervisor = staff_actor(cast.staff_user("supervisor"))
    with pytest.raises(Refusal, match=refund.pk):  # nothing was reported yet
        admit_failure(refund_id=refund.pk, actor=supervisor, note="打電話問過了")
    reports("refund.failed", refund_told(stripe, status="failed", failure_reason="expired_or_canceled_card"))
    with pytest.raises(Refusal):
        retry(refund_id=refund.pk, actor=supervisor)
    admit_failure(refund_id=refund.pk, actor=supervisor, note="收單行說退款失敗")
    assert (state_of(refund), GatewayAttempt.objects.get().outcome) == (RefundState.FAILED, "refused")
    # The same report once more is nothing new, and an old success is older news.
    reports("refund.updated", refund_told(stripe, status="failed"))
    retry(refund_id=refund.pk, actor=supervisor)
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.SUCCEEDED
    assert len(stripe.posts()) == 2
    refund.refresh_from_db()
    assert refund.finished_at is not None


def test_a_person_says_that_it_was_paid_all_the_same(stripe: Stripe, refund: Refund) -> None:
    tasks.send_refund(refund.pk)
    reports("refund.failed", refund_told(stripe, status="failed"))
    refund.refresh_from_db()
    assert refund.finished_at is None
    settle(refund_id=refund.pk, actor=staff_actor(cast.staff_user("supervisor")), note="收單行確認已退")
    assert (state_of(refund), len(stripe.posts())) == (RefundState.SUCCEEDED, 1)


def test_a_report_of_another_sum_than_was_asked_is_no_success(stripe: Stripe, refund: Refund) -> None:
    assert send.claim_allocation(refund.allocations.get().pk)
    key = GatewayAttempt.objects.get().idempotency_key
    stripe.refund_at_the_desk("ch_1", 37_950, metadata={"idempotency_key": key})
    reports("refund.updated", refund_told(stripe))
    assert (state_of(refund), GatewayAttempt.objects.get().trouble) == (RefundState.UNKNOWN, Trouble.AMOUNT_DIFFERS)
