"""A reply that claims what no record bears out is not kept: it is taken back on the page, put right, and said anew."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from agent import asking, people, turns
from agent.farewells import fail
from agent.models import Conversation, Message, ModelCall, ToolCall, Turn
from agent.offline.control import Control
from agent.offline.server import OfflineModel
from agent.states import Author, TurnState
from agent.tests.helpers import (
    asked,
    call,
    ephemeral,
    hear,
    hold,
    last_request,
    press,
    quoted,
    refused_requests,
    reply,
    results,
    talk,
    texts,
    told,
    work,
    working,
)
from orders import audit
from orders.models import AuditEvent, Order
from orders.tests import cast
from refunds import redeem
from refunds.models import Approval, Refund
from refunds.states import RefundState

pytestmark = pytest.mark.django_db(transaction=True)
FALSE = "I have refunded NT$230 to your card."
HONEST = "Nothing has been refunded yet. Shall I work it out for you?"


@pytest.fixture
def order(model: Control) -> Order:
    order = cast.order_5531()
    hear(order, "Where is my money?")
    return order


def endings(order: Order) -> list[str]:
    return list(ModelCall.objects.filter(conversation__order=order).order_by("pk").values_list("ending", flat=True))


def refunded(order: Order, state: RefundState) -> Refund:
    """The case is cancelled by the customer's own press, and its refund has come to this."""
    redeem.redeem(quote_id=quoted(order).pk, actor=cast.shopper())
    Refund.objects.update(state=state)
    return Refund.objects.get()


def test_a_refund_that_was_not_made_is_taken_back_and_the_model_says_it_anew(model: Control, order: Order) -> None:
    model.script([reply(FALSE), reply(HONEST)])

    assert work(order).state == TurnState.DONE

    assert texts(order) == [HONEST]
    assert not Message.objects.filter(content__0__text=FALSE).exists()
    assert len(ephemeral(order, "draft_dropped")) == 1
    (line,) = texts(order, Author.SYSTEM)
    assert "taken back" in line
    assert "Nothing has been refunded for this order." in line
    assert refused_requests(model) == []


def test_what_no_page_has_shown_is_not_taken_back_on_the_page(model: Control, order: Order, settings: Settings) -> None:
    model.script([reply(FALSE), reply(HONEST)])
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert work(order).state == TurnState.DONE
    assert (endings(order)[0], texts(order), texts(order, Author.SYSTEM)) == ("false_claim", [HONEST], [])
    assert "no record says so" in str(last_request(model)[-1]["content"])


def test_the_model_reads_which_words_were_wrong_and_what_is_so(model: Control, order: Order) -> None:
    model.script([reply(FALSE), reply(HONEST)])
    work(order)
    told_to_it = last_request(model)[-1]["content"][-1]["text"]
    assert told_to_it.startswith("<from_system>your last reply is now taken back")
    assert "refunded nt$230" in told_to_it
    assert "Nothing has been refunded for this order." in told_to_it


def test_what_was_sent_before_stays_as_it_was(model: Control, order: Order) -> None:
    model.script([reply(FALSE), reply(HONEST), reply("You are welcome.")])
    work(order)
    before = last_request(model)
    hear(order, "Thank you")
    work(order)
    assert last_request(model)[: len(before)] == before


def test_the_words_taken_back_stay_with_their_request_and_in_the_history(model: Control, order: Order) -> None:
    model.script([reply(FALSE), reply(HONEST)])
    work(order)
    assert endings(order) == ["false_claim", "end_turn"]
    assert ModelCall.objects.get(ending="false_claim").dropped_text == FALSE
    kept = AuditEvent.objects.get(action="conversation.claim_taken_back")
    assert kept.chosen["text"] == FALSE
    assert kept.outcome["claims"][0]["kind"] == "refund"


def test_a_second_false_claim_ends_the_turn_in_words_and_a_person_is_asked(model: Control, order: Order) -> None:
    model.script([reply(FALSE), reply("Your refund has been paid."), reply(HONEST)])

    turn = work(order)

    assert (turn.state, turn.error) == (TurnState.FAILED, "false_claim")
    assert texts(order) == []
    assert talk(order).needs_person
    assert "We have asked a colleague to join." in texts(order, Author.SYSTEM)[-1]
    assert len(model.requests()) == 2


