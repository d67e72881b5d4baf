"""How often a model is asked again and when, how a request is mended, and who is asked and told in the end."""

import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pytest_django import Settings

from agent import asking, hand_off, intake, stopping
from agent.client import _retry_after
from agent.drafts import Draft
from agent.endings import BY_NAME, Leave
from agent.models import Conversation, Message, ModelCall
from agent.offline.control import Control
from agent.states import Author, TurnState
from agent.tests.helpers import (
    ephemeral,
    hear,
    newest_turn,
    refused_requests,
    reply,
    talk,
    texts,
    told,
    until,
    work,
    working,
)
from orders.models import Order


@pytest.fixture
def order(asked_order: Order) -> Order:
    return asked_order


# --- how often, and when ---


def test_what_passes_is_over_when_the_next_attempt_succeeds(model: Control, order: Order) -> None:
    model.misbehave("error", times=1, status=503, kind="api_error")
    model.misbehave("error_midstream", times=1, kind="api_error")
    assert work(order).state == TurnState.DONE
    assert [each.ending for each in ModelCall.objects.order_by("pk")][:2] == ["passing_fault", "passing_fault"]
    assert not texts(order, "system")


def test_a_server_that_says_when_is_not_asked_earlier(model: Control, order: Order) -> None:
    model.misbehave("rate_limited", times=1, retry_after=0.4)
    model.script([])
    work(order)
    first, second = (datetime.fromisoformat(entry["at"]) for entry in model.requests()[:2])
    assert second - first >= timedelta(seconds=0.4)


def test_a_worker_that_is_told_to_stop_does_not_sleep_out_a_pause(model: Control, order: Order) -> None:
    model.misbehave("rate_limited", times=1, retry_after=20)
    with working(order, model):
        assert until(lambda: ModelCall.objects.exclude(ending="").exists())
        stopping.requested.set()
        assert until(lambda: newest_turn(order).state == TurnState.QUEUED)
    assert len(model.requests()) == 1


def test_a_server_that_asks_for_more_patience_than_the_turn_has_is_not_waited_for(model: Control, order: Order) -> None:
    model.misbehave("rate_limited", retry_after=1000)
    turn = work(order)
    assert (turn.state, turn.error) == (TurnState.FAILED, "told_later")
    assert len(model.requests()) == 1
    assert "in about 17 minutes" in texts(order, "system")[-1]
    assert not talk(order).needs_person


def test_a_server_that_forbids_another_try_gets_none(model: Control, order: Order) -> None:
    model.misbehave("error", status=503, kind="api_error", should_retry="false")
    assert work(order).error == "passing_fault"
    assert len(model.requests()) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2020 11:00:00 GMT"}, 0),
    ],
)
def test_when_to_ask_again_is_read_in_every_form(header: dict[str, str], seconds: float) -> None:
    assert _retry_after(header) == seconds


def test_when_to_ask_again_may_be_a_date() -> None:
    in_an_hour = format_datetime(datetime.now(UTC) + timedelta(hours=1))
    assert 3500 < (_retry_after({"retry-after": in_an_hour}) or 0) <= 3600


@pytest.mark.parametrize("value", ["", "soon", "-3", "nan"])
def test_nonsense_about_when_to_ask_again_is_no_answer(value: str) -> None:
    assert _retry_after({"retry-after": value}) is None


def test_pauses_grow_and_no_two_turns_wait_alike() -> None:
    first = [asking.pause_before_next(None, 1) for _ in range(20)]
    second = [asking.pause_before_next(None, 2) for _ in range(20)]
    assert max(first) < 2 * asking.PAUSE_SECONDS * 2 <= min(second)
    assert len(set(first)) > 10
    assert all(asking.pause_before_next(7.0, 1) >= 7 for _ in range(20))


