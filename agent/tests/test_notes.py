"""Words for colleagues: kept once, read by staff, and never by the customer or the model."""

import json

import pytest

from agent import events, notes, people
from agent.models import ConversationEvent, Message, StaffNote
from agent.offline.control import Control
from agent.tests.helpers import ephemeral, hear, talk, work
from agent.tests.open_pages import open_page, run
from orders.actors import NotAllowed
from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "He is the mayor's brother."


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def note(order: Order, text: str = SECRET, ref: str | None = None) -> StaffNote:
    return notes.write(conversation=talk(order), actor=cast.staff(), text=text, client_ref=ref)


def test_a_note_is_kept_with_who_wrote_it_and_the_history_knows(order: Order) -> None:
    kept = note(order)
    assert (kept.staff, kept.text) == (cast.staff_user(), SECRET)
    event = AuditEvent.objects.get(action="conversation.noted")
    assert event.chosen == {"note": kept.pk, "text": SECRET}
    assert talk(order).owner is None


def test_a_note_that_is_sent_twice_is_kept_once_and_other_words_are_not_lost(order: Order) -> None:
    assert note(order, ref="a") == note(order, ref="a")
    with pytest.raises(Refusal):
        note(order, "Something else.", ref="a")
    assert StaffNote.objects.count() == 1


def test_a_closed_conversation_can_be_noted_on(order: Order) -> None:
    people.close(conversation=talk(order), actor=cast.staff())
    note(order)
    assert StaffNote.objects.count() == 1


@pytest.mark.parametrize("text", ["", " ", "x" * 2001, "a\x00b"])
def test_a_note_that_cannot_be_shown_is_refused(order: Order, text: str) -> None:
    with pytest.raises(InvalidInput):
        note(order, text)


@pytest.mark.parametrize("role", ["warehouse", "auditor"])
def test_only_who_may_answer_writes_notes(order: Order, role: str) -> None:
    with pytest.raises(NotAllowed):
        notes.write(conversation=talk(order), actor=cast.staff(role), text=SECRET)


def test_no_request_to_the_model_has_a_note_in_it(order: Order, model: Control) -> None:
    note(order)
    work(order)
    people.take_over(conversation=talk(order), actor=cast.staff())
    note(order, f"{SECRET} Again.")
    hear(order, "hello?")
    people.give_back(conversation=talk(order), actor=cast.staff())
    work(order)
    asked = model.requests()
    assert len(asked) >= 2
    assert "mayor" not in json.dumps([entry["body"] for entry in asked])


@pytest.mark.usefixtures("quick_looks")
def test_neither_the_customers_stream_nor_any_event_has_a_note_in_it(order: Order) -> None:
    async def scene() -> None:
        async with open_page(order) as page:
            await page.pinged(2)
        assert "mayor" not in json.dumps(page.frames)

    note(order)
    run(scene)
    assert "mayor" not in json.dumps(list(ConversationEvent.objects.values_list("data", flat=True)))
    assert "mayor" not in json.dumps(list(Message.objects.values_list("content", flat=True)))
    assert "mayor" not in str(events.carrier().xrange(events.TOLD_KEY))
    assert ephemeral(order, "note") == []