def test_calls_beside_a_false_claim_are_not_run(model: Control, order: Order) -> None:
    quote = quoted(order)
    model.script([reply("I have cancelled the case and refunded it.", call("refund_items", quote_id=quote.pk))])
    model.script([reply("Please confirm with the button.", call("refund_items", quote_id=quote.pk))])

    assert work(order).state == TurnState.WAITING

    assert ToolCall.objects.count() == 1
    assert talk(order).cards.count() == 1
    assert refused_requests(model) == []


def test_a_refund_that_is_on_its_way_may_be_told_and_one_that_has_arrived_may_not(model: Control, order: Order) -> None:
    refunded(order, RefundState.PENDING)
    model.script([reply("NT$230 is on its way to your card.")])
    work(order)
    assert endings(order) == ["end_turn"]

    hear(order, "So it is there?")
    model.script([reply("Yes. NT$230 has been refunded to your card."), reply("It is on its way.")])
    work(order)
    assert endings(order)[1:] == ["false_claim", "end_turn"]


@pytest.mark.parametrize(
    ("state", "said", "caught"),
    [
        (RefundState.SUCCEEDED, "NT$230 has been refunded to your card.", False),
        (RefundState.SUCCEEDED, "NT$1,430 has been refunded to your card.", True),
        (RefundState.UNKNOWN, "Your refund has been submitted.", False),
        (RefundState.UNKNOWN, "NT$230 is on its way to your card.", True),
        (RefundState.PENDING_APPROVAL, "NT$230 is on its way to your card.", True),
        (RefundState.FAILED, "NT$230 is on its way to your card.", True),
        (RefundState.FAILED, "The case is cancelled.", False),
        (RefundState.REJECTED, "Your refund has been submitted.", True),
    ],
)
def test_words_may_say_as_much_as_the_refund_has_come_to(
    model: Control, order: Order, state: RefundState, said: str, caught: bool
) -> None:
    refunded(order, state)
    model.script([reply(said), reply("Sorry.")])
    work(order)
    assert ("false_claim" in endings(order)) is caught


def test_a_colleague_may_be_promised_by_the_reply_that_calls_one(model: Control, order: Order) -> None:
    promise = "I have asked a colleague to take over; they will answer here."
    model.script([reply(promise, call("hand_off_to_human", reason="customer_asked", summary="Money."))])
    model.script([reply(promise)])
    work(order)
    assert "false_claim" not in endings(order)
    assert talk(order).needs_person


PROMISE = "I have asked a colleague to take over; they will answer here."
ASK = call("hand_off_to_human", reason="cannot_help", summary="Money.")
COMING = "We have asked a colleague to join."


