"""A process is killed by SIGKILL at every point of `agent/save_points.py`, and whoever comes next finds enough.

Each life is what happens to an order up to a deed, and the deed. A first process does the deed undisturbed and counts
the points that it passes; then, for each point, another one dies there, the first and the last time it gets there. Its
job is lost with it, and Redis is emptied. What is there in the end must be what is there without any death.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis

from agent import history, loop, offers, sweep, turns
from agent.models import Conversation, Turn
from agent.offline.control import Control
from agent.save_points import POINTS
from agent.states import Author, CardState, ToolCallState, TurnState
from agent.tests import dying
from agent.tests.dying import Life
from agent.tests.helpers import SAME_AGAIN, asked, call, hear, hold, press, refused_requests, reply, talk, work
from agent.tools import executor
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import fixed_discount, payment_body, shipment_body
from refunds import quotes
from refunds.models import Refund, RefundQuote, Return, SimulatedRefund
from refunds.states import RefundState

pytestmark = pytest.mark.django_db(transaction=True)
SENTENCE = "耳機左耳沒聲音，耳機殼也還沒寄到，我不想等了"
ROUNDS = 12


# --- what has happened before ---
def silent(number: int, model: Control) -> Order:
    """Another order like 5531."""
    return cast.place(
        f"T-{number}",
        discounts=[fixed_discount(150, 1500)],
        payments=[payment_body(1430)],
        shipments=[shipment_body({1: 1})],
    )


def said(number: int, model: Control, sentence: str = SENTENCE) -> Order:
    order = silent(number, model)
    hear(order, sentence, language="zh-hant")
    return order


def greeted(number: int, model: Control) -> Order:
    """A question that leads to no card."""
    return said(number, model, "hello")


def asks_when(number: int, model: Control) -> Order:
    """A carrier is asked between two saves."""
    return said(number, model, "耳機殼什麼時候會到？")


def shown(number: int, model: Control) -> Order:
    """Two cards wait."""
    order = said(number, model)
    work(order)
    return order


def pressed(number: int, model: Control) -> Order:
    """Both have been pressed: the closing turn is queued."""
    order = shown(number, model)
    press_all(order)
    return order


def bought_back(number: int, model: Control) -> Order:
    order = pressed(number, model)
    work(order)
    return order


def unanswered(number: int, model: Control) -> Order:
    """The model cannot be had, and will not be."""
    model.misbehave("error", status=401, kind="authentication_error")
    return said(number, model)


def failed(number: int, model: Control) -> Order:
    order = unanswered(number, model)
    work(order)
    model.reset()
    return order


def too_long(number: int, model: Control) -> Order:
    """The model says once that the window is full."""
    order = silent(number, model)
    for word in ("hello", "thank you"):
        hear(order, word)
        work(order)
    hear(order, "hello again")
    model.script([reply("Half of", stop_reason="model_context_window_exceeded"), reply("All of it.")])
    return order


def owned_meanwhile(number: int, model: Control) -> Order:
    """A person has it, and the turn is there still."""
    order = greeted(number, model)
    Conversation.objects.filter(order=order).update(owner=cast.staff_user())
    return order


def owned(number: int, model: Control) -> Order:
    """A person has it, and the customer has written to them."""
    order = greeted(number, model)
    dying.take_over(order)
    hear(order, "hello?")
    return order


def with_free_card(number: int, model: Control) -> Order:
    """A card that stands for new goods waits."""
    order = said(number, model)
    lease = hold(order)
    (made,) = asked(order, call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN]))
    executor.run_call(lease, made.pk)
    with turns.holding(lease) as (conversation, turn):
        turns.move(conversation, turn, TurnState.RUNNING, TurnState.WAITING)
    return order


def worked_out(number: int, model: Control) -> Order:
    """A colleague looks at what the case comes to."""
    order = greeted(number, model)
    choices = quotes.parse_choices({"lines": [{"line_item_id": "li_2", "quantity": 1, "reason": "changed_mind"}]})
    offers.preview(conversation=talk(order), actor=cast.staff(), choices=choices, form="a-form")
    return order


def forgotten(number: int, model: Control) -> Order:
    """The turn waits, and for nothing."""
    order = greeted(number, model)
    with turns.holding(hold(order)) as (conversation, turn):
        turns.move(conversation, turn, TurnState.RUNNING, TurnState.WAITING)
    return order


def late(number: int, model: Control) -> Order:
    order = greeted(number, model)
    grow_old(order, 200)
    return order


LIVES: dict[str, Life] = {
    "the customer writes": Life(silent, dying.say, ("message_said",), redo=True),
    "a turn until its cards": Life(
        said,
        dying.work,
        ("turn_taken", "step_decided", "words_shown", "model_heard", "reply_kept", "call_run"),
    ),
    "a turn after the presses": Life(pressed, dying.work, ("turn_taken", "reply_kept")),
    "a turn that asks a carrier": Life(
        asks_when, dying.work, ("outside_asked", "outside_answered", "outside_answer_kept")
    ),
    "a turn without a model": Life(
        unanswered, dying.work, ("model_failed", "failure_kept", "turn_failed", "person_asked")
    ),
    "a turn whose window is full": Life(too_long, dying.work, ("history_folded", "request_begun")),
    "a worker that goes down": Life(greeted, dying.leave, ("turn_handed_on",)),
    "a turn that a person has overtaken": Life(owned_meanwhile, dying.work, ("turn_silenced",)),
    "a refund is pressed": Life(shown, dying.press_refund, ("press_heard", "card_ended")),
    "an exchange is pressed": Life(with_free_card, dying.press_card, ("card_pressed",), redo=True),
    "an exchange is refused": Life(with_free_card, dying.decline, ("card_declined",), redo=True),
    "money arrives": Life(bought_back, dying.pay, ("outcome_told",)),
    "the customer tries again": Life(failed, dying.try_again, ("tried_again",), redo=True),
    "a person is called": Life(
        greeted, dying.call_a_person, ("person_called", "call_noted", "person_asked"), redo=True
    ),
    "a person takes over": Life(greeted, dying.take_over, ("taken_over",), redo=True),
    "a person answers": Life(greeted, dying.answer, ("answered", "taken_over"), redo=True),
    "a person gives it back": Life(owned, dying.give_back, ("given_back",), redo=True),
    "a person assigns it": Life(greeted, dying.assign, ("assigned",), redo=True),
    "a person writes a note": Life(greeted, dying.note, ("note_written",), redo=True),
    "a person offers a card": Life(worked_out, dying.offer, ("card_offered", "taken_over"), redo=True),
    "a person closes it": Life(greeted, dying.close, ("closed",), redo=True),
    "the sweeper finds a turn": Life(late, dying.look_around, ("lost_turn_found", "lateness_told")),
    "the sweeper finds a turn that need not wait": Life(forgotten, dying.look_around, ("turn_resumed",)),
}


# --- what happens afterwards ---
def grow_old(order: Order, seconds: int) -> None:
    """The order's turns were queued, and their workers last heard of, so much earlier."""
    earlier = timedelta(seconds=seconds)
    for turn in Turn.objects.filter(conversation__order=order, state__in=[TurnState.QUEUED, TurnState.RUNNING]):
        until = turn.lease_until and turn.lease_until - earlier
        Turn.objects.filter(pk=turn.pk).update(queued_at=turn.queued_at - earlier, lease_until=until)


