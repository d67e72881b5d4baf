"""Events of a conversation are numbered without gaps, in the order in which they are committed."""

import pytest
from django.db import transaction
from pytest_django import DjangoCaptureOnCommitCallbacks

from agent import events
from agent.models import ConversationEvent
from agent.stream import Position, parse_event_id
from agent.tests.helpers import at_once, ephemeral, hear, talk
from orders.models import Order
from orders.tests import cast

WRITERS, EACH = 4, 5


def numbers(order: Order) -> list[int]:
    return list(talk(order).events.order_by("number").values_list("number", flat=True))


@pytest.mark.django_db(transaction=True)
def test_writers_at_the_same_time_leave_no_gap_and_no_number_twice() -> None:
    order = cast.order_5531()
    hear(order)
    begun = talk(order).last_event

    def write() -> None:
        for _ in range(EACH):
            with events.writing(talk(order).pk) as conversation:
                events.add(conversation, "status", {"text": "x"})

    at_once(*[write] * WRITERS)
    assert numbers(order) == list(range(1, begun + WRITERS * EACH + 1))


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_takes_its_number_with_it() -> None:
    order = cast.order_5531()
    hear(order)
    with transaction.atomic(), events.writing(talk(order).pk) as conversation:
        events.add(conversation, "status", {"text": "never"})
        transaction.set_rollback(True)
    with events.writing(talk(order).pk) as conversation:
        events.add(conversation, "status", {"text": "kept"})
    assert numbers(order) == list(range(1, talk(order).last_event + 1))
    assert [data["text"] for data in ephemeral(order, "status")] == ["kept"]


@pytest.mark.django_db
def test_pages_are_told_on_commit_and_not_before(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    order = cast.order_5531()
    with django_capture_on_commit_callbacks() as callbacks:
        hear(order)
    assert ephemeral(order, "message") == []
    for callback in callbacks:
        callback()
    assert [data["text"] for data in ephemeral(order, "message")] == ["hello"]
    assert ConversationEvent.objects.count() == 2


@pytest.mark.parametrize(
    "garbage", ["", "abc", "1", "-", "1-", "-1", "1-2-3", "1.0-2", "٣-٤", "²-1", "1-1\n", " ", "1" * 40 + "-1"]
)
def test_an_id_of_another_shape_is_no_position(garbage: str) -> None:
    assert parse_event_id(garbage) is None


def test_positions_are_ordered_first_by_conversation() -> None:
    assert parse_event_id("7-99") == Position(7, 99)
    assert Position(7, 99) < Position(8, 1)
    assert Position(8, 1).next_is(Position(8, 2))
    assert not Position(7, 99).next_is(Position(8, 100))
