"""How much the agent may do, and what the customer reads when that is reached: which limit, what to do, when again."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from agent import cards, events, limits, loop, turns
from agent.models import Conversation, ModelCall, Turn
from agent.offline.control import Control
from agent.states import ConversationState, TurnState
from agent.tests.helpers import (
    call,
    hear,
    hold,
    meanwhile,
    newest_turn,
    refused_requests,
    reply,
    results,
    talk,
    texts,
    told,
)
from orders.models import Order
from orders.tests import cast
from orders.tests.race import wait_until_blocked

CENT = 10_000


@pytest.fixture
def order(transactional_db: None) -> Order:
    return cast.order_5531()


def past_turn(conversation: Conversation, *, steps: int = 1, cents: int = 0, hours: float = 1) -> Turn:
    """A turn that is over: how often the model was heard in it, what that cost, and how many hours ago it began."""
    return Turn.objects.create(
        conversation=conversation,
        state=TurnState.DONE,
        steps=steps,
        cost_micro=cents * CENT,
        queued_at=timezone.now() - timedelta(hours=hours),
    )


def work(order: Order) -> Turn:
    """What a worker does with the turn that waits for one, whatever turns were put beside it."""
    turn = Turn.objects.get(conversation__order=order, state=TurnState.QUEUED)
    loop.run(turn.pk)
    turn.refresh_from_db()
    return turn


def elsewhere(order: Order) -> Conversation:
    """An older conversation of the same customer."""
    return Conversation.objects.create(
        order=order, customer=order.customer, state=ConversationState.CLOSED, language="en"
    )


def clock(again_in: timedelta) -> str:
    return f"{timezone.localtime(timezone.now() + again_in):%m/%d %H:}"


def ended(order: Order, why: str) -> str:
    """Work on what was said, which must end at this limit without asking the model; what the customer reads."""
    turn = work(order)
    assert (turn.state, turn.error, turn.steps) == (TurnState.FAILED, why, 0)
    assert told(order, "turn")[-1]["retry"] is True
    assert texts(order) == []
    return texts(order, "system")[-1]


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


# --- per customer in 24 hours: waiting helps, and the words say how long ---


def test_a_customers_day_of_turns_says_when_the_assistant_answers_again(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY = 2
    other = elsewhere(order)
    hear(order)
    past_turn(other, hours=20)
    past_turn(talk(order), hours=2)
    past_turn(talk(order), hours=1)
    said = ended(order, "customer_turns")
    # The one of 20 hours ago is over in 4 hours, and still there are two: the next is over in 22.
    assert clock(timedelta(hours=22)) in said
    assert "as often as it may in 24 hours" in said
    assert "ask for a person" in said
    assert not talk(order).needs_person
    assert model.requests() == []


def test_a_customers_day_of_cost_says_when_the_assistant_answers_again(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_CENTS_PER_CUSTOMER_DAY = 10
    other = elsewhere(order)
    hear(order)
    past_turn(other, cents=6, hours=20)
    past_turn(other, cents=4, hours=10)
    past_turn(talk(order), cents=3, hours=5)
    said = ended(order, "customer_spend")
    assert clock(timedelta(hours=4)) in said
    assert "as much as it may in 24 hours" in said
    assert "as often" not in said
    assert not talk(order).needs_person


def test_waiting_for_the_next_day_is_no_failure_that_calls_a_person(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY = 1
    other = elsewhere(order)
    hear(order)
    past_turn(other)
    for words in ("one", "two"):
        hear(order, words)
        ended(order, "customer_turns")
    assert not talk(order).needs_person


def test_what_cost_the_customer_a_day_ago_is_over(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_CENTS_PER_CUSTOMER_DAY = 10
    other = elsewhere(order)
    hear(order)
    past_turn(other, cents=100, hours=24.1)
    assert work(order).state == TurnState.DONE


def test_another_customers_turns_are_not_counted(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY = 1
    other = cast.place("5602", who="ming2")
    hear(other)
    past_turn(talk(other))
    hear(order)
    assert work(order).state == TurnState.DONE


def test_a_turn_that_has_begun_comes_to_its_end_when_the_days_turns_are_full(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY = settings.AGENT_MAX_TURNS_PER_CONVERSATION = 1
    hear(order)
    model.script([reply("", call("get_order")), reply("Here it is.")])
    assert work(order).state == TurnState.DONE
    assert texts(order) == ["Here it is."]


def test_what_the_turn_itself_has_cost_before_it_was_heard_is_no_turn_of_another(
    model: Control, order: Order, settings: Settings
) -> None:
    """A first reply that broke has cost something, and its worker died."""
    settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY = 1
    hear(order)
    Turn.objects.update(cost_micro=1)
    assert work(order).state == TurnState.DONE


def begun(who: Order) -> None:
    """What its worker does first: to take the turn, and to find out whether the model may be asked."""
    with turns.holding(hold(who)) as (conversation, turn):
        assert limits.reached(conversation, turn, "call_model", out_of_time=False) is None


def test_a_turn_of_another_conversation_counts_from_its_beginning(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY = 1
    other = cast.place("5602", who="ming")
    hear(order)
    hear(other)
    begun(other)
    said = ended(order, "customer_turns")
    assert clock(timedelta(hours=24)) in said


def test_one_that_came_to_nothing_counts_no_more(model: Control, order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY = 1
    other = cast.place("5602", who="ming")
    hear(order)
    hear(other)
    begun(other)
    Turn.objects.filter(conversation=talk(other)).update(state=TurnState.FAILED)
    assert work(order).state == TurnState.DONE


def test_what_another_conversation_is_at_counts_with_what_the_dearest_request_has_cost(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_CENTS_PER_CUSTOMER_DAY = 10
    before = past_turn(elsewhere(order), cents=6, hours=20)
    ModelCall.objects.create(
        conversation=before.conversation,
        turn=before,
        number=1,
        attempt=1,
        started_at=before.queued_at,
        cost_micro=4 * CENT,
    )
    other = cast.place("5602", who="ming")
    hear(order)
    hear(other)
    begun(other)
    said = ended(order, "busy")
    # The day's cost is reached by expectation alone: that is over as soon as the other turn is.
    assert f"about {settings.AGENT_MAX_TURN_SECONDS // 60} minutes" in said
    assert not talk(order).needs_person


def test_what_is_only_expected_does_not_move_the_time_at_which_the_assistant_answers_again(
    model: Control, order: Order, settings: Settings
) -> None:
    settings.AGENT_MAX_CENTS_PER_CUSTOMER_DAY = 10
    other, older = cast.place("5602", who="ming"), elsewhere(order)
    hear(order)
    hear(other)
    dear = past_turn(older, cents=8, hours=20)
    ModelCall.objects.create(
        conversation=dear.conversation, turn=dear, number=1, attempt=1, started_at=dear.queued_at, cost_micro=8 * CENT
    )
    begun(other)
    past_turn(older, cents=2, hours=10)
    assert clock(timedelta(hours=4)) in ended(order, "customer_spend")


def test_far_from_the_limits_nobody_waits_for_the_customers_other_conversations(order: Order) -> None:
    hear(order)
    with CaptureQueriesContext(connection) as queries:
        begun(order)
    assert [each["sql"] for each in queries if "advisory" in each["sql"]] == []
    assert not newest_turn(order).counts_already


def test_two_conversations_at_once_do_not_both_take_what_is_left_of_the_day(order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_TURNS_PER_CUSTOMER_DAY = 1
    both = [order, cast.place("5602", who="ming")]
    for each in both:
        hear(each)
    leases = [hold(each) for each in both]

    def decide(lease: turns.Lease) -> limits.Limit | None:
        with turns.holding(lease) as (conversation, turn):
            return limits.reached(conversation, turn, "call_model", out_of_time=False)

    name = [f"customer_day:{order.customer_id}"]
    with meanwhile(lambda: decide(leases[0])) as one, meanwhile(lambda: decide(leases[1])) as two:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", name)
            one.begin()
            two.begin()
            wait_until_blocked(2)
            cursor.execute("SELECT pg_advisory_unlock(hashtext(%s))", name)
        found = [one.result(), two.result()]
    assert sorted(limit.name if limit else "" for limit in found) == ["", "customer_turns"]


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
