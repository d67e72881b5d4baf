"""Waiting for a person: since when, behind whom, for how long, and when anybody is there again."""

from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.core import mail as post
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import formats, timezone, translation
from pytest_django import Settings

from agent import limits, mails, people, selectors, turns, waiting
from agent.models import Conversation, CustomerMail
from agent.states import Author, TurnState
from agent.tests.helpers import asked, call, hear, hold, newest_turn, quoted, results, talk, texts, told
from agent.tools import executor
from orders.actors import system_actor
from orders.errors import Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def people_are_there(settings: Settings) -> None:
    settings.OFFICE_HOURS = []
    settings.CLOSED_DAYS = frozenset()


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order, "my earphones are broken")
    return order


def nobody_is_there(settings: Settings) -> None:
    """Open on one weekday only: the day after tomorrow, from nine to six."""
    day = (timezone.localdate() + timedelta(days=2)).weekday()
    settings.OFFICE_HOURS = [(day, time(9), time(18))]


def wants_a_person(order: Order) -> None:
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())


def waits_since(order: Order, minutes: int) -> datetime:
    since = timezone.now() - timedelta(minutes=minutes)
    Conversation.objects.filter(order=order).update(waiting_since=since)
    return since


def said_of_wait(order: Order) -> str:
    with translation.override("en"):
        return " ".join(waiting.sentences_for_customer(talk(order)))


def test_who_asks_for_a_person_waits_until_somebody_answers(order: Order) -> None:
    assert talk(order).waiting_since is None
    wants_a_person(order)
    since = talk(order).waiting_since
    assert since is not None
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert talk(order).waiting_since == since
    people.reply(conversation=talk(order), actor=cast.staff(), text="Here I am.")
    assert talk(order).waiting_since is None
    assert [bool(data["waiting_since"]) for data in told(order, "conversation")] == [True, True, False]


def test_who_writes_to_the_person_waits_from_the_first_line_on(order: Order) -> None:
    people.reply(conversation=talk(order), actor=cast.staff(), text="Here I am.")
    hear(order, "thank you")
    since = talk(order).waiting_since
    hear(order, "and one more thing")
    assert since is not None
    assert talk(order).waiting_since == since
    assert bool(told(order, "conversation")[-1]["waiting_since"])


