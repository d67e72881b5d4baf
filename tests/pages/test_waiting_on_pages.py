"""What pages say about waiting for a person, and the button that is always there."""

import re
from datetime import time, timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from agent import events, people, turns
from agent.models import Conversation
from agent.states import TurnState
from agent.tests.helpers import newest_turn, talk
from orders.tests import cast
from tests.pages.visiting import quoted, said, signed_in, text_of

pytestmark = pytest.mark.django_db
BUTTON = 'action="/orders/5531/chat/person/" data-form="person"'
SHOWN = 'data-slot="person" data-again="/orders/5531/chat/waiting/" >'


def order_page() -> str:
    return text_of(signed_in("ming", language="en").get("/orders/5531/"))


def closed_in(days: int, settings: Settings) -> str:
    """Nobody is there before that day at nine; how the page names it."""
    day = timezone.localdate() + timedelta(days=days)
    settings.OFFICE_HOURS = [(day.weekday(), time(9), time(18))]
    return f"{day:%A}, {day:%B} {day.day}, 09:00"


def test_a_person_can_be_asked_for_before_anything_is_said_and_after_everything_is_over() -> None:
    cast.order_5531()
    assert BUTTON in order_page()
    signed_in("ming").post("/orders/5531/chat/person/")
    conversation = Conversation.objects.get()
    assert conversation.needs_person
    assert BUTTON in order_page()
    people.close(conversation=conversation, actor=cast.staff())
    assert BUTTON in order_page()
    signed_in("ming").post("/orders/5531/chat/person/")
    assert Conversation.objects.filter(needs_person=True, state="open").count() == 1


def test_the_button_is_there_while_a_turn_has_failed_and_while_a_person_answers() -> None:
    order = cast.order_5531()
    conversation = said(order)
    turn = newest_turn(order)
    with events.writing(conversation.pk) as locked:
        turns.move(locked, turn, TurnState.QUEUED, TurnState.RUNNING)
        turns.move(locked, turn, TurnState.RUNNING, TurnState.FAILED)
    assert order_page().count(BUTTON) == 2
    people.take_over(conversation=conversation, actor=cast.staff())
    assert BUTTON in order_page()


def test_who_wrote_nothing_does_not_read_that_their_message_was_received() -> None:
    order = cast.order_5531()
    Conversation.objects.create(order=order, customer=order.customer, language="en")
    people.take_over(conversation=talk(order), actor=cast.staff())
    signed_in("ming").post("/orders/5531/chat/person/")
    name = cast.staff().name
    assert f"{name} has this conversation and will answer here." in order_page()
    assert "has your message" not in order_page()
    said(order, "my earphones are broken", language="en")
    assert f"{name} has your message and will answer here." in order_page()


def test_the_customer_reads_since_when_they_wait_and_the_part_can_be_fetched_again() -> None:
    conversation = said(cast.order_5531(), language="en")
    assert SHOWN not in order_page()
    people.customer_asks_for_person(conversation=conversation, actor=cast.shopper())
    since = timezone.localtime(talk(conversation.order).waiting_since)
    part = text_of(signed_in("ming", language="en").get("/orders/5531/chat/waiting/"))
    for page in (order_page(), part):
        assert f"You have been waiting since {since:%H:%M}." in page
        assert "Nobody is before you." in page
    assert SHOWN in order_page()
    assert "It is within our office hours" in order_page()
    people.reply(conversation=conversation, actor=cast.staff(), text="Here I am.")
    assert SHOWN not in order_page()


def test_outside_the_hours_the_customer_and_staff_read_when_people_are_there_again(settings: Settings) -> None:
    conversation = said(cast.order_5531())
    when = closed_in(2, settings)
    people.customer_asks_for_person(conversation=conversation, actor=cast.shopper())
    page = order_page()
    assert f"Colleagues are here again on {when}" in page
    assert f"Our colleagues are here again on {when}." in page
    assert when in text_of(signed_in("staff", language="en").get("/staff/"))


@pytest.mark.parametrize("path", ["/orders/5531/chat/waiting/"])
def test_nobody_else_reads_how_long_somebody_waits(path: str) -> None:
    said(cast.order_5531())
    cast.customer_user("ming2")
    assert signed_in("ming2").get(path).status_code == 404


def test_staff_read_why_a_person_is_needed_since_when_and_what_the_records_say() -> None:
    order = cast.order_5531()
    conversation = said(order, "耳機沒聲音")
    quote = quoted(order)
    type(quote).objects.filter(pk=quote.pk).update(conversation_ref=str(conversation.pk))
    people.customer_asks_for_person(conversation=conversation, actor=cast.shopper())
    Conversation.objects.update(waiting_since=timezone.now() - timedelta(minutes=12, seconds=5))
    staff = signed_in("staff", language="en")
    page = text_of(staff.get(f"/staff/conversations/{conversation.pk}/"))
    assert "The customer asked for a person." in page
    assert "has waited for 12\xa0minutes" in page
    assert "What the records say" in page
    assert quote.pk in page
    assert "has waited for 12\xa0minutes" in text_of(staff.get("/staff/"))


def test_the_log_that_is_fetched_again_brings_along_who_answers() -> None:
    conversation = said(cast.order_5531())
    people.take_over(conversation=conversation, actor=cast.staff("supervisor"))
    page = text_of(signed_in("staff").get(f"/staff/conversations/{conversation.pk}/log/"))
    for part in ("who", "about", "answer", "here", "assign", "talk-order", "talk-offer", "seen"):
        assert re.search(rf'<\w+ [^>]*id="{part}"[^>]* hx-swap-oob="true"', page), part
    assert "supervisor" in page
