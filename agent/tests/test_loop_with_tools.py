"""A turn with tools: whatever the model calls, it hears one answer per call, and the turn comes to an end."""

from typing import Any

import pytest
from anthropic.resources.messages import Messages
from django.db import connection
from django.utils import translation
from pytest_django import Settings

from agent.models import ToolCall
from agent.offline.control import Control
from agent.states import CardState, ToolCallState, TurnState
from agent.tests.helpers import (
    CASE,
    SAME_AGAIN,
    call,
    hear,
    newest_turn,
    quoted,
    refused_requests,
    reply,
    results,
    talk,
    texts,
    told,
    work,
)
from agent.tests.wire import END, START, Wire, text
from agent.tools.registry import ORDER_PAGE
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order(model: Control, transactional_db: None) -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def test_no_connection_to_the_database_is_held_while_the_model_talks(
    model: Control, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[object] = []
    create = Messages.create

    def watched(self: Messages, **request: Any) -> Any:
        held.append(connection.connection)
        return create(self, **request)

    monkeypatch.setattr(Messages, "create", watched)
    model.script([reply("", call("get_order")), reply("There.")])
    assert work(order).state == TurnState.DONE
    assert held == [None, None]


def test_tokens_that_are_none_cost_nothing_and_spoil_nothing(order: Order, wire: Wire) -> None:
    odd = {"input_tokens": -5, "output_tokens": "9", "cache_read_input_tokens": 1.5}
    wire.frames = [START, *text(0, "Hello."), {**END[0], "usage": odd}, END[1]]
    turn = work(order)
    assert turn.state == TurnState.DONE
    assert (turn.input_tokens, turn.output_tokens, turn.cached_tokens) == (5, 0, 0)
    assert turn.cost_micro >= 0


def test_a_refusal_by_the_rules_is_a_result_and_the_turn_goes_on(model: Control, order: Order) -> None:
    no_such_line = {**CASE, "line_item_id": "li_9"}
    model.script([reply("", call("quote_refund", lines=[no_such_line])), reply("There is no such line.")])

    assert work(order).state == TurnState.DONE
    (result,) = results(order)
    assert result.keys() >= {"code", "message", "hint", "retryable", "field"}
    assert result["field"] == "lines[0].line_item_id"
    assert ToolCall.objects.get().is_error
    assert texts(order) == ["There is no such line."]


def test_a_tool_that_does_not_exist_is_a_result(model: Control, order: Order) -> None:
    model.script([reply("", call("delete_order", order_number="5531")), reply("Sorry.")])
    assert work(order).state == TurnState.DONE
    (result,) = results(order)
    assert result["code"] == "unknown_tool"
    assert "quote_refund" in result["hint"]


def test_a_tool_with_an_endless_name_does_not_exist_either(model: Control, order: Order) -> None:
    model.script([reply("", call("x" * 200)), reply("Sorry.")])
    assert work(order).state == TurnState.DONE
    assert ToolCall.objects.get().name == "x" * 64
    assert [result["code"] for result in results(order)] == ["unknown_tool"]


def test_malformed_arguments_are_results_and_end(model: Control, order: Order) -> None:
    model.misbehave("malformed_arguments", times=2)
    model.misbehave("false_claim", times=1)
    work(order)
    assert results(order)
    assert {result["code"] for result in results(order)} == {"invalid_argument"}


def test_of_ten_calls_at_once_eight_are_run_and_all_are_answered(model: Control, order: Order) -> None:
    model.misbehave("ten_parallel", times=1)
    model.script([])
    work(order)
    first = ToolCall.objects.order_by("pk")[0].message
    calls = ToolCall.objects.filter(message=first).order_by("pk")
    assert [each.state for each in calls] == [ToolCallState.ANSWERED] * 10
    assert [(each.result or {}).get("code") for each in calls][8:] == ["too_many_calls"] * 2
    assert not any(each.is_error for each in calls[:8])
    assert refused_requests(model) == []


def test_a_model_that_never_stops_calling_is_stopped_and_the_customer_is_told(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_STEPS = 4
    model.misbehave("loop_forever")
    turn = work(order)
    assert (turn.state, turn.steps, turn.error) == (TurnState.FAILED, 4, "steps")
    assert "more steps than I may take" in texts(order, "system")[-1]
    assert told(order, "turn")[-1]["retry"] is True


def test_a_turn_that_takes_too_long_is_stopped_and_the_customer_is_told(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_TURN_SECONDS = 0
    model.misbehave("loop_forever")
    turn = work(order)
    assert (turn.state, turn.error) == (TurnState.FAILED, "seconds")
    assert texts(order, "system")


def test_a_turn_that_costs_too_much_is_stopped_and_the_customer_is_told(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_TURN_TOKENS = 10
    model.misbehave("loop_forever")
    turn = work(order)
    assert (turn.state, turn.steps, turn.error) == (TurnState.FAILED, 1, "tokens")
    assert texts(order, "system")


def test_time_runs_out_in_the_middle_of_a_reply_too(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_TURN_SECONDS = 0.3
    model.misbehave("slow", seconds=0)
    turn = work(order)
    assert (turn.state, turn.error) == (TurnState.FAILED, "out_of_time")
    assert texts(order) == []


def test_two_cards_open_from_one_reply_and_the_turn_waits_for_both(model: Control, order: Order) -> None:
    quote = quoted(order)
    exchange = call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN])
    model.script([reply("Please confirm both.", call("refund_items", quote_id=quote.pk), exchange)])

    assert work(order).state == TurnState.WAITING
    assert [card["kind"] for card in told(order, "card")] == ["refund", "exchange"]
    assert {each.state for each in talk(order).tool_calls.all()} == {ToolCallState.SUSPENDED}


def test_a_card_beside_a_call_that_is_refused_still_opens(model: Control, order: Order) -> None:
    quote = quoted(order)
    model.script([reply("", call("refund_items", quote_id="rq_nothing"), call("refund_items", quote_id=quote.pk))])
    assert work(order).state == TurnState.WAITING
    assert [each.state for each in talk(order).tool_calls.order_by("pk")] == [
        ToolCallState.ANSWERED,
        ToolCallState.SUSPENDED,
    ]


def test_writing_something_else_declines_what_is_open_and_the_model_hears_it(model: Control, order: Order) -> None:
    quote = quoted(order)
    model.script([reply("Please confirm.", call("refund_items", quote_id=quote.pk)), reply("All right.")])
    work(order)
    hear(order, "wait, I would rather keep it")

    assert work(order).state == TurnState.DONE
    quote.refresh_from_db()
    assert quote.state == "declined"
    assert results(order)[-1]["status"] == "declined"
    assert told(order, "card")[-1]["state"] == CardState.DECLINED
    assert texts(order) == ["Please confirm.", "All right."]
    assert refused_requests(model) == []


def test_a_line_tells_the_customer_when_work_begins_and_how_it_ends(model: Control, order: Order) -> None:
    model.script([reply("", call("get_order"), call("refund_items", quote_id="rq_nothing")), reply("Well.")])
    work(order)
    assert [(data["tool"], data["state"]) for data in told(order, "work")] == [
        ("get_order", "started"),
        ("refund_items", "started"),
        ("get_order", "done"),
        ("refund_items", "failed"),
    ]


@pytest.mark.parametrize("language", ["zh-hant", "en"])
def test_and_it_names_the_step_in_words_that_are_still_true_when_it_is_over(language: str) -> None:
    with translation.override(language):
        lines = [str(tool.working) for tool in ORDER_PAGE]
    assert not [line for line in lines if not line or "…" in line or line.startswith("正在")]


def test_what_a_turn_cost_is_kept(model: Control, order: Order) -> None:
    model.script([reply("", call("get_order")), reply("Well.")])
    turn = work(order)
    assert (turn.steps, turn.model) == (2, "offline-script")
    assert min(turn.input_tokens, turn.cached_tokens, turn.output_tokens) > 0


def test_the_prefix_of_every_request_of_a_conversation_is_the_same(model: Control, order: Order) -> None:
    model.script([reply("", call("get_order")), reply("Well.")])
    work(order)
    hear(order, "and now?")
    model.script([reply("Still well.")])
    work(order)
    bodies = [entry["body"] for entry in model.requests()]
    assert len({str((body["system"], body["tools"])) for body in bodies}) == 1
    assert newest_turn(order).cached_tokens > 0