def given_back(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    people.give_back(conversation=talk(order), actor=cast.staff())


@pytest.mark.parametrize(
    ("calls", "code"),
    [
        ([call("hand_off_to_human", reason="no such reason", summary="Money.")], "invalid_argument"),
        ([*(call("get_order", number=str(n)) for n in range(8)), ASK], "too_many_calls"),
    ],
)
def test_a_colleague_who_was_promised_is_asked_even_if_the_call_is_refused(
    model: Control, order: Order, calls: list[dict[str, Any]], code: str
) -> None:
    model.script([reply(PROMISE, *calls), reply("They will be with you.")])
    work(order)
    assert (results(order)[-1] or {})["code"] == code
    assert texts(order)[0] == PROMISE
    assert talk(order).needs_person
    assert sum(COMING in line for line in texts(order, Author.SYSTEM)) == 1
    assert refused_requests(model) == []


def test_a_colleague_who_has_just_given_it_back_is_not_asked_again_and_the_promise_is_taken_back(
    model: Control, order: Order
) -> None:
    given_back(order)
    model.script([reply(PROMISE, ASK), reply("What is it about?")])
    assert work(order).state == TurnState.DONE
    assert results(order)[-1]["code"] == "just_given_back"
    assert not talk(order).needs_person
    line = texts(order, Author.SYSTEM)[-1]
    assert "taken back" in line
    assert "No colleague has been asked to join yet. You can ask for a person at any time." in line
    assert texts(order) == [PROMISE, "What is it about?"]
    assert "No colleague has been asked to join yet." in str(last_request(model)[-1]["content"])
    assert refused_requests(model) == []


def test_a_turn_that_fails_before_it_runs_the_call_for_a_person_asks_for_one(model: Control, order: Order) -> None:
    lease = hold(order)
    asked(order, ASK, text=PROMISE)
    fail(lease, "seconds")
    assert talk(order).needs_person
    assert COMING in texts(order, Author.SYSTEM)[-1]


def test_a_refused_call_that_promised_nothing_asks_nobody(model: Control, order: Order) -> None:
    given_back(order)
    model.script([reply("Let me see.", ASK), reply("What is it about?")])
    work(order)
    assert results(order)[-1]["code"] == "just_given_back"
    assert not talk(order).needs_person


def proposal(amount: int) -> dict[str, Any]:
    return call("propose_compensation", compensation_ntd=amount, reason="The parcel came late.")


def test_a_compensation_whose_call_is_refused_is_put_right_behind_it(model: Control, order: Order) -> None:
    said = "I have proposed a compensation of NT$900,000."
    model.script([reply(said, proposal(900_000)), reply("I am sorry.")])
    work(order)
    assert results(order)[-1]["code"] == "above_compensation_cap"
    (line,) = [line for line in texts(order, Author.SYSTEM) if "taken back" in line]
    assert "No compensation has been asked for or agreed to." in line
    assert [event["text"] for event in told(order, "message") if "taken back" in event["text"]] == [line]
    assert "proposed a compensation" in str(last_request(model)[-1]["content"])
    assert AuditEvent.objects.get(action="conversation.claim_taken_back").chosen["text"] == said
    assert refused_requests(model) == []


def test_a_compensation_that_was_proposed_stands(model: Control, order: Order) -> None:
    model.script([reply("I have proposed a compensation of NT$100.", proposal(100)), reply("They will decide.")])
    work(order)
    assert "status" in results(order)[-1]
    assert texts(order, Author.SYSTEM) == []


def test_the_amount_that_is_said_is_the_one_that_is_proposed(model: Control, order: Order) -> None:
    model.script([reply("I have proposed a compensation of NT$300.", proposal(100)), reply("I am sorry.")])
    work(order)
    assert endings(order)[0] == "false_claim"
    assert not ToolCall.objects.exists()


def test_a_second_amount_beside_the_one_that_waits_is_not_proposed(model: Control, order: Order) -> None:
    model.script([reply("I have proposed a compensation of NT$100.", proposal(100)), reply("They will decide.")])
    work(order)
    hear(order, "More!")
    model.script([reply("I have proposed a compensation of NT$200.", proposal(200)), reply("I am sorry.")])
    work(order)
    (line,) = texts(order, Author.SYSTEM)
    assert "Compensation of NT$100" in line


def test_a_colleague_whom_nobody_has_called_is_not_promised(model: Control, order: Order) -> None:
    model.script([reply("A colleague will answer you here."), reply(HONEST)])
    work(order)
    assert endings(order)[0] == "false_claim"
    assert "No colleague has been asked to join yet." in texts(order, Author.SYSTEM)[0]
    assert not talk(order).needs_person


def test_how_often_it_happened_is_read_from_rows_also_by_the_next_worker(model: Control, order: Order) -> None:
    model.script([reply(FALSE), reply(FALSE)])
    lease = hold(order)
    with turns.holding(lease) as (conversation, turn):
        request = asking.begin(conversation, turn)
    assert not asking.call_model(lease, time.monotonic() + 60, request)
    Turn.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert work(order).state == TurnState.FAILED
    assert talk(order).needs_person


def test_while_a_person_answers_nothing_is_taken_back_in_public(
    model: Control, order: Order, stand_in: OfflineModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stand_in.stand_in, "first_token_ms", 150)
    model.script([reply(FALSE)])
    with working(order, model):
        Conversation.objects.update(owner=cast.staff_user())
    assert texts(order, Author.SYSTEM) == []
    assert not Message.objects.filter(author=Author.SYSTEM).exists()


def test_a_press_makes_the_same_words_true(model: Control, order: Order) -> None:
    quote = quoted(order)
    model.script([reply("Please confirm.", call("refund_items", quote_id=quote.pk))])
    work(order)
    press(talk(order).cards.get())
    model.script([reply("The case is cancelled, and NT$230 is on its way to your card.")])
    work(order)
    assert "false_claim" not in endings(order)


# --- of this conversation ---
def closed_and_new(order: Order) -> None:
    """The conversation in which it happened is over; the customer writes again, an hour later."""
    people.close(conversation=talk(order), actor=cast.staff())
    past = timezone.now() - timedelta(hours=1)
    for model in (Refund, Approval):
        model.objects.update(created_at=past)
    Conversation.objects.update(created_at=past)
    hear(order, "And now?")


def test_what_was_done_before_is_no_ground_until_the_model_has_seen_it(model: Control, order: Order) -> None:
    refunded(order, RefundState.SUCCEEDED)
    closed_and_new(order)
    said = "The refund of NT$230 has been paid to your card."
    model.script([reply(said), reply("", call("list_refunds")), reply(said)])
    assert work(order).state == TurnState.DONE
    assert endings(order)[-3:] == ["false_claim", "tool_use", "end_turn"]
    assert texts(order) == [said]


def test_what_the_system_has_told_of_here_is_known_here(model: Control, order: Order) -> None:
    number = refunded(order, RefundState.SUCCEEDED).pk
    closed_and_new(order)
    people.say_as_system(talk(order), f"NT$230 is on its way ({number}).")
    model.script([reply("The refund of NT$230 has been paid to your card.")])
    work(order)
    assert endings(order)[-1] == "end_turn"


def test_goods_that_were_cancelled_before_are_known_to_whoever_has_looked_at_the_order(
    model: Control, order: Order
) -> None:
    refunded(order, RefundState.SUCCEEDED)
    closed_and_new(order)
    said = "The case has been cancelled."
    model.script([reply(said), reply("", call("get_order")), reply(said)])
    work(order)
    assert endings(order)[-3:] == ["false_claim", "tool_use", "end_turn"]


def test_another_address_is_known_since_the_conversation_began_or_once_the_order_was_looked_at(
    model: Control, order: Order
) -> None:
    audit.record(action="order.address_changed", actor=cast.staff(), subject_type="order", subject_id="1", order=order)
    said = "The delivery address has been changed."
    model.script([reply(said)])
    work(order)
    assert endings(order) == ["end_turn"]
    Conversation.objects.update(created_at=timezone.now() + timedelta(hours=1))
    hear(order, "Really?")
    model.script([reply(said), reply("", call("get_order")), reply(said)])
    work(order)
    assert endings(order)[1:] == ["false_claim", "tool_use", "end_turn"]


def test_a_proposal_of_an_earlier_conversation_is_none_of_this_one(model: Control, order: Order) -> None:
    model.script([reply("I have proposed a compensation of NT$100.", proposal(100)), reply("They will decide.")])
    work(order)
    closed_and_new(order)
    model.script([reply("I have proposed a compensation of NT$100."), reply("Shall I propose one?")])
    work(order)
    assert endings(order)[-2:] == ["false_claim", "end_turn"]


@pytest.mark.parametrize(
    ("said", "caught"), [("{li_2} has been refunded.", False), ("{li_1} has been refunded.", True)]
)
def test_goods_that_are_named_are_those_of_the_record(model: Control, order: Order, said: str, caught: bool) -> None:
    refunded(order, RefundState.SUCCEEDED)
    names = dict(order.lines.values_list("line_item_id", "name"))
    model.script([reply(said.format(**names)), reply("Sorry.")])
    work(order)
    assert ("false_claim" in endings(order)) is caught
