"""The inbox: what stands in which view, whose it is, what is found, what is unread, and how long lists are read."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agent import assignment, inbox, people, reading
from agent.models import Conversation
from agent.states import ConversationState, TurnState
from agent.tests.helpers import hear, talk
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order, "耳機左耳沒聲音")
    return order


def numbers(state: str = "all", *, whose: str = "all", words: str = "", role: str = "staff") -> list[str]:
    rows = inbox.conversations(state=state, whose=whose, user=cast.staff_user(role), found=inbox.found(words))
    return [row.order.number for row in rows]


def another(number: str, text: str = "在嗎", **changes: object) -> Conversation:
    order = cast.place(number)
    hear(order, text)
    Conversation.objects.filter(order=order).update(**changes)
    return talk(order)


def waits(conversation: Conversation, minutes: int) -> None:
    since = timezone.now() - timedelta(minutes=minutes)
    Conversation.objects.filter(pk=conversation.pk).update(needs_person=True, waiting_since=since)


# --- views ---
def test_where_a_colleague_has_answered_it_is_the_customers_turn(order: Order) -> None:
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    assert (numbers("needs_person"), numbers("waiting")) == (["5531"], [])
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert (numbers("needs_person"), numbers("waiting")) == (["5531"], [])
    people.reply(conversation=talk(order), actor=cast.staff(), text="I look.")
    assert (numbers("needs_person"), numbers("waiting")) == ([], ["5531"])
    hear(order, "thank you")
    assert (numbers("needs_person"), numbers("waiting")) == (["5531"], [])


def test_every_conversation_stands_in_exactly_one_view(order: Order) -> None:
    states = ["needs_person", "waiting", "working", "done"]
    owned = {"owner": cast.staff_user(), "waiting_since": None}
    for change in ({}, {"needs_person": True, "waiting_since": timezone.now()}, owned, {"state": "closed"}):
        for turn in (TurnState.RUNNING, TurnState.WAITING, TurnState.DONE):
            usual = {"state": "open", "owner": None, "needs_person": False, "waiting_since": None}
            Conversation.objects.filter(order=order).update(**{**usual, **change})
            talk(order).turns.update(state=turn)
            assert sum(numbers(state) == ["5531"] for state in states) == 1, (change, turn)


def test_mine_is_what_is_assigned_to_me_and_what_i_answer(order: Order) -> None:
    assigned, answered, foreign = another("B1"), another("B2"), another("B3")
    assignment.assign(conversation=assigned, actor=cast.staff("supervisor"), to=cast.staff_user())
    people.take_over(conversation=answered, actor=cast.staff())
    people.take_over(conversation=foreign, actor=cast.staff("supervisor"))
    assert sorted(numbers(whose="mine")) == ["B1", "B2"]
    assert numbers(whose="mine", role="supervisor") == ["B3"]
    assert numbers(whose="unassigned") == ["5531"]


# --- search ---
@pytest.mark.parametrize("words", ["5531", "王小", "左耳", "沒聲音", "耳機左耳沒聲音", "ming@example"])
def test_a_conversation_is_found_by_order_customer_and_words_said(order: Order, words: str) -> None:
    other = cast.place("B1", who="mei")
    hear(other, "包裹在哪裡")
    assert numbers(words=words) == ["5531"]


def test_words_of_staff_are_found_and_halves_of_different_words_are_not(order: Order) -> None:
    people.reply(conversation=talk(order), actor=cast.staff(), text="Shall we exchange it?")
    assert numbers(words="SHALL we") == ["5531"]
    assert numbers(words="聲左") == []


def test_of_very_many_that_fit_each_list_looks_for_itself_and_finds_the_same(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    another("B1", "左耳也沒聲音")
    another("B2")
    monkeypatch.setattr(inbox, "MOST_FOUND", 1)
    assert sorted(numbers(words="左耳")) == ["5531", "B1"]


def test_words_are_looked_for_by_their_index(order: Order) -> None:
    with connection.cursor() as cursor:
        cursor.execute("set local enable_seqscan = off")
        cursor.execute("set local enable_indexscan = off")
    assert "agent_message_pieces" in inbox.said("左耳").explain()


# --- reading on ---
def walk(state: str) -> list[list[str]]:
    """The pages from the first to the last, and back again."""
    rows, longest = (
        inbox.conversations(state=state, whose="all", user=cast.staff_user()),
        state == "needs_person",
    )
    pages = [inbox.page(rows, longest_first=longest, after=None, before=None)]
    while place := pages[-1].after:
        pages.append(inbox.page(rows, longest_first=longest, after=inbox.place(str(place)), before=None))
    assert pages[0].before is None
    back = inbox.page(rows, longest_first=longest, after=None, before=inbox.place(str(pages[-1].before)))
    assert [row.pk for row in back.rows] == [row.pk for row in pages[-2].rows]
    return [[row.order.number for row in page.rows] for page in pages]


@pytest.mark.parametrize("state", ["needs_person", "done"])
def test_a_list_is_read_from_a_place_on_without_gap_or_repeat_also_within_one_moment(
    monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    monkeypatch.setattr(inbox, "PER_PAGE", 2)
    same = timezone.now() - timedelta(minutes=5)
    for number in range(5):
        waiting: dict[str, Any] = {"needs_person": True, "waiting_since": same} if state == "needs_person" else {}
        another(f"B{number}", **waiting, updated_at=same)
        talk(Order.objects.get(number=f"B{number}")).turns.update(state=TurnState.DONE)
    found = walk(state)
    assert [len(page) for page in found] == [2, 2, 1]
    assert sorted(number for page in found for number in page) == [f"B{number}" for number in range(5)]


@pytest.mark.parametrize("text", ["", "x", "1", "1-", "-1", "1-2-3", "99999999999999999999-1", "1" * 40, "１-２"])
def test_a_place_that_nobody_has_given_out_is_none(text: str) -> None:
    assert inbox.place(text) is None


def test_who_has_waited_longest_stands_first() -> None:
    for number, minutes in (("B1", 5), ("B2", 50), ("B3", 20)):
        waits(another(number), minutes)
    assert numbers("needs_person") == ["B2", "B3", "B1"]


def test_counts_stop_where_nobody_counts_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "MOST_COUNTED", 1)
    for number in range(3):
        another(f"B{number}")
    assert inbox.count(Conversation.objects.all()) == 2


# --- unread ---
def unread(role: str = "staff") -> list[str]:
    user = cast.staff_user(role)
    rows = inbox.as_rows(inbox.conversations(state="all", whose="all", user=user), user)
    return [row.order.number for row in rows if inbox.stands_out(row)]


def read(order: Order, role: str = "staff") -> None:
    newest = talk(order).messages.order_by("-pk")[0].pk
    reading.mark(conversation=talk(order), reader=cast.staff_user(role), read_to=newest)


def test_what_a_person_has_to_see_is_unread_until_they_have_read_it(order: Order) -> None:
    assert unread() == [], "the assistant sees to it"
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    assert (unread(), unread("supervisor")) == (["5531"], ["5531"])
    read(order)
    assert (unread(), unread("supervisor")) == ([], ["5531"])
    hear(order, "hello?")
    assert unread() == ["5531"]
    Conversation.objects.update(state=ConversationState.CLOSED)
    assert unread() == []


def test_a_read_mark_only_moves_forward(order: Order) -> None:
    hear(order, "more")
    read(order)
    first = reading.marks(talk(order))
    reading.mark(conversation=talk(order), reader=cast.staff_user(), read_to=1)
    assert [(mark.staff, mark.read_to) for mark in reading.marks(talk(order))] == [
        (mark.staff, mark.read_to) for mark in first
    ]


# --- who is here ---
def test_staff_who_have_it_open_are_shown_to_each_other_and_so_is_who_types(order: Order) -> None:
    pk = talk(order).pk
    assert reading.looks(conversation_id=pk, reader=cast.staff(), types=False) == []
    assert reading.looks(conversation_id=pk, reader=cast.staff("supervisor"), types=True) == [
        reading.Colleague("staff", types=False)
    ]
    assert reading.looks(conversation_id=pk, reader=cast.staff(), types=False) == [
        reading.Colleague("supervisor", types=True)
    ]
    assert reading.looks(conversation_id=pk + 1, reader=cast.staff(), types=False) == []
