"""What a customer may have of the agent in 24 hours, and that whoever has had it reads when it answers again."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from agent import limits, turns
from agent.models import ModelCall, Turn
from agent.offline.control import Control
from agent.states import TurnState
from agent.tests.helpers import call, hear, hold, meanwhile, newest_turn, reply, talk, texts
from agent.tests.used_up import CENT, elsewhere, ended, past_turn, work
from orders.models import Order
from orders.tests import cast
from orders.tests.race import wait_until_blocked


@pytest.fixture
def order(transactional_db: None) -> Order:
    return cast.order_5531()


def clock(again_in: timedelta) -> str:
    return f"{timezone.localtime(timezone.now() + again_in):%m/%d %H:}"


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