def jobs(broker: redis.Redis) -> Iterator[int]:
    """The turns for which jobs lie in Redis; each is taken out."""
    while (entry := broker.rpop("chat")) is not None:
        assert isinstance(entry, bytes)
        arguments, *_ = json.loads(base64.b64decode(json.loads(entry)["body"]))
        yield arguments[0]


def go_on(order: Order, broker: redis.Redis) -> None:
    """Sweepers and workers, until there is nothing left to do. Every job is delivered twice."""
    broker.flushdb()
    for _ in range(ROUNDS):
        grow_old(order, 20)
        sweep.sweep()
        found = list(jobs(broker))
        for turn_id in found:
            loop.run(turn_id)
            loop.run(turn_id)
        if not found:
            return
    pytest.fail("there is no end to it")


def press_all(order: Order) -> None:
    for card in talk(order).cards.filter(state=CardState.OPEN).order_by("created_at"):
        press(card)


def live_on(order: Order, broker: redis.Redis) -> None:
    """To the end of the story: every button is pressed, and what is owed is paid."""
    go_on(order, broker)
    if talk(order).cards.filter(state=CardState.OPEN).exists():
        press_all(order)
        go_on(order, broker)
    if Refund.objects.filter(order=order, state=RefundState.PENDING).exists():
        dying.pay(order)
        go_on(order, broker)