def test_taken_over_unasked_the_customer_waits_since_their_unanswered_words(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert talk(order).waiting_since == talk(order).messages.get().created_at


ENDS = {
    people.give_back: "The assistant answers you again. You can ask for a person at any time.",
    people.close: "A colleague has closed this conversation. If you write again, a new one begins.",
}


@pytest.mark.parametrize("do", ENDS, ids=lambda do: do.__name__)
def test_given_back_or_closed_nobody_waits_for_a_person_and_who_waited_reads_it(order: Order, do: Any) -> None:
    order.customer.email = "ming@example.com"
    order.customer.save()
    wants_a_person(order)
    people.take_over(conversation=talk(order), actor=cast.staff())
    do(conversation=talk(order), actor=cast.staff())
    assert (talk(order).waiting_since, talk(order).needs_person) == (None, False)
    assert texts(order, Author.SYSTEM)[-1] == ENDS[do]
    CustomerMail.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    assert mails.send_due() == 1
    assert ENDS[do] in post.outbox[0].body


@pytest.mark.parametrize("do", ENDS, ids=lambda do: do.__name__)
def test_given_back_or_closed_after_an_answer_nothing_is_said(order: Order, do: Any) -> None:
    people.reply(conversation=talk(order), actor=cast.staff(), text="Here I am.")
    do(conversation=talk(order), actor=cast.staff())
    assert texts(order, Author.SYSTEM) == []


def test_who_is_closed_while_waiting_reads_it_in_their_own_language(order: Order) -> None:
    hear(order, "我想找真人", language="zh-hant")
    wants_a_person(order)
    people.close(conversation=talk(order), actor=cast.staff())
    with translation.override("zh-hant"):
        assert texts(order, Author.SYSTEM)[-1] == waiting.conversation_is_closed() != ENDS[people.close]


def test_the_database_knows_nobody_who_needs_a_person_and_does_not_wait(order: Order) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Conversation.objects.update(needs_person=True)


def test_the_answer_says_how_long_it_was_waited_for(order: Order) -> None:
    wants_a_person(order)
    waits_since(order, 7)
    for text in ("Here I am.", "And one more thing."):
        people.reply(conversation=talk(order), actor=cast.staff(), text=text)
    answers = AuditEvent.objects.filter(action="conversation.answered").order_by("pk").values_list("outcome", flat=True)
    assert [outcome.get("waited_seconds") for outcome in answers] == [420, None]


def test_the_customer_reads_since_when_and_behind_how_many_they_wait(order: Order) -> None:
    for number, minutes in (("A1", 30), ("A2", 20), ("A3", 5)):
        other = cast.place(number)
        hear(other)
        wants_a_person(other)
        waits_since(other, minutes)
    assert said_of_wait(order) == ""
    wants_a_person(order)
    since = timezone.localtime(waits_since(order, 10))
    assert f"{since:%H:%M}." in said_of_wait(order)
    assert "2 other customers are before you." in said_of_wait(order)
    people.take_over(conversation=talk(Order.objects.get(number="A1")), actor=cast.staff())
    assert "1 other customer is before you." in said_of_wait(order)
    people.take_over(conversation=talk(order), actor=cast.staff("supervisor"))
    assert "before you" not in said_of_wait(order)


def answered_after(order: Order, minutes: int) -> None:
    waits_since(order, minutes)
    people.reply(conversation=talk(order), actor=cast.staff(), text="Yes?")


def test_how_long_it_usually_takes_is_said_once_enough_is_known(order: Order) -> None:
    for minutes in (2, 60):
        answered_after(order, minutes)
    hear(order, "hello?")
    assert "Lately" not in said_of_wait(order)
    answered_after(order, 6)
    hear(order, "hello?")
    assert "about 6 minutes" in said_of_wait(order)


def test_waits_that_began_at_night_say_nothing_about_the_day(order: Order, settings: Settings) -> None:
    for _ in range(3):
        answered_after(order, 6)
    nobody_is_there(settings)
    assert waiting.usual_wait() is None


def test_outside_the_hours_the_customer_reads_when_people_are_there_again(order: Order, settings: Settings) -> None:
    nobody_is_there(settings)
    wants_a_person(order)
    day = timezone.localdate() + timedelta(days=2)
    when = f"{day:%A}, {day:%B} {day.day}, 09:00"
    assert when in texts(order, Author.SYSTEM)[-1]
    assert when in said_of_wait(order)
    assert "before you" not in said_of_wait(order)
    settings.OFFICE_HOURS = []
    assert "again" not in said_of_wait(order)


def test_who_has_an_address_reads_that_they_will_get_mail(order: Order) -> None:
    wants_a_person(order)
    order.customer.email = "ming@example.com"
    order.customer.save()
    assert "e-mail" in said_of_wait(order)
    order.customer.email = ""
    order.customer.save()
    assert "e-mail" not in said_of_wait(order)


def test_outside_the_hours_the_agent_is_told_so_that_it_promises_nothing(order: Order, settings: Settings) -> None:
    nobody_is_there(settings)
    lease = hold(order)
    (made,) = asked(order, call("hand_off_to_human", reason="complaint", summary="Angry."))
    executor.run_call(lease, made.pk)
    assert "09:00" in results(order)[-1]["message"]


def test_whoever_has_waited_longest_stands_first_in_the_queue(order: Order) -> None:
    answered, newer = cast.place("B1"), cast.place("B2")
    for each in (answered, newer):
        hear(each)
        wants_a_person(each)
    people.reply(conversation=talk(answered), actor=cast.staff(), text="Done.")
    wants_a_person(order)
    waits_since(order, 30)
    assert [row.order.number for row in selectors.queue("needs_person")] == ["5531", "B2"]
    assert [row.order.number for row in selectors.queue("waiting")] == ["B1"]


# --- what the colleague is told ---
def test_without_words_of_a_model_the_summary_is_made_from_rows(order: Order) -> None:
    quote = quoted(order)
    hear(order, "a person please")
    wants_a_person(order)
    summary = talk(order).hand_off_summary
    assert "my earphones are broken；a person please" in summary
    for known in (quote.pk, "NT$230", "耳機殼 × 1"):
        assert known in summary
    event = AuditEvent.objects.get(action="conversation.person_asked")
    assert event.chosen == {"reason": "customer_asked", "summary": summary}


def test_a_long_message_does_not_fill_the_summary(order: Order) -> None:
    hear(order, "x" * 1000)
    wants_a_person(order)
    assert "x" * 160 + "…" in talk(order).hand_off_summary
    assert "x" * 161 not in talk(order).hand_off_summary


def test_where_the_database_is_lost_meanwhile_nothing_is_kept_and_whoever_tries_again_has_a_summary(
    order: Order,
) -> None:
    def lost(execute: Any, sql: str, *more: Any) -> Any:
        if "refunds_refundquote" in sql:
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, *more)

    with connection.execute_wrapper(lost), pytest.raises(OperationalError):
        wants_a_person(order)
    assert not talk(order).needs_person
    wants_a_person(order)
    assert talk(order).hand_off_summary


