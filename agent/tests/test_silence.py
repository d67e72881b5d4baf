"""While a person has the conversation the agent is silent, whatever it was about to publish, even where a turn still
runs that nobody has ended. Each test takes the conversation between the turn's last look and its next word."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agent import asking, farewells, loop, people, turns
from agent.draft_text import DraftText
from agent.models import Card, Conversation, Message
from agent.offline.control import Control
from agent.states import ConversationState, ToolCallState, TurnState
from agent.tests.helpers import asked, call, hear, hold, newest_turn, quoted, reply, results, talk, texts, told, work
from agent.tools import executor
from agent.tools.registry import BY_NAME
from agent.turns import Lease, Silenced
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
Publish = Callable[[Order, Lease], object]


@pytest.fixture
def order(transactional_db: None) -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def owned() -> None:
    """As if somebody had taken it over and nobody had ended the turn."""
    Conversation.objects.update(owner=cast.staff_user())


def closed() -> None:
    Conversation.objects.update(state=ConversationState.CLOSED)


def run_tool(order: Order, lease: Lease) -> None:
    (made,) = asked(order, call("get_order"))
    executor.run_call(lease, made.pk)


def open_card(order: Order, lease: Lease) -> None:
    (made,) = asked(order, call("refund_items", quote_id=quoted(order).pk))
    executor.run_call(lease, made.pk)


def hand_off(order: Order, lease: Lease) -> None:
    (made,) = asked(order, call("hand_off_to_human", reason="complaint", summary="Angry."))
    executor.run_call(lease, made.pk)


def begin_to_ask_outside(order: Order, lease: Lease) -> None:
    (made,) = asked(order, call("estimate_delivery"))
    executor.run_call(lease, made.pk)


PUBLISHING: dict[str, Publish] = {
    "a tool's result": run_tool,
    "a card": open_card,
    "a call for a person": hand_off,
    "a question to a carrier": begin_to_ask_outside,
}


@pytest.mark.parametrize("taken", [owned, closed], ids=["a person has it", "it is closed"])
@pytest.mark.parametrize("publish", PUBLISHING.values(), ids=PUBLISHING)
def test_nothing_is_published(order: Order, publish: Publish, taken: Callable[[], None]) -> None:
    lease = hold(order)
    taken()
    with pytest.raises(Silenced):
        publish(order, lease)
    assert results(order) in ([], [{}])
    assert not Card.objects.exists()
    assert not talk(order).needs_person
    assert texts(order, "system") == texts(order, "agent") == []
    # The line that a tool has begun was there before: `asked` writes it.
    assert [data["state"] for data in told(order, "work")] in ([], ["started"])


@pytest.mark.parametrize("taken", [owned, closed], ids=["a person has it", "it is closed"])
def test_no_farewell_is_said_and_nobody_is_asked_for(order: Order, taken: Callable[[], None]) -> None:
    lease = hold(order)
    taken()
    farewells.fail(lease, "other", hand_off=True)
    assert texts(order, "system") == []
    assert not talk(order).needs_person


def test_what_a_carrier_says_meanwhile_is_not_published(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = BY_NAME["estimate_delivery"]

    def answer(*_: Any) -> dict[str, Any]:
        owned()
        return {"estimate": "tomorrow"}

    monkeypatch.setitem(BY_NAME, tool.name, replace(tool, handler=answer))
    lease = hold(order)
    (made,) = asked(order, call("estimate_delivery", **_arguments(tool)))
    with pytest.raises(Silenced):
        executor.run_call(lease, made.pk)
    made.refresh_from_db()
    assert made.state == ToolCallState.ASKED
    assert [data["state"] for data in told(order, "work")] == ["started"]


def _arguments(tool: Any) -> dict[str, Any]:
    return {name: None for name in tool.schema["properties"] if name != "order_number"}


@pytest.mark.parametrize("taken", [owned, closed], ids=["a person has it", "it is closed"])
def test_such_a_turn_is_over_without_a_question_to_the_model(
    model: Control, order: Order, taken: Callable[[], None]
) -> None:
    taken()
    assert work(order).state == TurnState.DONE
    assert model.requests() == []


@pytest.mark.parametrize("taken", [owned, closed], ids=["a person has it", "it is closed"])
def test_a_reply_that_comes_too_late_costs_and_is_not_shown(
    model: Control, order: Order, monkeypatch: pytest.MonkeyPatch, taken: Callable[[], None]
) -> None:
    model.script([reply("The agent talks over the person.")])
    ask = asking._ask

    def taken_meanwhile(*args: Any, **options: Any) -> Any:
        heard = ask(*args, **options)
        taken()
        return heard

    monkeypatch.setattr(asking, "_ask", taken_meanwhile)
    loop.run(newest_turn(order).pk)
    assert not Message.objects.filter(author="agent").exists()
    turn = newest_turn(order)
    assert (turn.state, turn.output_tokens > 0) == (TurnState.DONE, True)


# --- what was still being written ---
def piece(draft: str, offset: int, text: str) -> tuple[str, dict[str, Any]]:
    return "delta", {"draft": draft, "offset": offset, "text": text}


OWNED = ("conversation", {"state": "open", "owner": "staff"})
FREE = ("conversation", {"state": "open", "owner": None})


def test_pieces_that_come_after_a_person_has_taken_over_do_not_reach_a_page() -> None:
    draft = DraftText()
    heard = [draft.take(*each) for each in (piece("a", 0, "The "), OWNED, piece("a", 4, "agent"), piece("b", 0, "New"))]
    assert heard == [True, True, False, False]
    assert draft.text == ""


def test_given_back_a_new_reply_is_shown_and_the_rest_of_the_old_one_is_not() -> None:
    draft = DraftText()
    events = (OWNED, piece("a", 0, "Old"), FREE, piece("a", 0, "Old"), piece("b", 0, "New"))
    assert [draft.take(*each) for each in events] == [True, False, True, False, True]
    assert draft.text == "New"


def test_a_closed_conversation_shows_no_draft() -> None:
    draft = DraftText()
    draft.take("conversation", {"state": "closed", "owner": None})
    assert not draft.take(*piece("a", 0, "Old"))
    draft.take("message", {"author": "customer", "text": "a new matter"})
    assert [draft.take(*piece("a", 0, "Old")), draft.take(*piece("b", 0, "New"))] == [False, True]


def test_taking_over_ends_the_running_turn_so_that_its_worker_can_write_nothing(order: Order) -> None:
    lease = hold(order)
    people.take_over(conversation=talk(order), actor=cast.staff())
    with pytest.raises(turns.LeaseLost), turns.holding(lease):
        raise AssertionError("still held")
