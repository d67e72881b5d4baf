"""What a customer says is kept once, answered once, and refused in words when it cannot be."""

from typing import Any

import pytest
import redis
from django.db import transaction
from django.utils import translation
from pytest_django import Settings

from agent import intake, people
from agent.models import Conversation, Message, Turn
from agent.offline.control import Control
from agent.states import Author, ConversationState, TurnState
from agent.tests.helpers import at_once, hear, last_request, meanwhile, newest_turn, reply, talk, texts, told, work
from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.race import wait_until_blocked

NOBODY_LISTENS = "redis://127.0.0.1:9/0"


@pytest.fixture
def order(db: None) -> Order:
    return cast.order_5531()


def test_words_are_kept_shown_audited_and_queued(order: Order) -> None:
    message = hear(order, "  Where is it?\r\nI wait. ")
    assert message.text == "Where is it?\nI wait."
    assert [data["message_id"] for data in told(order, "message")] == [message.pk]
    assert newest_turn(order).state == TurnState.QUEUED
    assert AuditEvent.objects.filter(action="message.said", subject_id=str(talk(order).pk)).count() == 1


@pytest.mark.parametrize(
    "text",
    ["", " \n\t ", "x" * 20_000, "a\x00b", "a\x1b[31m", "a\ud83d", "\u202eevil", "a\x7f"],
    ids=["empty", "blank", "20,000 characters", "NUL", "escape", "half a pair", "turned around", "delete"],
)
def test_text_that_cannot_be_used_is_refused_and_leaves_nothing(order: Order, text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        hear(order, text)
    assert (refused.value.field, refused.value.status) == ("text", 400)
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("ref", ["x" * 65, "a\x00b", "a\nb", "\ud83d"])
def test_a_reference_that_cannot_be_stored_is_refused_by_name(order: Order, ref: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        hear(order, client_ref=ref)
    assert refused.value.field == "client_ref"
    assert not Conversation.objects.exists()


def test_emoji_and_other_scripts_are_fine(order: Order) -> None:
    assert hear(order, "耳機壞了 😭 أريد استرداد").text == "耳機壞了 😭 أريد استرداد"


def test_a_flood_is_refused_with_a_wait_and_nothing_of_it_is_kept(order: Order, settings: Settings) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 3
    for _ in range(3):
        hear(order)
    with pytest.raises(Refusal) as refused:
        hear(order, "one too many")
    assert (refused.value.code, refused.value.status, refused.value.retryable) == ("too_many_messages", 429, True)
    assert 1 <= refused.value.details["retry_after"] <= 60
    assert Message.objects.count() == 3


def test_the_wait_is_explained_and_a_person_offered(order: Order, settings: Settings) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 1
    hear(order)
    with pytest.raises(Refusal) as refused, translation.override("en"):
        hear(order, "one too many")
    assert "Please wait" in refused.value.message
    assert "ask for a person" in refused.value.hint


def test_trying_again_counts_as_a_message(order: Order, settings: Settings) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 2
    hear(order)
    assert not intake.try_again(conversation=talk(order))
    with pytest.raises(Refusal) as refused:
        intake.try_again(conversation=talk(order))
    assert refused.value.code == "too_many_messages"


def test_the_limit_is_each_customers_own(order: Order, settings: Settings) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 1
    hear(order)
    assert hear(cast.place("5602", who="ming2")).pk


def test_words_that_are_refused_do_not_make_the_wait_longer(
    order: Order, settings: Settings, redis_server: redis.Redis
) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 1
    hear(order)
    (counted,) = redis_server.scan_iter("refund-desk:said:*")
    redis_server.expire(counted, 5)
    for _ in range(2):
        with pytest.raises(Refusal) as refused:
            hear(order, "one too many")
        assert refused.value.details["retry_after"] <= 5


def test_a_count_lasts_a_minute_and_no_longer(order: Order, settings: Settings, redis_server: redis.Redis) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 1
    hear(order)
    (counted,) = redis_server.scan_iter("refund-desk:said:*")
    left: Any = redis_server.ttl(counted)
    assert 0 < left <= 60
    with pytest.raises(Refusal) as refused:
        hear(order, "one too many")
    assert refused.value.details["retry_after"] > 50


def test_nobody_is_kept_out_while_messages_cannot_be_counted(order: Order, settings: Settings) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 1
    settings.REDIS_URL = NOBODY_LISTENS
    hear(order)
    assert hear(order).pk


def test_the_same_reference_again_is_the_same_message_and_does_not_count(order: Order, settings: Settings) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 1
    first = hear(order, client_ref="ref-1")
    assert hear(order, client_ref="ref-1") == first
    assert Message.objects.count() == 1


def test_the_same_reference_after_the_conversation_was_closed_is_still_the_same_message(order: Order) -> None:
    first = hear(order, client_ref="ref-1")
    people.close(conversation=talk(order), actor=cast.staff())
    assert hear(order, client_ref="ref-1") == first
    assert Conversation.objects.count() == 1


def test_the_same_reference_about_another_order_is_another_message(order: Order) -> None:
    hear(order, "about this one", client_ref="ref-1")
    other = hear(cast.place("5602"), "about that one", client_ref="ref-1")
    assert (other.text, other.conversation.order.number) == ("about that one", "5602")


@pytest.mark.parametrize("do", [people.take_over, people.close], ids=["taken over", "closed"])
def test_where_the_agent_is_silent_nothing_is_tried_again(order: Order, do: Any) -> None:
    hear(order)
    Turn.objects.update(state=TurnState.FAILED)
    do(conversation=talk(order), actor=cast.staff())
    assert not intake.try_again(conversation=talk(order))
    assert newest_turn(order).state == TurnState.FAILED


def test_a_closed_conversation_is_followed_by_a_new_one(order: Order) -> None:
    hear(order)
    people.close(conversation=talk(order), actor=cast.staff())
    message = hear(order, "me again")
    assert Conversation.objects.count() == 2
    assert message.conversation.state == ConversationState.OPEN


def test_while_a_person_owns_the_conversation_no_turn_is_queued(order: Order) -> None:
    hear(order)
    people.take_over(conversation=talk(order), actor=cast.staff())
    hear(order, "are you there?")
    assert not Turn.objects.filter(state=TurnState.QUEUED).exists()


def test_asking_for_a_person_works_before_anything_was_said_and_once(order: Order) -> None:
    for _ in range(2):
        intake.ask_for_person(order=order, customer=order.customer, language="en")
    assert talk(order).needs_person
    assert len(texts(order, Author.SYSTEM)) == 1


@pytest.mark.django_db(transaction=True)
def test_two_first_messages_at_once_are_one_conversation_and_one_turn() -> None:
    order = cast.order_5531()
    at_once(*[lambda number=number: hear(order, f"message {number}") for number in range(4)])
    assert (Conversation.objects.count(), Message.objects.count(), Turn.objects.count()) == (1, 4, 1)


@pytest.mark.django_db(transaction=True)
def test_the_same_reference_twice_at_once_is_one_message() -> None:
    order = cast.order_5531()
    messages = at_once(*[lambda: hear(order, client_ref="ref-1")] * 4)
    assert len({message.pk for message in messages}) == 1
    assert Message.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_words_that_meet_a_conversation_being_closed_open_a_new_one() -> None:
    order = cast.order_5531()
    hear(order, "first")
    closing = talk(order)
    with meanwhile(lambda: hear(order, "second")) as late, transaction.atomic():
        people.close(conversation=closing, actor=cast.staff())
        late.begin()
        wait_until_blocked(1)
    message = late.result()
    assert (message.text, message.conversation.state) == ("second", ConversationState.OPEN)
    assert message.conversation != closing
    assert newest_turn(order).state == TurnState.QUEUED


@pytest.mark.django_db(transaction=True)
def test_five_messages_in_two_seconds_get_one_answer(model: Control) -> None:
    order = cast.order_5531()
    for number in range(5):
        hear(order, f"part {number}")
    model.script([reply("I have read all five.")])

    assert work(order).state == TurnState.DONE
    assert Turn.objects.count() == 1
    assert [block["text"] for block in last_request(model)[0]["content"]] == [f"part {number}" for number in range(5)]
    assert len(model.requests()) == 1
    assert texts(order) == ["I have read all five."]


@pytest.mark.django_db(transaction=True)
def test_a_job_is_sent_when_the_words_are_committed(redis_server: redis.Redis) -> None:
    hear(cast.order_5531())
    assert redis_server.llen("chat") == 1