def test_what_the_agent_wrote_stays_until_somebody_writes_something_else(order: Order) -> None:
    agent = system_actor("agent")
    for summary in ("Wants money back.", "  "):
        people.ask_for_person(conversation=talk(order), actor=agent, reason="complaint", summary=summary)
    assert talk(order).hand_off_summary == "Wants money back."
    assert talk(order).hand_off_reason == "complaint"


# --- no ball thrown back and forth ---
def test_given_back_the_agent_cannot_ask_for_a_person_again_before_something_is_new(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    people.give_back(conversation=talk(order), actor=cast.staff())
    lease = hold(order)
    (first,) = asked(order, call("hand_off_to_human", reason="cannot_help", summary="No idea."))
    executor.run_call(lease, first.pk)
    assert results(order)[-1]["code"] == "just_given_back"
    assert not talk(order).needs_person
    hear(order, "something else is broken too")
    (second,) = asked(order, call("hand_off_to_human", reason="cannot_help", summary="No idea."))
    executor.run_call(lease, second.pk)
    assert talk(order).needs_person


def test_given_back_the_customers_own_wish_for_a_person_still_counts(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    people.give_back(conversation=talk(order), actor=cast.staff())
    lease = hold(order)
    (made,) = asked(order, call("hand_off_to_human", reason="customer_asked", summary="Wants a person."))
    executor.run_call(lease, made.pk)
    assert talk(order).needs_person


def test_the_model_reads_that_it_has_the_conversation_again_and_the_page_does_not(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    people.give_back(conversation=talk(order), actor=cast.staff())
    note = talk(order).messages.get(author=Author.SYSTEM, content__0__about="this conversation")
    assert note.text == people.GIVEN_BACK_NOTE
    assert people.GIVEN_BACK_NOTE not in texts(order, Author.SYSTEM)


def test_what_the_agent_may_not_answer_any_more_is_not_given_back_to_it(order: Order, settings: Settings) -> None:
    settings.AGENT_MAX_TURNS_PER_CONVERSATION = 1
    lease = hold(order)
    with turns.holding(lease) as (conversation, turn):
        turns.move(conversation, turn, TurnState.RUNNING, TurnState.DONE, steps=1)
    assert limits.conversation_is_full(talk(order))
    people.take_over(conversation=talk(order), actor=cast.staff())
    with pytest.raises(Refusal) as refused:
        people.give_back(conversation=talk(order), actor=cast.staff())
    assert refused.value.code == "assistant_at_its_limit"
    assert talk(order).owner == cast.staff_user()
    assert newest_turn(order).state == TurnState.DONE


def test_on_a_closed_day_the_words_say_when_people_are_here_again(order: Order, settings: Settings) -> None:
    today = timezone.localdate()
    settings.CLOSED_DAYS = frozenset([today, today + timedelta(days=1)])
    wants_a_person(order)
    again = today + timedelta(days=2)
    with translation.override("en"):
        when = f"{formats.date_format(again, 'l')}, {formats.date_format(again, 'MONTH_DAY_FORMAT')}, 00:00"
    assert f"They are here again on {when} and will answer here." in texts(order, Author.SYSTEM)[-1]
    assert f"Our colleagues are here again on {when}." in said_of_wait(order)


def test_where_no_day_is_left_to_open_the_words_name_none(settings: Settings) -> None:
    settings.CLOSED_DAYS = frozenset((month, day) for month in range(1, 13) for day in range(1, 32))
    with translation.override("en"):
        assert waiting.opening_words() == "another day"


def plans(queries: CaptureQueriesContext) -> str:
    """How the database would go about these statements if its tables were too long to be read."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        found = []
        for each in list(queries):
            cursor.execute(f"EXPLAIN {each['sql']}")
            found += [row[0] for row in cursor.fetchall()]
    return "\n".join(found)


def test_how_long_it_usually_takes_is_read_from_the_answers_alone(order: Order) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO orders_auditevent (at, action, actor_kind, actor_name, subject_type, subject_id, chosen, "
            "computed, outcome, correlation) SELECT now(), 'turn.done', 'system', 'agent', 'turn', '0', '{}', '{}', "
            "'{}', '{}' FROM generate_series(1, 2000)"
        )
        cursor.execute("ANALYZE orders_auditevent")
    with CaptureQueriesContext(connection) as queries:
        waiting.usual_wait()
    assert "answers_by_time" in plans(queries)


# --- called by the desk alone ---
def money_was_refused(order: Order) -> None:
    people.ask_for_person(conversation=talk(order), actor=system_actor("payments"), reason="refund_failed", summary="x")


def test_who_asked_nothing_waits_for_no_answer_once_somebody_has_their_refused_refund() -> None:
    order = cast.order_5531()
    Conversation.objects.create(order=order, customer=order.customer, language="en")
    money_was_refused(order)
    assert list(selectors.queue("needs_person")) == [talk(order)]
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert (talk(order).owner, talk(order).waiting_since) == (cast.staff().user, None)
    assert not selectors.queue("needs_person").exists()
    assert said_of_wait(order) == ""
    # Whoever has it may still be asked for; what they then have is no message.
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    assert talk(order).waiting_since is not None


def test_who_has_asked_whoever_had_it_waits_on_when_another_colleague_takes_it_from_them() -> None:
    order = cast.order_5531()
    Conversation.objects.create(order=order, customer=order.customer, language="en")
    money_was_refused(order)
    people.take_over(conversation=talk(order), actor=cast.staff())
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    since = talk(order).waiting_since
    assert since is not None
    people.take_over(conversation=talk(order), actor=cast.staff("supervisor"), taken_from=cast.staff_user().pk)
    assert talk(order).waiting_since == since


@pytest.mark.parametrize("also", ["wrote", "asked"])
def test_who_wrote_or_asked_as_well_goes_on_waiting(order: Order, also: str) -> None:
    if also == "asked":
        people.reply(conversation=talk(order), actor=cast.staff(), text="Here I am.")
        people.give_back(conversation=talk(order), actor=cast.staff())
        wants_a_person(order)
    money_was_refused(order)
    since = talk(order).waiting_since
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert since is not None
    assert talk(order).waiting_since == since
