"""Nobody saw the end of a gateway call: it is asked about, never paid under a new key, and the refund ends."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from structlog.testing import capture_logs

from orders.errors import Refusal
from orders.tests import cast
from refunds import gateways, outcome, reconcile, retry, send, tasks
from refunds.gateways.base import (
    CONNECTED,
    Capabilities,
    Charge,
    GatewayAnswer,
    GatewayRefused,
    GatewayTimeout,
    StillPending,
)
from refunds.models import GatewayAttempt, Refund, RefundQuote, SimulatedRefund
from refunds.states import AttemptOutcome, QuoteState, RefundState
from refunds.tests.ask import ask
from refunds.tests.paying import outcomes, paid_out, pending_refund, state_of, switch_on, time_passes

pytestmark = pytest.mark.django_db(transaction=True)


def in_doubt(fault: str) -> Refund:
    switch_on(fault)
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.UNKNOWN
    return refund


def test_a_call_that_timed_out_after_paying_becomes_a_success_without_a_second_payment() -> None:
    refund = in_doubt("timeout_after")
    tasks.sweep()
    assert (state_of(refund), paid_out(), outcomes()) == (RefundState.SUCCEEDED, [230], [(1, "succeeded")])


def test_a_call_that_timed_out_before_paying_fails_after_three_asks_over_half_a_minute() -> None:
    refund = in_doubt("timeout_before")
    for _ in range(2):
        tasks.sweep()
        assert state_of(refund) == RefundState.UNKNOWN
        time_passes(16)
    tasks.sweep()
    assert (state_of(refund), paid_out()) == (RefundState.FAILED, [])
    assert GatewayAttempt.objects.get().code == "no_record"


def test_three_asks_in_a_row_are_not_enough_to_be_sure() -> None:
    refund = in_doubt("timeout_before")
    for _ in range(5):
        GatewayAttempt.objects.update(asked_at=None)
        tasks.sweep()
    assert state_of(refund) == RefundState.UNKNOWN
    time_passes(300)
    tasks.sweep()
    assert state_of(refund) == RefundState.FAILED


def test_a_gateway_that_does_not_answer_the_question_is_asked_again_and_nothing_is_concluded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refund = in_doubt("timeout_before")
    monkeypatch.setitem(gateways._GATEWAYS, "simulated", SilentGateway())
    for _ in range(5):
        time_passes(300)
        tasks.sweep()
    attempt = GatewayAttempt.objects.get()
    assert (state_of(refund), attempt.times_asked, attempt.times_tried) == (RefundState.UNKNOWN, 0, 5)


def test_a_silent_gateway_is_asked_more_and_more_rarely_and_that_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    in_doubt("timeout_before")
    monkeypatch.setitem(gateways._GATEWAYS, "simulated", gateway := SilentGateway())
    with capture_logs() as logs:
        for _ in range(360):  # an hour
            time_passes(10)
            tasks.sweep()
    assert 5 < len(gateway.asked) < 12
    assert {entry["log_level"] for entry in logs} == {"info"}


def test_a_dead_workers_call_is_taken_over_more_and_more_rarely_while_the_gateway_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refund = pending_refund()
    assert send.claim_allocation(refund.allocations.get().pk)  # and here the worker dies
    monkeypatch.setitem(gateways._GATEWAYS, "simulated", gateway := SilentGateway())
    for _ in range(180):  # half an hour
        time_passes(10)
        tasks.sweep()
    assert (5 < len(gateway.asked) < 12, outcomes()) == (True, [(1, "sending")])


def test_a_silent_provider_costs_a_round_three_time_outs_and_keeps_no_other_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refunds = [in_doubt_of_another_order(number) for number in ("6302", "6304", "6305", "6306", "6307")]
    heard = GatewayAttempt.objects.get(allocation__refund=refunds[4])
    GatewayAttempt.objects.exclude(pk=heard.pk).update(provider="dead")
    monkeypatch.setitem(gateways._GATEWAYS, "dead", gateway := SilentGateway())
    monkeypatch.setitem(CONNECTED, "dead", Capabilities)
    monkeypatch.setattr(reconcile, "BATCH", 4)
    reconcile.reconcile()
    assert (len(gateway.asked), state_of(refunds[4])) == (3, RefundState.SUCCEEDED)
    reconcile.reconcile()
    assert len(set(gateway.asked)) == 4  # whoever was not asked about comes next


def test_calls_made_again_into_silence_count_towards_the_three(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in ("6302", "6304", "6305", "6306"):
        refund = pending_refund(cast.place(number, lines=[("書", 100, 1)]), (1, 1, "other"))
        assert send.claim_allocation(refund.allocations.get().pk)  # and here the worker dies
    time_passes(16)
    monkeypatch.setitem(gateways._GATEWAYS, "simulated", SlowQueue(None, None))
    reconcile.reconcile()
    assert sorted(outcome for _, outcome in outcomes()) == ["sending", "unknown", "unknown", "unknown"]


def test_while_a_gateway_is_waited_for_the_next_round_does_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    in_doubt("timeout_before")
    quote = ask(cast.place("6308", lines=[("書", 100, 1)]), (1, 1, "other"))
    forgotten = pending_refund(cast.place("6309", lines=[("書", 100, 1)]), (1, 1, "other"))
    monkeypatch.setitem(gateways._GATEWAYS, "simulated", gateway := WhileWaiting())

    def next_round() -> None:
        RefundQuote.objects.filter(pk=quote.pk).update(expires_at=timezone.now())
        time_passes(6)
        tasks.sweep()

    gateway.meanwhile = next_round
    tasks.sweep()
    quote.refresh_from_db()
    assert (quote.state, state_of(forgotten), len(gateway.asked)) == (QuoteState.EXPIRED, RefundState.SUCCEEDED, 1)


class SilentGateway:
    """A gateway whose line is dead. `asked`: the keys that it was asked about."""

    nothing_known_is_final_after: timedelta | None = timedelta(seconds=30)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def refund(self, *, charge: Charge, amount: int, idempotency_key: str) -> GatewayAnswer:
        raise GatewayTimeout

    def find(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | StillPending | None:
        self.asked.append(idempotency_key)
        raise GatewayTimeout


class WhileWaiting(SilentGateway):
    """Pays at once, and leaves questions open for long. `meanwhile`: what happens until the time-out."""

    meanwhile: Callable[[], None]

    def refund(self, *, charge: Charge, amount: int, idempotency_key: str) -> GatewayAnswer:
        return GatewayAnswer(idempotency_key, amount, charge.currency)

    def find(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | StillPending | None:
        self.asked.append(idempotency_key)
        self.meanwhile()
        raise GatewayTimeout


class SlowQueue(SilentGateway):
    """A gateway that takes requests and works through them later; `known` is what it says about each when asked."""

    def __init__(
        self, final_after: timedelta | None, *known: GatewayAnswer | StillPending | GatewayRefused | None
    ) -> None:
        super().__init__()
        self.nothing_known_is_final_after, self.known = final_after, list(known)

    def find(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | StillPending | None:
        answer = self.known.pop(0) if len(self.known) > 1 else self.known[0]
        if isinstance(answer, GatewayRefused):
            raise answer
        return answer


def asked_for_days(monkeypatch: pytest.MonkeyPatch, gateway: SlowQueue, *, hours: int) -> Refund:
    """A refund that the gateway took without an answer, asked about once an hour."""
    monkeypatch.setitem(gateways._GATEWAYS, "simulated", gateway)
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    for _ in range(hours):
        time_passes(2 * 3600)
        tasks.sweep()
    return refund


@pytest.mark.parametrize("final_after", [None, timedelta(days=30)])
def test_a_gateway_that_may_still_pay_later_is_never_taken_to_have_refused(
    monkeypatch: pytest.MonkeyPatch, final_after: timedelta | None
) -> None:
    refund = asked_for_days(monkeypatch, SlowQueue(final_after, None), hours=12)
    assert (state_of(refund), outcomes()) == (RefundState.UNKNOWN, [(1, "unknown")])
    assert GatewayAttempt.objects.get().times_asked == 12


def test_nothing_known_is_a_no_once_the_gateways_own_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    refund = asked_for_days(monkeypatch, SlowQueue(timedelta(hours=7), None), hours=4)
    assert state_of(refund) == RefundState.FAILED


def test_pending_for_a_day_is_asked_about_and_paid_once(monkeypatch: pytest.MonkeyPatch) -> None:
    paid = GatewayAnswer("q_1", 230, "TWD")
    gateway = SlowQueue(timedelta(seconds=30), *[StillPending()] * 12, paid)
    refund = asked_for_days(monkeypatch, gateway, hours=12)
    assert (state_of(refund), outcomes()) == (RefundState.UNKNOWN, [(1, "unknown")])
    time_passes(2 * 3600)
    tasks.sweep()
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "succeeded")])


def test_a_gateway_that_has_known_of_it_and_knows_nothing_any_more_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refund = asked_for_days(monkeypatch, SlowQueue(timedelta(seconds=30), StillPending(), None), hours=6)
    assert state_of(refund) == RefundState.UNKNOWN


def test_a_gateways_own_no_ends_the_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    no = GatewayRefused("account_closed", "The account is closed.")
    refund = asked_for_days(monkeypatch, SlowQueue(None, StillPending(), no), hours=2)
    assert (state_of(refund), GatewayAttempt.objects.get().code) == (RefundState.FAILED, "account_closed")


def test_a_dead_workers_call_that_the_gateway_has_in_its_queue_is_not_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refund = pending_refund()
    assert send.claim_allocation(refund.allocations.get().pk)  # called, and here the worker dies
    monkeypatch.setitem(gateways._GATEWAYS, "simulated", SlowQueue(None, StillPending()))
    time_passes(16)
    tasks.sweep()
    assert (state_of(refund), outcomes()) == (RefundState.UNKNOWN, [(1, "unknown")])


def test_a_call_whose_gateway_was_taken_away_meanwhile_stays_in_doubt_without_being_asked_for_ever() -> None:
    refund = pending_refund()
    assert send.claim_allocation(refund.allocations.get().pk)  # and here the worker dies
    GatewayAttempt.objects.update(provider="gone")
    for _ in range(6):
        time_passes(16)
        tasks.sweep()
    assert (state_of(refund), outcomes()) == (RefundState.UNKNOWN, [(1, "unknown")])
    assert 2 < GatewayAttempt.objects.get().times_tried < 5  # the pauses grow


def test_a_hundred_attempts_that_are_not_due_hide_no_newer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile, "BATCH", 1)
    older, newer = in_doubt("timeout_before"), in_doubt_of_another_order()
    attempts = GatewayAttempt.objects.all()
    attempts.filter(allocation__refund=older).update(asked_at=timezone.now(), times_tried=4)
    reconcile.reconcile()
    assert (state_of(older), state_of(newer)) == (RefundState.UNKNOWN, RefundState.SUCCEEDED)


def in_doubt_of_another_order(number: str = "6302") -> Refund:
    switch_on("timeout_after")
    refund = pending_refund(cast.place(number, lines=[("書", 100, 1)]), (1, 1, "other"))
    tasks.send_refund(refund.pk)
    return refund


def test_a_worker_killed_before_the_call_is_replaced_and_the_key_stays_the_same() -> None:
    refund = pending_refund()
    assert send.claim_allocation(refund.allocations.get().pk)  # and here the worker dies
    tasks.sweep()
    assert paid_out() == []  # it may still be at it
    time_passes(16)
    tasks.sweep()
    assert (state_of(refund), paid_out(), outcomes()) == (RefundState.SUCCEEDED, [230], [(1, "succeeded")])
    assert SimulatedRefund.objects.get().idempotency_key == GatewayAttempt.objects.get().idempotency_key


def test_a_worker_killed_after_the_call_is_replaced_and_nothing_is_paid_again() -> None:
    refund = pending_refund()
    claim = send.claim_allocation(refund.allocations.get().pk)
    assert claim is not None
    send._call(claim)  # paid, and here the worker dies
    time_passes(16)
    tasks.sweep()
    assert (state_of(refund), paid_out(), outcomes()) == (RefundState.SUCCEEDED, [230], [(1, "succeeded")])


def test_a_refund_whose_job_was_lost_is_sent_by_the_sweeper() -> None:
    refund = pending_refund()
    tasks.sweep()
    assert paid_out() == []  # its job may be about to run
    time_passes(6)
    tasks.sweep()
    assert (state_of(refund), paid_out()) == (RefundState.SUCCEEDED, [230])


def test_refunds_that_are_being_sent_hide_no_forgotten_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BATCH", 1)
    being_sent = pending_refund()
    assert send.claim_allocation(being_sent.allocations.get().pk)
    forgotten = pending_refund(cast.place("6303", lines=[("書", 100, 1)]), (1, 1, "other"))
    time_passes(6)
    tasks.sweep()
    assert (state_of(being_sent), state_of(forgotten)) == (RefundState.PENDING, RefundState.SUCCEEDED)


def test_a_worker_that_wakes_up_late_with_a_refusal_does_not_undo_what_its_successor_paid() -> None:
    refund = pending_refund()
    late = send.claim_allocation(refund.allocations.get().pk)
    assert late is not None
    time_passes(16)
    tasks.sweep()
    outcome.record_refusal(late.attempt, started_at=late.started_at, code="declined_by_issuer", message="late")
    outcome.record_doubt(late.attempt, started_at=late.started_at)
    assert (state_of(refund), outcomes()) == (RefundState.SUCCEEDED, [(1, "succeeded")])


def test_a_worker_that_lost_its_claim_cannot_call_the_attempt_refused() -> None:
    refund = pending_refund()
    late = send.claim_allocation(refund.allocations.get().pk)
    assert late is not None
    GatewayAttempt.objects.update(started_at=timezone.now())  # taken over, the successor has not answered yet
    outcome.record_refusal(late.attempt, started_at=late.started_at, code="declined_by_issuer", message="late")
    assert outcomes() == [(1, AttemptOutcome.SENDING)]


def test_one_attempt_that_cannot_be_resolved_does_not_keep_the_others_waiting() -> None:
    switch_on("timeout_after", times=2)
    refunds = [pending_refund(), pending_refund(cast.place("6301", lines=[("書", 100, 1)]), (1, 1, "other"))]
    for refund in refunds:
        tasks.send_refund(refund.pk)
    GatewayAttempt.objects.filter(allocation__refund=refunds[0]).update(provider="gone")
    reconcile.reconcile()
    assert [state_of(refund) for refund in refunds] == [RefundState.UNKNOWN, RefundState.SUCCEEDED]


def test_what_is_in_doubt_cannot_be_sent_again_by_a_person() -> None:
    refund = in_doubt("timeout_after")
    with pytest.raises(Refusal) as caught:
        retry.retry(refund_id=refund.pk, actor=cast.staff(), note="再試一次")
    assert caught.value.code == "wrong_state"
    assert paid_out() == [230]
