"""What is said and done while the model is talking: no word is lost, and nobody is talked over."""

from collections.abc import Generator

import pytest
from pytest_django import Settings

from agent import people, turns
from agent.models import Conversation, ToolCall, Turn
from agent.offline.control import Control
from agent.offline.server import OfflineModel
from agent.states import CardState, ConversationState, TurnState
from agent.tests.helpers import (
    asked,
    call,
    ephemeral,
    hear,
    hold,
    last_request,
    newest_turn,
    quoted,
    refused_requests,
    reply,
    results,
    talk,
    texts,
    told,
    until,
    work,
    working,
)
from orders.models import Order
from orders.tests import cast
from refunds.models import RefundQuote

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model(model: Control, stand_in: OfflineModel) -> Generator[Control]:
    """A model that thinks for a moment before it speaks."""
    stand_in.stand_in.first_token_ms = 150
    yield model
    stand_in.stand_in.first_token_ms = 0


@pytest.fixture
def order(model: Control, transactional_db: None) -> Order:
    order = cast.order_5531()
    hear(order, "first")
    return order


def test_what_is_written_while_a_reply_is_made_is_answered_too(model: Control, order: Order) -> None:
    model.script([reply("To the first."), reply("To the second.")])
    with working(order, model):
        hear(order, "second")
    assert texts(order) == ["To the first.", "To the second."]
    assert newest_turn(order).state == TurnState.DONE
    said = [(each["role"], each["content"][0]["text"]) for each in last_request(model)]
    assert said == [("user", "first"), ("assistant", "To the first."), ("user", "second")]


@pytest.mark.parametrize(("stop_reason", "cut"), [("max_tokens", ["To the first, but"]), ("refusal", [])])
def test_what_is_written_while_a_reply_is_cut_is_answered_by_another_turn(
    model: Control, order: Order, stop_reason: str, cut: list[str]
) -> None:
    model.script([reply("To the first, but", stop_reason=stop_reason), reply("To the second.")])
    with working(order, model):
        hear(order, "second")
    failed, fresh = Turn.objects.order_by("pk")
    assert (failed.state, failed.error, fresh.state) == (TurnState.FAILED, stop_reason, TurnState.QUEUED)
    assert work(order) == fresh
    assert newest_turn(order).state == TurnState.DONE
    assert texts(order) == [*cut, "To the second."]


def test_what_is_written_while_a_card_is_about_to_open_declines_it(model: Control, order: Order) -> None:
    quote = quoted(order)
    model.script([reply("Please confirm.", call("refund_items", quote_id=quote.pk)), reply("I see.")])
    with working(order, model):
        hear(order, "stop, I keep it")
    assert newest_turn(order).state == TurnState.DONE
    assert RefundQuote.objects.get().state == "declined"
    assert [card["state"] for card in told(order, "card")] == [CardState.OPEN, CardState.DECLINED]
    assert "Nobody pressed a button: the customer wrote before" in results(order)[-1]["because"]
    assert texts(order)[-1] == "I see."
    assert last_request(model)[-1]["content"][-1]["text"] == "stop, I keep it"
    assert refused_requests(model) == []


def test_once_a_person_has_taken_over_a_running_turn_publishes_nothing(model: Control, order: Order) -> None:
    model.script([reply("The agent talks over the person.", call("get_order"))])
    with working(order, model):
        people.take_over(conversation=talk(order), actor=cast.staff())
    assert texts(order) == []
    assert not ToolCall.objects.exists()
    assert newest_turn(order).state == TurnState.DONE
    drafts = {piece["draft"] for piece in ephemeral(order, "delta")}
    assert drafts == {dropped["draft"] for dropped in ephemeral(order, "draft_dropped")}