def test_silence_is_waited_for_no_longer_than_the_turn_may_take(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_TURN_SECONDS = 0.4
    model.misbehave("stall")
    turn = work(order)
    assert turn.error == "out_of_time"
    assert turn.finished_at is not None
    assert turn.started_at is not None
    assert turn.finished_at - turn.started_at < timedelta(seconds=5)


def test_a_model_that_only_pings_may_take_no_longer_than_the_turn(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_TURN_SECONDS = 0.5
    model.misbehave("pings")
    assert work(order).error == "out_of_time"
    assert len(model.requests()) == 1


def test_a_worker_that_is_told_to_leave_does_not_wait_for_a_model_that_only_pings(model: Control, order: Order) -> None:
    model.misbehave("pings", times=1)
    with working(order, model):
        stopping.requested.set()
    assert newest_turn(order).state == TurnState.QUEUED


# --- mending ---

THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "EqQBCgIYAhIM"}


def thought(order: Order) -> None:
    """The agent has answered once, with thinking; the customer goes on."""
    Message.objects.create(
        conversation=talk(order),
        author=Author.AGENT,
        content=[THOUGHT, {"type": "text", "text": "It is on its way."}],
        stop_reason="end_turn",
        heard=talk(order).messages.order_by("-pk")[0].pk,
    )
    hear(order, "hello again")


def kinds_sent(model: Control, index: int) -> set[str]:
    return {block["type"] for message in model.requests()[index]["body"]["messages"] for block in message["content"]}


def test_a_request_that_is_refused_is_rebuilt_without_thinking_and_taken(model: Control, order: Order) -> None:
    thought(order)
    model.misbehave("error", times=1, status=400)
    assert work(order).state == TurnState.DONE
    assert [("thinking" in kinds_sent(model, index)) for index in (0, 1)] == [True, False]
    assert Message.objects.filter(content__0__type="thinking").exists()


def test_a_request_that_stays_refused_is_told_in_short_then_handed_off(model: Control, order: Order) -> None:
    thought(order)
    model.misbehave("error", status=400)
    assert work(order).error == "bad_request"
    assert talk(order).folded_before > 0
    assert talk(order).needs_person


@pytest.mark.parametrize("fault", ["stop reason", "status"])
def test_a_window_that_is_full_is_made_room_in_once(model: Control, order: Order, fault: str) -> None:
    for number in range(6):
        thought(order)
        hear(order, f"hello for the {number}th time")
    if fault == "stop reason":
        model.script([reply("Half of", stop_reason="model_context_window_exceeded"), reply("All of it.")])
    else:
        model.misbehave("error", times=1, status=413, kind="request_too_large")
    assert work(order).state != TurnState.FAILED
    assert ModelCall.objects.order_by("pk")[0].ending == "window_exceeded"
    first, second = (len(str(entry["body"]["messages"])) for entry in model.requests()[:2])
    assert second < first
    assert "Half of" not in texts(order)
    assert len(ephemeral(order, "draft_dropped")) == (fault == "stop reason")
    assert refused_requests(model) == [] or fault == "status"


# --- who is asked, who is told ---


def test_a_second_failure_in_a_row_asks_for_a_person(model: Control, order: Order) -> None:
    model.misbehave("overloaded_529")
    work(order)
    assert not talk(order).needs_person
    assert intake.try_again(conversation=talk(order))
    work(order)
    assert talk(order).needs_person
    assert "asked a colleague" in texts(order, "system")[-1]


def test_who_waits_for_a_person_already_is_not_promised_one_again(model: Control, order: Order) -> None:
    model.misbehave("refusal")
    work(order)
    hear(order, "please")
    work(order)
    assert [("asked a colleague" in line) for line in texts(order, "system")] == [True, False]
    assert len([data for data in told(order, "conversation") if data["needs_person"]]) == 1


def test_a_summary_that_breaks_keeps_neither_words_nor_person_away(
    model: Control, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_it(conversation: Conversation) -> str:
        raise LookupError("a row that nobody thought of")

    monkeypatch.setattr(hand_off, "summary", break_it)
    model.misbehave("refusal")
    assert work(order).error == "refusal"
    (line,) = texts(order, "system")
    assert "asked a colleague" in line
    assert (talk(order).needs_person, talk(order).hand_off_summary) == (True, "")


def test_what_only_the_shop_can_put_right_is_an_error_in_the_log(
    model: Control, order: Order, caplog: pytest.LogCaptureFixture
) -> None:
    model.misbehave("error", status=401, kind="authentication_error")
    work(order)
    assert any("not_admitted" in str(each.msg) for each in caplog.records if each.levelno == logging.ERROR)


def test_an_error_of_our_own_in_the_middle_of_a_reply_is_not_taken_for_the_models(
    model: Control, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(draft: Draft, piece: str) -> None:
        raise ValueError("ours")

    monkeypatch.setattr(Draft, "add", broken)
    turn = work(order)
    assert turn.error == "internal error"
    assert len(model.requests()) == 1
    assert talk(order).needs_person


def test_a_worker_that_is_told_to_leave_leaves_the_call_to_the_next_one(model: Control, order: Order) -> None:
    model.misbehave("slow", times=1, seconds=0)
    with working(order, model):
        stopping.requested.set()
    stopping.requested.clear()
    assert isinstance(BY_NAME["left"].what, Leave)
    assert newest_turn(order).state == TurnState.QUEUED
    assert (texts(order), texts(order, "system")) == ([], [])
    assert ModelCall.objects.get().ending == ""
    assert work(order).state == TurnState.DONE
    assert len(texts(order)) == 1
