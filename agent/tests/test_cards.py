"""A card follows what has become of its quote, answers its call once, and lets the turn go on."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.http import Http404
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from agent import cards, earlier, events, people, sweep, turns
from agent.models import Card, ToolCall
from agent.offline.control import Control
from agent.states import CardKind, CardState, ToolCallState, TurnState
from agent.tests.helpers import (
    SAME_AGAIN,
    asked,
    at_once,
    call,
    hear,
    hold,
    meanwhile,
    newest_turn,
    press,
    quoted,
    reply,
    results,
    talk,
    texts,
    told,
    work,
)
from agent.tools import executor
from agent.tools.base import CardSpec
from orders.access import Shopper
from orders.errors import Refusal
from orders.models import AuditEvent, Order
from orders.shipments import upsert_shipment
from orders.tests import cast
from orders.tests.factories import shipment_body
from orders.tests.race import wait_until_blocked
from refunds import ending, redeem
from refunds.models import Refund, RefundQuote, Return

pytestmark = pytest.mark.django_db
WHEN_COMMITTED = DjangoCaptureOnCommitCallbacks


@pytest.fixture
def order() -> Order:
    """The case's refund waits for a press."""
    order = cast.order_5531()
    hear(order)
    wait_for(order, call("refund_items", quote_id=quoted(order).pk))
    return order


def wait_for(order: Order, *calls: dict[str, Any]) -> None:
    """Run these calls of one reply; the turn waits."""
    lease = hold(order)
    for made in asked(order, *calls):
        executor.run_call(lease, made.pk)
    turn = newest_turn(order)
    with events.writing(talk(order).pk) as conversation:
        turns.move(conversation, turn, TurnState.RUNNING, TurnState.WAITING)


def the_card(order: Order) -> Card:
    return Card.objects.select_related("conversation__order").get(conversation=talk(order))


def confirm(order: Order) -> None:
    press(the_card(order))


def decline(order: Order) -> None:
    redeem.decline(quote_id=the_card(order).quote_id or "", actor=cast.shopper())


def run_out(order: Order) -> None:
    RefundQuote.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    ending.expire_quotes()


def pack_the_case(order: Order) -> None:
    """The warehouse is faster: pressing the card then refuses, and ends the quote."""
    upsert_shipment(order=order, body=shipment_body({2: 1}, state="packed", external_id="s2"), actor=cast.SHOP)
    with pytest.raises(Refusal):
        confirm(order)


ENDINGS: list[tuple[Callable[[Order], None], str, bool, str, str]] = [
    (confirm, CardState.CONFIRMED, False, "confirmed", TurnState.QUEUED),
    (decline, CardState.DECLINED, False, "declined", TurnState.QUEUED),
    (run_out, CardState.EXPIRED, False, "expired", TurnState.DONE),
    (pack_the_case, CardState.WITHDRAWN, True, "", TurnState.QUEUED),
]