def test_a_long_reply_is_broken_off_soon_after_a_person_has_taken_over(
    model: Control, order: Order, settings: Settings, stand_in: OfflineModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AGENT_LEASE_SECONDS = 1
    monkeypatch.setattr(turns, "keeper", turns.Keeper())
    monkeypatch.setattr(stand_in.stand_in, "tokens_per_second", 20)
    whole = "word " * 200
    model.script([reply(whole)])
    with working(order, model):
        assert until(lambda: bool(ephemeral(order, "delta")))
        people.take_over(conversation=talk(order), actor=cast.staff())
    assert texts(order) == []
    assert len("".join(piece["text"] for piece in ephemeral(order, "delta"))) < len(whole) / 2
    assert len(ephemeral(order, "draft_dropped")) == 1


def test_a_conversation_closed_in_mid_turn_stays_silent(model: Control, order: Order) -> None:
    model.script([reply("Too late.")])
    with working(order, model):
        people.close(conversation=talk(order), actor=cast.staff())
    assert texts(order) == []
    assert newest_turn(order).state == TurnState.DONE


def test_a_person_takes_over_while_a_job_is_queued_and_the_agent_stays_silent(model: Control, order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    work(order)
    assert model.requests() == []


def test_even_a_turn_that_nobody_ended_publishes_nothing_where_a_person_owns_the_conversation(
    model: Control, order: Order
) -> None:
    model.script([reply("The agent talks over the person.", call("get_order"))])
    with working(order, model):
        Conversation.objects.update(owner=cast.staff_user())
    assert texts(order) == []
    assert not ToolCall.objects.exists()
    assert newest_turn(order).state == TurnState.DONE
    hear(order, "more")
    talk(order).turns.filter(pk=newest_turn(order).pk).update(state=TurnState.QUEUED)
    assert work(order).state == TurnState.DONE
    assert len(model.requests()) == 1


def test_giving_back_lets_the_agent_answer_what_the_customer_said_meanwhile(model: Control, order: Order) -> None:
    people.reply(conversation=talk(order), actor=cast.staff(), text="A person here.")
    hear(order, "thank you, and the case?")
    people.give_back(conversation=talk(order), actor=cast.staff())
    model.script([reply("The case is not packed.")])
    assert work(order).state == TurnState.DONE
    assert "<from_staff>A person here.</from_staff>" in str(last_request(model))


def test_giving_back_after_the_last_word_was_a_persons_starts_nothing(model: Control, order: Order) -> None:
    people.reply(conversation=talk(order), actor=cast.staff(), text="A person here.")
    people.give_back(conversation=talk(order), actor=cast.staff())
    assert newest_turn(order).state == TurnState.DONE


def test_taken_over_and_given_back_without_a_word_the_customer_is_still_answered(model: Control, order: Order) -> None:
    """A person opens the conversation by mistake, in the moment between a reply and its tools."""
    hold(order)
    asked(order, call("get_order"), text="I look.")

    people.take_over(conversation=talk(order), actor=cast.staff())
    people.give_back(conversation=talk(order), actor=cast.staff())

    assert [result["code"] for result in results(order)] == ["no_answer"]
    assert told(order, "work")[-1]["state"] == "failed"
    model.script([reply("Here I am again.")])
    assert work(order).state == TurnState.DONE
    assert texts(order)[-1] == "Here I am again."
    assert refused_requests(model) == []


def test_a_card_stays_with_the_customer_when_a_person_takes_over(model: Control, order: Order) -> None:
    quote = quoted(order)
    model.script([reply("Please confirm.", call("refund_items", quote_id=quote.pk))])
    assert work(order).state == TurnState.WAITING
    people.take_over(conversation=talk(order), actor=cast.staff())
    assert newest_turn(order).state == TurnState.WAITING
    assert told(order, "card")[-1]["state"] == CardState.OPEN


def test_closing_withdraws_cards_and_their_quotes_and_ends_the_turn(model: Control, order: Order) -> None:
    quote = quoted(order)
    model.script([reply("Please confirm.", call("refund_items", quote_id=quote.pk))])
    work(order)
    people.close(conversation=talk(order), actor=cast.staff())
    assert told(order, "card")[-1]["state"] == CardState.WITHDRAWN
    assert RefundQuote.objects.get().state == "declined"
    assert newest_turn(order).state == TurnState.DONE
    assert talk(order).state == ConversationState.CLOSED
