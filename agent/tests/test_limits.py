"""How much the agent may do in a conversation and in a turn, and what the customer reads when that is reached."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from agent import cards, events, limits, turns
from agent.models import Turn
from agent.offline.control import Control
from agent.states import TurnState
from agent.tests.helpers import call, hear, hold, newest_turn, refused_requests, reply, results, talk, texts
from agent.tests.used_up import elsewhere, ended, past_turn, work
from orders.models import Order
from orders.tests import cast


@pytest.fixture
def order(transactional_db: None) -> Order:
    return cast.order_5531()


# --- per conversation: waiting does not help, a person goes on ---


def test_a_conversation_of_very_many_turns_goes_to_a_person(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_TURNS_PER_CONVERSATION = 2
    hear(order)
    for _ in range(2):
        past_turn(talk(order))
    said = ended(order, "conversation_turns")
    assert "has become longer" in said
    assert "asked a colleague" in said
    assert talk(order).needs_person
    assert model.requests() == []


def test_a_conversation_may_have_as_many_turns_as_the_settings_say(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_TURNS_PER_CONVERSATION = settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY = 2
    other = elsewhere(order)
    hear(order)
    past_turn(talk(order))
    past_turn(talk(order), steps=0)  # The model was never heard in it: it does not count.
    past_turn(other, hours=25)  # Neither does what is a day old.
    assert work(order).state == TurnState.DONE


def test_a_conversation_that_has_cost_too_much_goes_to_a_person(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_CENTS_PER_CONVERSATION = 10
    hear(order)
    past_turn(talk(order), cents=9, hours=100)
    past_turn(talk(order), cents=1, hours=99)
    said = ended(order, "conversation_spend")
    assert "as much as I may" in said
    assert talk(order).needs_person


def test_what_other_conversations_cost_is_no_matter_of_this_one(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_CENTS_PER_CONVERSATION = 10
    other = elsewhere(order)
    hear(order)
    past_turn(talk(order), cents=9)
    past_turn(other, cents=9)
    assert work(order).state == TurnState.DONE


def test_the_cost_of_the_turn_itself_counts_while_it_runs(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_CENTS_PER_CONVERSATION = 1
    settings.MODEL_PRICES = {"*": {"input": 10**9, "cache_write": 10**9, "cache_read": 10**9, "output": 10**9}}
    hear(order)
    model.misbehave("loop_forever")
    turn = work(order)
    assert (turn.error, turn.steps) == ("conversation_spend", 1)


# --- seconds ---


def test_the_seconds_of_earlier_workers_count(model: Control, order: Order, settings: Settings) -> None:
    hear(order)
    Turn.objects.update(worked=timedelta(seconds=settings.AGENT_MAX_TURN_SECONDS + 1))
    assert "longer than I may take" in ended(order, "seconds")
    assert model.requests() == []


def test_what_a_customer_takes_to_press_is_none_of_the_turns_seconds(
    model: Control, order: Order, settings: Settings
) -> None:
    hear(order)
    Turn.objects.update(started_at=timezone.now() - timedelta(hours=1))
    assert work(order).state == TurnState.DONE


def test_a_turn_that_goes_on_after_a_press_has_seconds_to_say_so_whatever_it_took_before(
    model: Control, order: Order, settings: Settings
) -> None:
    hear(order)
    with turns.holding(hold(order)) as (conversation, turn):
        turns.move(conversation, turn, TurnState.RUNNING, TurnState.WAITING)
    Turn.objects.update(worked=timedelta(seconds=settings.AGENT_MAX_TURN_SECONDS + 1))
    with events.writing(talk(order).pk) as conversation:
        cards.resume(conversation, go_on=True)
    assert work(order).state == TurnState.DONE


# --- calls of tools ---


def codes(order: Order) -> list[str]:
    return [result.get("code", "") for result in results(order)]


def test_the_same_call_again_and_again_is_refused_and_the_model_told_what_to_do(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_SAME_CALLS = 2
    hear(order)
    same = call("search_products", words="case", category=None, price_max=None)
    model.script([reply("", same), reply("", same), reply("", same), reply("Nothing new.")])
    assert work(order).state == TurnState.DONE
    assert codes(order) == ["", "", limits.SAME_AGAIN]
    assert "Use the answers you have" in results(order)[-1]["hint"]
    assert texts(order) == ["Nothing new."]


def test_a_call_with_other_arguments_is_another_call(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_SAME_CALLS = 1
    hear(order)
    looks = [reply("", call("search_products", words=word, category=None, price_max=None)) for word in ("a", "b")]
    model.script([*looks, reply("", call("get_order")), reply("Done.")])
    assert work(order).state == TurnState.DONE
    assert codes(order) == ["", "", ""]


def test_the_next_turn_may_make_the_same_call(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_SAME_CALLS = 1
    for words in ("one", "two"):
        hear(order, words)
        model.script([reply("", call("get_order")), reply("Done.")])
        assert work(order).state == TurnState.DONE
    assert codes(order) == ["", ""]


def test_a_model_that_does_not_listen_goes_in_circles_and_a_person_is_asked(
    model: Control, order: Order, settings: Settings
) -> None:
    hear(order)
    model.misbehave("loop_forever")
    turn = work(order)
    assert (turn.state, turn.error) == (TurnState.FAILED, "circles")
    assert turn.steps == settings.AGENT_MAX_SAME_CALLS + 2
    assert "in circles" in texts(order, "system")[-1]
    assert talk(order).needs_person
    assert refused_requests(model) == []


def test_circles_are_two_refusals_in_a_row_not_two_in_a_turn(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_SAME_CALLS = 1
    hear(order)
    same, other = reply("", call("get_order")), reply("", call("list_shipments"))
    model.script([same, same, other, same, reply("Done.")])
    assert work(order).state == TurnState.DONE
    assert codes(order) == ["", limits.SAME_AGAIN, "", limits.SAME_AGAIN]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(call("get_order"), id="a tool that reads"),
        pytest.param(call("estimate_delivery", new_address=None), id="a tool that asks outside"),
        pytest.param(call("delete_order"), id="no tool at all"),
    ],
)
def test_a_turn_has_so_many_calls_and_no_more(
    model: Control, order: Order, settings: Settings, kind: dict[str, Any]
) -> None:
    settings.AGENT_MAX_TOOL_CALLS_PER_TURN = 2
    hear(order)
    first = [call("get_order"), call("list_shipments")]
    model.script([reply("", *first, kind), reply("That is all.")])
    assert work(order).state == TurnState.DONE
    assert codes(order)[-1] == limits.TOO_MANY
    assert "Call no more tools" in results(order)[-1]["hint"]


def test_calls_of_one_turn_do_not_use_up_the_next(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_TOOL_CALLS_PER_TURN = 1
    for words, name in (("one", "get_order"), ("two", "list_shipments")):
        hear(order, words)
        model.script([reply("", call(name)), reply("Done.")])
        work(order)
    assert codes(order) == ["", ""]


def test_workers_that_were_lost_end_the_turn_with_a_person(model: Control, order: Order) -> None:
    hear(order)
    Turn.objects.filter(pk=newest_turn(order).pk).update(failures=limits.MOST_WORKERS_LOST)
    said = ended(order, "workers_lost")
    assert "broke several times" in said
    assert talk(order).needs_person