def picture(order: Order) -> dict[str, Any]:
    """Everything that a repeated effect, or a lost one, would change."""
    conversation = talk(order)
    messages = [each for each in conversation.messages.order_by("pk") if history.FOLDS not in each.content[0]]
    calls = conversation.tool_calls.order_by("pk")
    told = [event for event in conversation.events.order_by("number") if event.kind not in {"turn", "work"}]
    return {
        "messages": [(each.author, each.stop_reason, [b["type"] for b in each.content]) for each in messages],
        "calls": list(calls.values_list("name", "state", "is_error")),
        "cards": sorted(conversation.cards.values_list("kind", "state")),
        "quotes": sorted(RefundQuote.objects.filter(order=order).values_list("state", "amount")),
        "refunds": list(Refund.objects.filter(order=order).values_list("state", "amount")),
        "paid": list(SimulatedRefund.objects.filter(charge_ref__in=payments(order)).values_list("amount", flat=True)),
        "returns": sorted(Return.objects.filter(order=order).values_list("kind", "state")),
        "turns": list(conversation.turns.order_by("pk").values_list("state", "steps", "error")),
        "person": (conversation.state, conversation.needs_person, conversation.owner_id, conversation.assignee_id),
        "notes": list(conversation.notes.values_list("text", flat=True)),
        "told": Counter((event.kind, event.data.get("author"), event.data.get("state")) for event in told),
    }


def payments(order: Order) -> list[str]:
    return list(order.payments.values_list("pk", flat=True))


def assert_in_order(order: Order) -> None:
    """Events are numbered without a gap, what was said is told once, and every call has its answer."""
    conversation = talk(order)
    told = list(conversation.events.order_by("number").values_list("number", "kind", "data"))
    assert [number for number, _, _ in told] == list(range(1, conversation.last_event + 1))
    shown_messages = [data["message_id"] for _, kind, data in told if kind == "message"]
    assert len(shown_messages) == len(set(shown_messages))
    spoken = conversation.messages.filter(author__in=[Author.CUSTOMER, Author.AGENT, Author.STAFF])
    assert set(shown_messages) >= {each.pk for each in spoken if each.text.strip()}
    assert not conversation.tool_calls.exclude(state=ToolCallState.ANSWERED).exists()


@pytest.mark.parametrize("name", LIVES)
def test_killed_at_any_point_whoever_comes_next_goes_on_and_nothing_happens_twice(
    model: Control, redis_server: redis.Redis, name: str
) -> None:
    ends = LIVES[name].end_of_each(model, lambda order: live_on(order, redis_server))
    expected = picture(next(ends)[1])
    for died, order in ends:
        assert picture(order) == expected, died
        assert_in_order(order)
        assert refused_requests(model) == []


def test_every_point_of_the_list_is_died_at() -> None:
    """Those of the copilot in `test_copilot_kill_points.py`."""
    tried = {save for life in LIVES.values() for save in life.saves}
    assert {save for point in POINTS if not (save := point.partition(".")[0]).startswith("copilot_")} == tried
