"""The numbers of the reports about conversations, on a few of which everybody can see what comes out."""

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from agent import events, people, turns
from agent import report_selectors as reports
from agent.models import Card, Conversation, Message, ModelCall, Turn
from agent.report_selectors import Cost
from agent.states import TurnState
from agent.tests.helpers import asked, call, hear, hold, newest_turn, press, quoted, talk
from agent.tools import executor
from orders.actors import customer_actor
from orders.models import AuditEvent
from orders.periods import Period
from orders.tests import cast

pytestmark = pytest.mark.django_db
TAIPEI = ZoneInfo("Asia/Taipei")
BEGUN = datetime(2026, 9, 2, 10, tzinfo=TAIPEI)
DAYS = Period(date(2026, 9, 1), date(2026, 9, 7))


def conversation(number: str, *, begun: datetime = BEGUN, answered: bool = False, **fields: Any) -> Conversation:
    """A customer has written; with `answered` the assistant has answered, and its turn is over."""
    hear(cast.place(number))
    made = Conversation.objects.get(order__number=number)
    if answered:
        Message.objects.create(conversation=made, author="agent", content=[{"type": "text", "text": "好的"}])
        Turn.objects.filter(conversation=made).update(state="done")
    Conversation.objects.filter(pk=made.pk).update(created_at=begun, **fields)
    made.refresh_from_db()
    return made


def test_a_conversation_is_the_assistants_alone_until_a_person_is_asked_for_or_writes() -> None:
    conversation("1", answered=True)
    conversation("2", answered=True, hand_off_reason="complaint")
    Message.objects.create(conversation=conversation("3", answered=True), author="staff", content=[])
    conversation("4", answered=True, owner=cast.staff_user())
    conversation("5")
    assert reports.outcomes_by_day(DAYS) == {date(2026, 9, 2): {"alone": 1, "person": 3, "open": 1}}


def test_a_conversation_whose_turn_is_under_way_has_no_outcome_yet() -> None:
    made = conversation("1", answered=True)
    Turn.objects.filter(conversation=made).update(state="waiting")
    assert reports.outcomes_by_day(DAYS) == {date(2026, 9, 2): {"open": 1}}


def test_a_conversation_counts_on_the_day_of_the_shop_on_which_it_began() -> None:
    conversation("1", begun=datetime(2026, 9, 1, 0, 0, tzinfo=TAIPEI))
    conversation("2", begun=datetime(2026, 9, 1, 23, 59, tzinfo=TAIPEI))
    conversation("3", begun=datetime(2026, 9, 8, 0, 0, tzinfo=TAIPEI))
    assert reports.outcomes_by_day(DAYS) == {date(2026, 9, 1): {"open": 2}}


def test_hand_offs_stand_under_the_reason_that_was_given_last() -> None:
    order = cast.place("1")
    hear(order)
    actor = customer_actor(order.customer)
    for reason in ("customer_asked", "complaint"):
        people.ask_for_person(conversation=talk(order), actor=actor, reason=reason, summary="x")
    conversation("2", hand_off_reason="complaint")
    conversation("3", hand_off_reason="customer_asked")
    conversation("4", owner=cast.staff_user())
    today = Period(date(2026, 9, 1), timezone.localdate())
    assert dict(reports.hand_offs(today)) == {"complaint": 2, "customer_asked": 1, "stepped_in": 1}


def test_the_assistants_first_answer_is_that_to_the_first_message() -> None:
    for number, seconds in (("1", 2), ("2", 4), ("3", 9)):
        made = conversation(number)
        Message.objects.filter(conversation=made).update(created_at=BEGUN)
        Turn.objects.filter(conversation=made).update(state="done", first_text_at=BEGUN + timedelta(seconds=seconds))
        Turn.objects.create(
            conversation=made, state="done", queued_at=BEGUN, first_text_at=BEGUN + timedelta(seconds=500)
        )
    conversation("4")
    found = reports.first_answer_of_assistant(DAYS)
    assert (found.count, found.middle) == (3, timedelta(seconds=4))


def test_a_turn_that_is_queued_anew_by_a_press_answered_when_it_first_did(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    order = cast.order_5531()
    hear(order)
    lease = hold(order)
    (asks,) = asked(order, call("refund_items", quote_id=quoted(order).pk))
    executor.run_call(lease, asks.pk)
    with events.writing(talk(order).pk) as written:
        turns.move(written, newest_turn(order), TurnState.RUNNING, TurnState.WAITING)
    Conversation.objects.update(created_at=BEGUN)
    Message.objects.update(created_at=BEGUN)
    Turn.objects.update(queued_at=BEGUN, first_text_at=BEGUN + timedelta(seconds=3))
    with django_capture_on_commit_callbacks(execute=True):
        press(Card.objects.select_related("conversation__customer").get())
    assert newest_turn(order).state == TurnState.QUEUED
    assert newest_turn(order).queued_at > BEGUN
    found = reports.first_answer_of_assistant(DAYS)
    assert (found.count, found.middle, found.slow) == (1, timedelta(seconds=3), timedelta(seconds=3))


def test_what_a_colleague_has_answered_is_no_question_to_the_assistant_any_more() -> None:
    made = conversation("1")
    Message.objects.filter(conversation=made).update(created_at=BEGUN)
    for author, seconds in (("staff", 10), ("customer", 600), ("customer", 602)):
        message = Message.objects.create(conversation=made, author=author, content=[])
        Message.objects.filter(pk=message.pk).update(created_at=BEGUN + timedelta(seconds=seconds))
    Turn.objects.filter(conversation=made).update(state="done", first_text_at=BEGUN + timedelta(seconds=605))
    assert reports.first_answer_of_assistant(DAYS).middle == timedelta(seconds=5)


def test_a_persons_answer_is_timed_from_when_one_was_waited_for() -> None:
    order = cast.place("1")
    hear(order)
    people.ask_for_person(conversation=talk(order), actor=customer_actor(order.customer), reason="other", summary="x")
    Conversation.objects.update(waiting_since=timezone.now() - timedelta(minutes=5))
    people.reply(conversation=talk(order), actor=cast.staff(), text="您好")
    people.reply(conversation=talk(order), actor=cast.staff(), text="還有什麼可以幫忙的嗎")
    assert AuditEvent.objects.filter(action="conversation.answered").count() == 2
    found = reports.first_answer_of_people(Period(timezone.localdate(), timezone.localdate()))
    assert (found.count, found.middle) == (1, timedelta(minutes=5))


def test_what_the_model_has_cost_is_divided_among_the_conversations_that_asked_it() -> None:
    for number, costs in (("1", (1000, 500)), ("2", (400,)), ("3", ())):
        made = conversation(number)
        for attempt, cost in enumerate(costs, start=1):
            ModelCall.objects.create(
                conversation=made, turn=made.turns.get(), number=1, attempt=attempt, started_at=BEGUN, cost_micro=cost
            )
    assert reports.cost(DAYS) == Cost(2, 1900)
    assert Cost(2, 1900).each == 950
    assert reports.cost(DAYS.before()) == Cost(0, 0)
