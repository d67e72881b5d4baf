"""Whoever asks, writes or is served by a person reads what comes of it, on the page or by e-mail."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core import mail as post
from django.utils import timezone

from agent import mails, offers, people, waiting
from agent.models import Card
from agent.states import Author, CardKind, MailKind
from agent.tests.helpers import CASE, SAME_AGAIN, hear, talk, texts
from agent.tests.mail_due import only_mail, reachable_order, time_passes
from orders.actors import system_actor
from orders.models import AuditEvent, Order
from orders.tests import cast
from refunds import quotes

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    return reachable_order()


def money_was_refused(order: Order) -> None:
    payments = system_actor("payments")
    people.ask_for_person(
        conversation=talk(order), actor=payments, reason=waiting.REFUND_FAILED, summary="Refund refused."
    )


def wants_a_person(order: Order) -> None:
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())


def answered_and_given_back(order: Order) -> None:
    people.reply(conversation=talk(order), actor=cast.staff(), text="Here I am.")
    people.give_back(conversation=talk(order), actor=cast.staff())
    talk(order).mails.all().delete()


# --- the customer's own press, where the desk had called somebody before ---
def test_a_press_after_a_refused_refund_is_told_and_kept(order: Order) -> None:
    answered_and_given_back(order)
    money_was_refused(order)
    lines = len(texts(order, Author.SYSTEM))
    wants_a_person(order)
    assert texts(order, Author.SYSTEM)[lines:] == ["We have asked a colleague to join. They will answer here."]
    asked = AuditEvent.objects.filter(action=waiting.ASKED).order_by("pk")
    assert [event.chosen["reason"] for event in asked] == [waiting.REFUND_FAILED, "customer_asked"]
    assert (talk(order).hand_off_reason, talk(order).hand_off_summary) == ("customer_asked", "Refund refused.")
    wants_a_person(order)
    assert len(texts(order, Author.SYSTEM)) == lines + 1


def test_who_pressed_after_a_refused_refund_waits_and_is_told_when_nobody_answers(order: Order) -> None:
    answered_and_given_back(order)
    money_was_refused(order)
    wants_a_person(order)
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert talk(order).waiting_since is not None
    people.close(conversation=talk(order), actor=cast.staff())
    assert texts(order, Author.SYSTEM)[-1].startswith("A colleague has closed this conversation.")
    assert only_mail().kind == MailKind.WAIT_OVER


# --- closed before anybody answered ---
def test_who_has_just_written_is_told_that_nobody_will_answer(order: Order) -> None:
    people.close(conversation=talk(order), actor=cast.staff())
    said = "A colleague has closed this conversation. If you write again, a new one begins."
    assert texts(order, Author.SYSTEM) == [said]
    assert (only_mail().kind, only_mail().text) == (MailKind.WAIT_OVER, said)


def test_who_was_answered_is_told_nothing_when_it_is_closed(order: Order) -> None:
    answered_and_given_back(order)
    people.close(conversation=talk(order), actor=cast.staff())
    assert texts(order, Author.SYSTEM) == []
    assert not talk(order).mails.exists()


# --- answered by a card ---
def offers_a_quote(order: Order) -> Card:
    choices = quotes.parse_choices({"lines": [CASE]})
    quote = offers.preview(conversation=talk(order), actor=cast.staff(), choices=choices, form="form")
    return offers.offer(conversation=talk(order), actor=cast.staff(), quote_id=quote.pk)


def offers_an_exchange(order: Order) -> Card:
    return offers.put_up(conversation=talk(order), actor=cast.staff(), kind=CardKind.EXCHANGE, asked=[SAME_AGAIN])


BY_CARD = pytest.mark.parametrize("answers", [offers_a_quote, offers_an_exchange])


@BY_CARD
def test_a_card_from_a_colleague_ends_the_wait(order: Order, answers: Callable[[Order], Card]) -> None:
    wants_a_person(order)
    card = answers(order)
    assert talk(order).waiting_since is None
    event = AuditEvent.objects.get(action="card.offered", subject_id=card.pk)
    assert event.outcome["waited_seconds"] >= 0
    people.take_over(conversation=talk(order), actor=cast.staff("supervisor"), taken_from=cast.staff_user().pk)
    people.close(conversation=talk(order), actor=cast.staff("supervisor"))
    assert "closed" not in texts(order, Author.SYSTEM)[-1]


def test_who_writes_again_after_the_card_waits_again(order: Order) -> None:
    offers_a_quote(order)
    hear(order, "and the earphones?")
    assert talk(order).waiting_since is not None


@BY_CARD
def test_who_has_left_is_told_of_the_card_by_mail_at_once(order: Order, answers: Callable[[Order], Card]) -> None:
    answers(order)
    told = talk(order).mails.get(kind=MailKind.ANSWERED)
    assert told.not_before < timezone.now() + timedelta(minutes=5)
    time_passes()
    assert mails.send_due() >= 1
    assert "A colleague has answered you" in " ".join(str(letter.subject) for letter in post.outbox)
