"""Every way in which a reply fails to come: never taken for an answer, tried again, and ended in words if need be."""

from typing import Any

import pytest
from pytest_django import Settings

from agent import asking, intake
from agent.endings import Retry
from agent.models import Message, ModelCall, ToolCall
from agent.offline.control import Control
from agent.states import Author, TurnState
from agent.tests.helpers import (
    call,
    ephemeral,
    hear,
    newest_turn,
    quoted,
    refused_requests,
    reply,
    talk,
    texts,
    told,
    work,
)
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
BROKEN = ["cut_text", "cut_json", "cut_socket", "overloaded_midstream", "no_event_lines", "overloaded_529"]


@pytest.fixture
def order(model: Control, transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Order:
    # How long to wait before the next try is not what these tests are about.
    monkeypatch.setattr(asking, "PAUSE_SECONDS", 0.01)
    order = cast.order_5531()
    hear(order)
    return order


@pytest.mark.parametrize("mode", BROKEN)
def test_a_reply_that_broke_is_no_answer_and_the_next_try_is(model: Control, order: Order, mode: str) -> None:
    model.misbehave(mode, times=1)
    assert work(order).state == TurnState.DONE
    assert len(texts(order)) == 1
    assert not ToolCall.objects.exists()
    assert len(model.requests()) == 2


@pytest.mark.parametrize("mode", [*BROKEN, "api_error_500", "rate_limited"])
def test_a_model_that_stays_broken_ends_in_words_and_can_be_tried_again(
    model: Control, order: Order, mode: str
) -> None:
    options: dict[str, Any] = {"retry_after": 0} if mode == "rate_limited" else {}
    model.misbehave(mode, **options)
    turn = work(order)
    assert (turn.state, bool(turn.error)) == (TurnState.FAILED, True)
    assert not Message.objects.filter(author=Author.AGENT).exists()
    assert not ToolCall.objects.exists()
    assert "cannot be reached" in texts(order, "system")[-1]
    assert told(order, "turn")[-1]["retry"] is True
    assert len(model.requests()) == Retry().tries


@pytest.mark.parametrize("mode", ["cut_text", "cut_json", "cut_socket", "overloaded_midstream"])
def test_a_reply_that_broke_is_paid_for_all_the_same_and_counts_for_the_limits(
    model: Control, order: Order, settings: Settings, mode: str
) -> None:
    settings.AGENT_MAX_TURNS_PER_CONVERSATION = 1
    model.misbehave(mode)
    turn = work(order)
    costs = list(ModelCall.objects.values_list("cost_micro", flat=True))
    assert min(costs) > 0
    assert (turn.cost_micro, turn.steps) == (sum(costs), 0)
    hear(order, "hello again")
    assert work(order).error == "conversation_turns"


@pytest.mark.parametrize("mode", ["cut_text", "cut_socket", "overloaded_midstream"])
def test_half_a_reply_is_taken_off_the_page(model: Control, order: Order, mode: str) -> None:
    model.misbehave(mode, times=1)
    work(order)
    assert len(ephemeral(order, "draft_dropped")) == 1


def test_a_model_that_falls_silent_is_not_waited_for_for_ever(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MODEL_TIMEOUT_SECONDS = 0.3
    model.misbehave("stall", times=1)
    model.misbehave("stall", times=1, after="headers")
    assert work(order).state == TurnState.DONE
    assert len(texts(order)) == 1
    assert len(model.requests()) == 3


def test_a_model_that_cannot_be_reached_ends_in_words(order: Order, settings: Settings) -> None:
    settings.ANTHROPIC_BASE_URL = "http://127.0.0.1:9"
    assert work(order).state == TurnState.FAILED
    assert "Your message is kept" in texts(order, "system")[-1]


def test_trying_again_after_a_failure_answers_what_was_asked(model: Control, order: Order) -> None:
    model.misbehave("overloaded_529", times=Retry().tries)
    work(order)
    assert intake.try_again(conversation=talk(order))
    model.script([reply("Here I am.")])
    assert work(order).state == TurnState.DONE
    assert texts(order) == ["Here I am."]
    assert not intake.try_again(conversation=talk(order))
    assert refused_requests(model) == []


def test_a_call_that_ran_out_of_tokens_is_not_run(model: Control, order: Order) -> None:
    model.misbehave("max_tokens", times=1)
    turn = work(order)
    assert (turn.state, turn.error) == (TurnState.FAILED, "max_tokens")
    assert not ToolCall.objects.exists()
    assert "too long" in texts(order, "system")[-1]


def test_an_answer_that_was_cut_can_be_tried_again(model: Control, order: Order) -> None:
    model.script([reply("The first half of", stop_reason="max_tokens")])
    assert work(order).error == "max_tokens"
    assert intake.try_again(conversation=talk(order))
    model.script([reply("In short: yes.")])
    assert work(order).state == TurnState.DONE
    assert texts(order)[-1] == "In short: yes."
    assert refused_requests(model) == []


def test_a_refusal_of_the_model_is_explained_and_not_sent_back_to_it(model: Control, order: Order) -> None:
    model.script([reply("I cannot", stop_reason="refusal")])
    turn = work(order)
    assert (turn.state, turn.error) == (TurnState.FAILED, "refusal")
    assert "asked a colleague" in texts(order, "system")[-1]
    assert talk(order).needs_person
    hear(order, "something harmless")
    model.script([reply("Of course.")])
    work(order)
    assert not any(message["role"] == "assistant" for message in model.requests()[-1]["body"]["messages"])


@pytest.mark.parametrize("text", ["", "   \n "])
def test_an_empty_reply_is_no_answer(model: Control, order: Order, text: str) -> None:
    model.script([reply(text, stop_reason="end_turn")] * 2)
    turn = work(order)
    assert (turn.state, turn.error) == (TurnState.FAILED, "empty")
    assert texts(order) == []
    assert texts(order, "system")
    assert len(model.requests()) == 2


def test_after_an_empty_reply_the_model_is_asked_once_more(model: Control, order: Order) -> None:
    model.script([reply("", stop_reason="end_turn"), reply("Here I am.")])
    assert work(order).state == TurnState.DONE
    assert texts(order) == ["Here I am."]
    assert [each.ending for each in ModelCall.objects.order_by("pk")] == ["empty", "end_turn"]


def test_a_reply_that_breaks_after_a_card_was_opened_leaves_the_card_alone(model: Control, order: Order) -> None:
    quote = quoted(order)
    refund, look = call("refund_items", quote_id=quote.pk), call("get_order")
    model.script([reply("", look), reply("Please confirm.", refund)])
    model.misbehave("cut_text")
    assert work(order).state == TurnState.WAITING
    assert told(order, "card")[-1]["state"] == "open"
    assert newest_turn(order).steps == 2