@pytest.mark.parametrize(
    ("what_happens", "state", "is_error", "status", "turn"), ENDINGS, ids=[ending[1] for ending in ENDINGS]
)
def test_each_ending_gives_the_tool_its_result_the_page_its_event_and_the_turn_its_way(
    order: Order,
    django_capture_on_commit_callbacks: WHEN_COMMITTED,
    what_happens: Callable[[Order], None],
    state: str,
    is_error: bool,
    status: str,
    turn: str,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        what_happens(order)

    assert the_card(order).state == state
    made = ToolCall.objects.get()
    assert (made.state, made.is_error, (made.result or {}).get("status", "")) == (
        ToolCallState.ANSWERED,
        is_error,
        status,
    )
    assert [card["state"] for card in told(order, "card")] == ["open", state]
    assert newest_turn(order).state == turn
    assert AuditEvent.objects.filter(action=f"card.{state}", subject_id=the_card(order).pk).count() == 1


@pytest.mark.parametrize("what_happens", [confirm, decline, run_out, pack_the_case], ids=lambda each: each.__name__)
def test_a_lost_signal_is_made_good_by_the_sweeper(order: Order, what_happens: Callable[[Order], None]) -> None:
    what_happens(order)
    assert the_card(order).state == CardState.OPEN, "nobody was told yet"
    sweep.sweep()
    assert the_card(order).state != CardState.OPEN
    assert ToolCall.objects.get().state == ToolCallState.ANSWERED


def test_catching_up_twice_changes_nothing_more(order: Order) -> None:
    confirm(order)
    cards.catch_up(the_card(order))
    before = (talk(order).last_event, AuditEvent.objects.count(), results(order))
    cards.catch_up(the_card(order))
    sweep.sweep()
    assert (talk(order).last_event, AuditEvent.objects.count(), results(order)) == before


def test_catching_up_with_an_open_quote_changes_nothing(order: Order) -> None:
    before = talk(order).last_event
    cards.catch_up(the_card(order))
    assert (the_card(order).state, talk(order).last_event) == (CardState.OPEN, before)


def test_an_overdue_card_waits_for_its_quote_which_may_be_in_the_middle_of_being_redeemed(order: Order) -> None:
    RefundQuote.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    Card.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    sweep.sweep()
    assert the_card(order).state == CardState.OPEN


def test_a_confirmed_card_tells_the_model_amount_way_and_reason(order: Order) -> None:
    confirm(order)
    cards.catch_up(the_card(order))
    (result,) = results(order)
    assert result["refund"]["refund_id"] == Refund.objects.get().pk
    assert result["refund"]["amount"] == 230
    assert "4242" in result["refund"]["to"][0]["label"]
    assert "150" in result["explanation"]


def test_a_packed_parcel_tells_the_model_what_to_do_next(order: Order) -> None:
    pack_the_case(order)
    cards.catch_up(the_card(order))
    (result,) = results(order)
    assert result["code"] == "order_changed"
    assert result["hint"]
    assert not Refund.objects.exists()


def test_the_turn_goes_on_only_when_every_card_of_the_reply_has_ended() -> None:
    order = cast.order_5531()
    hear(order)
    exchange = call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN])
    wait_for(order, call("refund_items", quote_id=quoted(order).pk), exchange)
    first, second = Card.objects.order_by("kind").reverse()
    press(first)
    cards.catch_up(Card.objects.select_related("conversation__order").get(pk=first.pk))
    assert newest_turn(order).state == TurnState.WAITING
    press(second)
    assert newest_turn(order).state == TurnState.QUEUED
    assert Return.objects.get().request_ref == second.pk


@pytest.mark.parametrize("first", ["pressed", "left"])
def test_a_press_is_answered_also_where_the_card_beside_it_runs_out(first: str) -> None:
    order = cast.order_5531()
    hear(order)
    wait_for(
        order,
        call("refund_items", quote_id=quoted(order).pk),
        call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN]),
    )
    exchange = Card.objects.get(kind=CardKind.EXCHANGE)
    if first == "pressed":
        press(exchange)
        assert newest_turn(order).state == TurnState.WAITING
    run_out(order)
    sweep.sweep()
    if first == "left":
        assert newest_turn(order).state == TurnState.WAITING
        press(exchange)
    assert set(Card.objects.values_list("kind", "state")) == {("refund", "expired"), ("exchange", "confirmed")}
    assert newest_turn(order).state == TurnState.QUEUED


def test_closing_a_conversation_whose_other_card_was_pressed_starts_no_turn() -> None:
    order = cast.order_5531()
    hear(order)
    exchange = call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN])
    wait_for(order, call("refund_items", quote_id=quoted(order).pk), exchange)
    press(Card.objects.get(kind=CardKind.EXCHANGE))
    people.close(conversation=talk(order), actor=cast.staff())
    assert newest_turn(order).state == TurnState.DONE


def test_pressing_while_a_person_owns_the_conversation_ends_the_turn_without_the_agent(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    confirm(order)
    cards.catch_up(the_card(order))
    assert newest_turn(order).state == TurnState.DONE
    assert Refund.objects.count() == 1


def test_words_said_between_the_end_of_a_quote_and_its_news_are_answered(order: Order) -> None:
    run_out(order)  # and the signal is lost
    hear(order, "are you still there?")
    work(order)
    assert newest_turn(order).state == TurnState.WAITING
    cards.catch_up(the_card(order))
    assert newest_turn(order).state == TurnState.QUEUED


def test_an_exchange_whose_time_is_over_expires_without_a_turn() -> None:
    order = cast.order_5531()
    hear(order)
    wait_for(order, call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN]))
    Card.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    sweep.sweep()
    assert (the_card(order).state, newest_turn(order).state) == (CardState.EXPIRED, TurnState.DONE)
    assert results(order) == [{"status": "expired"}]
    with pytest.raises(Refusal):
        cards.require_open(the_card(order))


def test_a_card_that_expires_while_a_turn_runs_leaves_the_turn_alone() -> None:
    order = cast.order_5531()
    hear(order)
    hold(order)
    asked(order, call("get_order"))
    spec = CardSpec(kind=CardKind.EXCHANGE, expires_at=timezone.now() - timedelta(seconds=1))
    with events.writing(talk(order).pk) as conversation:
        cards.open_card(conversation=conversation, call=None, spec=spec)
    sweep.sweep()
    assert (the_card(order).state, newest_turn(order).state) == (CardState.EXPIRED, TurnState.RUNNING)


