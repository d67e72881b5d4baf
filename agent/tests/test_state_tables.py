"""The turns and cards of the chat, walked from each state to each other, as `refunds/tests/test_state_tables.py` does
for money and goods: an allowed move is told once by the history, every other is refused and changes no row at all."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Final

import pytest
from django.utils import timezone

from agent import cards, events, intake, turns
from agent.models import Card, Conversation, Turn
from agent.states import CardKind, CardState, TurnState
from agent.tests.helpers import hear, newest_turn, talk
from agent.tools.base import CardSpec
from orders.models import AuditEvent
from orders.tests import cast
from refunds.tests.machines import everything

pytestmark = pytest.mark.django_db

TURN_MOVES: Final[Mapping[str, frozenset[str]]] = {
    TurnState.QUEUED: frozenset({TurnState.RUNNING, TurnState.DONE}),
    TurnState.RUNNING: frozenset({TurnState.QUEUED, TurnState.WAITING, TurnState.DONE, TurnState.FAILED}),
    TurnState.WAITING: frozenset({TurnState.QUEUED, TurnState.DONE}),
    TurnState.DONE: frozenset(),
    TurnState.FAILED: frozenset(),
}
numbers = count(80_001)


def told(subject: str, row: Turn | Card) -> list[str]:
    events_of_it = AuditEvent.objects.filter(subject_type=subject, subject_id=str(row.pk)).order_by("pk")
    return list(events_of_it.values_list("action", flat=True))


def state_of(row: Turn | Card) -> str:
    row.refresh_from_db()
    return row.state


# --- Turns ---------------------------------------------------------------------------------------------------------


def move(turn: Turn, old: str, new: str) -> None:
    with events.writing(turn.conversation_id) as conversation:
        turns.move(conversation, turn, old, new)


def make_turn(state: str) -> Turn:
    """A turn that has come into this state by moves."""
    order = cast.place(str(next(numbers)))
    hear(order)
    turn = newest_turn(order)
    if state != TurnState.QUEUED:
        assert turns.take(turn.pk) is not None
        turn.refresh_from_db()
    if state not in {TurnState.QUEUED, TurnState.RUNNING}:
        move(turn, TurnState.RUNNING, state)
    return turn


@pytest.mark.parametrize("before", TurnState.values)
def test_a_turn_moves_from_the_state_that_is_stated_and_from_no_other(before: str) -> None:
    for old, after in ((old, new) for old, targets in TURN_MOVES.items() for new in sorted(targets)):
        turn = make_turn(before)
        so_far, world = told("turn", turn), everything("agent")
        if old == before:
            move(turn, old, after)
            assert state_of(turn) == after
            assert told("turn", turn) == [*so_far, f"turn.{after}"]
        else:
            with pytest.raises(turns.LeaseLost):
                move(turn, old, after)
            assert everything("agent") == world, f"{before}, taken for {old} → {after}"


@pytest.mark.parametrize("before", TurnState.values)
def test_a_turn_is_taken_only_while_it_is_queued(before: str) -> None:
    turn = make_turn(before)
    so_far, world = told("turn", turn), everything("agent")
    lease = turns.take(turn.pk)
    if before == TurnState.QUEUED:
        assert lease is not None
        assert told("turn", turn) == [*so_far, "turn.running"]
    else:
        assert lease is None
        assert everything("agent") == world


@pytest.mark.parametrize("before", [TurnState.DONE, TurnState.FAILED])
def test_what_is_over_is_not_queued_again_but_followed_by_another_turn(before: str) -> None:
    turn = make_turn(before)
    so_far = told("turn", turn)
    intake.say(order=turn.conversation.order, customer=turn.conversation.customer, text="還在嗎", language="zh-hant")
    assert (state_of(turn), told("turn", turn)) == (before, so_far)
    assert newest_turn(turn.conversation.order) != turn


# --- Cards ---------------------------------------------------------------------------------------------------------


def close(state: str, card: Card) -> None:
    cards.close_card(card=card, state=state, actor=cast.shopper(), result={"status": state})


def with_everything_open(act: Callable[..., None], card: Card, **options: str) -> None:
    with events.writing(card.conversation_id) as conversation:
        act(conversation, actor=cast.shopper(), **options)


CARD_DOORS: Final[dict[str, Callable[[Card], None]]] = {
    CardState.CONFIRMED: partial(close, CardState.CONFIRMED),
    CardState.DECLINED: lambda card: with_everything_open(cards.decline_open, card, why="something else was said"),
    CardState.EXPIRED: cards.expire,
    CardState.WITHDRAWN: lambda card: with_everything_open(cards.withdraw_open, card),
}


def make_card(state: str) -> Card:
    """A card of an exchange: it has no quote to follow."""
    order = cast.place(str(next(numbers)))
    hear(order)
    conversation: Conversation = talk(order)
    spec = CardSpec(kind=CardKind.EXCHANGE, expires_at=timezone.now() + timedelta(minutes=15), payload={"lines": []})
    with events.writing(conversation.pk) as locked:
        card = cards.open_card(conversation=locked, call=None, spec=spec)
    if state != CardState.OPEN:
        CARD_DOORS[state](card)
    return card


@pytest.mark.parametrize("before", CardState.values)
def test_a_card_ends_once_and_in_one_way(before: str) -> None:
    for after, door in CARD_DOORS.items():
        card = make_card(before)
        assert state_of(card) == before
        so_far, world = told("card", card), everything("agent")
        door(card)
        if before == CardState.OPEN:
            assert state_of(card) == after
            assert told("card", card) == [*so_far, f"card.{after}"]
        else:
            assert everything("agent") == world, f"{before} → {after}"