def test_writing_something_else_declines_an_exchange_too() -> None:
    order = cast.order_5531()
    hear(order)
    wait_for(order, call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN]))
    hear(order, "no, leave it")
    assert the_card(order).state == CardState.DECLINED
    told_model = "Nobody pressed a button: the customer wrote something else, so the card was taken back."
    assert results(order)[0] == {"status": "declined", "because": told_model}
    # And when all that is told in short.
    assert '"state": "declined", "quote_id": null, "because": "wrote_instead"' in earlier.told(talk(order))


def test_what_was_pressed_a_moment_before_stays_pressed_when_the_customer_writes(order: Order) -> None:
    confirm(order)
    hear(order, "I have pressed it")
    assert RefundQuote.objects.get().state == "redeemed"
    sweep.sweep()
    assert the_card(order).state == CardState.CONFIRMED
    assert results(order)[0]["status"] == "confirmed"


def test_what_was_pressed_a_moment_before_stays_pressed_when_staff_close(order: Order) -> None:
    confirm(order)
    people.close(conversation=talk(order), actor=cast.staff())
    sweep.sweep()
    assert (the_card(order).state, newest_turn(order).state) == (CardState.CONFIRMED, TurnState.DONE)
    assert results(order)[0]["status"] == "confirmed"


def test_words_while_a_person_owns_the_conversation_end_the_waiting_turn(order: Order) -> None:
    people.take_over(conversation=talk(order), actor=cast.staff())
    hear(order, "no, leave it")
    assert (the_card(order).state, newest_turn(order).state) == (CardState.DECLINED, TurnState.DONE)


# --- whose card it is ---
def test_cards_without_a_quote_are_reached_by_their_customer_alone() -> None:
    order = cast.order_5531()
    hear(order)
    wait_for(order, call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN]))
    card = the_card(order)
    assert cards.open_card_for(Shopper(order.customer, None), "5531", card.pk) == card
    assert cards.open_card_for(Shopper(order.customer, frozenset({"5531"})), "5531", card.pk) == card
    strangers = [
        (Shopper(cast.customer("ming2"), None), "5531"),
        (Shopper(order.customer, frozenset({"7001"})), "5531"),
        (Shopper(order.customer, None), "7001"),
    ]
    for shopper, number in strangers:
        with pytest.raises(Http404):
            cards.open_card_for(shopper, number, card.pk)


def test_a_card_with_a_quote_has_only_the_quotes_own_buttons(order: Order) -> None:
    with pytest.raises(Http404):
        cards.open_card_for(Shopper(order.customer, None), "5531", the_card(order).pk)


def test_looking_for_cards_that_are_behind_reads_them_in_one_query(order: Order) -> None:
    confirm(order)
    with CaptureQueriesContext(connection) as queries:
        assert [card.conversation.order.number for card in cards.cards_behind()] == ["5531"]
    assert len(queries) == 1


# --- at the same moment ---
@pytest.mark.django_db(transaction=True)
def test_press_and_other_words_at_once_agree_on_one_ending(model: Control) -> None:
    order = cast.order_5531()
    hear(order)
    model.script([reply("Please confirm.", call("refund_items", quote_id=quoted(order).pk)), reply("Well.")])
    work(order)

    def try_to_press() -> str:
        try:
            confirm(order)
        except Refusal as refusal:
            return refusal.code
        return "confirmed"

    outcome, _ = at_once(try_to_press, lambda: hear(order, "no, wait"))
    assert outcome in {"confirmed", "quote_declined"}
    sweep.sweep()
    assert work(order).state == TurnState.DONE
    pressed = Refund.objects.exists()
    assert the_card(order).state == (CardState.CONFIRMED if pressed else CardState.DECLINED)
    assert results(order)[-1]["status"] == ("confirmed" if pressed else "declined")
    assert texts(order)[-1] == "Well."


@pytest.mark.django_db(transaction=True)
def test_a_quote_that_ends_while_its_card_is_being_opened_is_followed_by_the_card() -> None:
    order = cast.order_5531()
    hear(order)
    quote = quoted(order)
    lease = hold(order)
    (made,) = asked(order, call("refund_items", quote_id=quote.pk))
    staff = cast.staff()
    with (
        meanwhile(lambda: redeem.redeem(quote_id=quote.pk, actor=staff, note="by telephone")) as elsewhere,
        transaction.atomic(),
    ):
        executor.run_call(lease, made.pk)
        elsewhere.begin()
        wait_until_blocked(1)
    elsewhere.result()
    made.refresh_from_db()
    assert (the_card(order).state, made.state) == (CardState.CONFIRMED, ToolCallState.ANSWERED)
