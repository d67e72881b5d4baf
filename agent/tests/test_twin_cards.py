"""Two cards for the same goods: the second is the first, and what has gone with a press is on no other card."""

from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from agent import cards, offers
from agent.models import Card, ToolCall
from agent.states import CardKind, CardState
from agent.tests.helpers import CASE, EARPHONES, SAME_AGAIN, asked, call, hear, hold, press, quoted, talk, told
from agent.tools import executor
from orders.goods import lock_order
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from orders.tests.race import at_once
from refunds import quotes
from refunds.models import Refund, RefundQuote, Return
from refunds.redeem import redeem
from refunds.states import EndedBecause, QuoteState
from refunds.tests.ask import ask

pytestmark = pytest.mark.django_db(transaction=True)
CASE_UNWANTED = {**CASE, "reason": "changed_mind"}


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def from_tab(tab: str, order: Order, *lines: dict[str, Any]) -> Card:
    """What a colleague offers in one of their tabs, each of which has worked it out for itself."""
    choices = quotes.parse_choices({"lines": list(lines)})
    quote = offers.preview(conversation=talk(order), actor=cast.staff(), choices=choices, form=tab)
    return offers.offer(conversation=talk(order), actor=cast.staff(), quote_id=quote.pk)


def put_up(order: Order, kind: CardKind, *lines: dict[str, Any]) -> Card:
    return offers.put_up(conversation=talk(order), actor=cast.staff(), kind=kind, asked=list(lines))


def state_of(card: Card) -> str:
    card.refresh_from_db()
    return card.state


def test_the_same_goods_offered_in_two_tabs_are_one_card(order: Order) -> None:
    first = from_tab("one", order, CASE)
    assert from_tab("two", order, CASE) == first
    assert Card.objects.count() == 1
    assert [card["state"] for card in told(order, "card")] == [CardState.OPEN]
    press(first)
    assert Refund.objects.get().amount == 230


@pytest.mark.parametrize("other", [EARPHONES, CASE_UNWANTED])
def test_other_goods_and_another_reason_are_another_card(order: Order, other: dict[str, Any]) -> None:
    first = from_tab("one", order, CASE)
    assert from_tab("two", order, other) != first
    assert state_of(first) == CardState.OPEN


def test_a_card_that_is_over_is_not_given_again(order: Order) -> None:
    first = from_tab("one", order, CASE)
    quotes.decline(quote_id=str(first.quote_id), actor=cast.shopper())
    second = from_tab("two", order, CASE)
    assert (state_of(first), state_of(second)) == (CardState.DECLINED, CardState.OPEN)


def test_a_card_that_has_not_heard_of_the_end_of_its_quote_is_not_given_again(order: Order) -> None:
    first = from_tab("one", order, CASE)
    RefundQuote.objects.filter(pk=first.quote_id).update(state=QuoteState.DECLINED)  # and the signal is lost
    assert from_tab("two", order, CASE) != first


def test_a_card_whose_time_is_over_is_not_given_again(order: Order) -> None:
    first = put_up(order, CardKind.EXCHANGE, SAME_AGAIN)
    Card.objects.update(expires_at=timezone.now())
    assert put_up(order, CardKind.EXCHANGE, SAME_AGAIN) != first


def test_what_comes_to_something_else_by_now_is_another_card_and_one_press_ends_both() -> None:
    order = cast.place("9403", lines=[("毛巾", 300, 1), ("襪子", 500, 1)])
    hear(order)
    socks = {"line_item_id": "li_2", "quantity": 1, "reason": "changed_mind"}
    first = from_tab("one", order, socks)
    redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.staff(), note="at the counter")
    second = from_tab("two", order, socks)
    assert (first != second, state_of(first)) == (True, CardState.OPEN)
    press(second)
    assert (state_of(second), state_of(first)) == (CardState.CONFIRMED, CardState.WITHDRAWN)


# --- what is left of the goods after a press ---
def test_a_return_that_is_pressed_takes_the_exchange_of_the_same_goods_off_the_page(order: Order) -> None:
    twin, card = put_up(order, CardKind.EXCHANGE, SAME_AGAIN), from_tab("one", order, EARPHONES)
    press(card)
    assert (state_of(card), state_of(twin)) == (CardState.CONFIRMED, CardState.WITHDRAWN)
    assert told(order, "card")[-1]["state"] == CardState.WITHDRAWN
    assert Return.objects.count() == 1


def test_an_exchange_that_is_pressed_takes_the_return_of_the_same_goods_off_the_page(order: Order) -> None:
    twin, card = from_tab("one", order, EARPHONES), put_up(order, CardKind.EXCHANGE, SAME_AGAIN)
    press(card)
    assert (state_of(card), state_of(twin)) == (CardState.CONFIRMED, CardState.WITHDRAWN)
    assert twin.quote is not None
    twin.quote.refresh_from_db()
    assert (twin.quote.state, twin.quote.ended_because) == (QuoteState.SUPERSEDED, EndedBecause.ORDER_CHANGED)


def test_lost_goods_that_are_sent_again_are_not_to_be_refunded_any_more() -> None:
    order = cast.place("9402", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1}, state="lost")])
    hear(order)
    socks = {"line_item_id": "li_1", "quantity": 1}
    twin, card = from_tab("one", order, {**socks, "reason": "lost"}), put_up(order, CardKind.RESEND, socks)
    press(card)
    assert (state_of(card), state_of(twin)) == (CardState.CONFIRMED, CardState.WITHDRAWN)


def test_lost_goods_that_are_refunded_are_not_to_be_sent_again() -> None:
    order = cast.place("9402", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1}, state="lost")])
    hear(order)
    socks = {"line_item_id": "li_1", "quantity": 1}
    twin, card = put_up(order, CardKind.RESEND, socks), from_tab("one", order, {**socks, "reason": "lost"})
    press(card)
    assert (state_of(card), state_of(twin)) == (CardState.CONFIRMED, CardState.WITHDRAWN)


def test_the_assistant_whose_card_is_gone_hears_why_without_a_press(order: Order) -> None:
    (made,) = asked(order, call("refund_items", quote_id=quoted(order).pk))
    executor.run_call(hold(order), made.pk)
    (twin,) = Card.objects.all()
    redeem(quote_id=ask(order, (2, 1, "changed_mind")).pk, actor=cast.staff(), note="at the counter")
    assert state_of(twin) == CardState.WITHDRAWN
    heard = ToolCall.objects.get(pk=made.pk)
    assert (heard.is_error, (heard.result or {})["code"]) == (True, "order_changed")


def test_cards_for_what_is_left_stay(order: Order) -> None:
    exchange, card = put_up(order, CardKind.EXCHANGE, SAME_AGAIN), from_tab("one", order, CASE)
    back = from_tab("two", order, EARPHONES)
    press(card)
    assert [state_of(each) for each in (card, exchange, back)] == ["confirmed", "open", "open"]
    assert RefundQuote.objects.filter(state=QuoteState.OPEN).count() == 1


def test_whether_goods_are_gone_is_looked_at_with_the_order_locked(order: Order) -> None:
    card = from_tab("one", order, CASE)

    def look() -> None:
        with transaction.atomic():
            connection.cursor().execute("SET LOCAL lock_timeout = '50ms'")
            quotes.end_if_overtaken(quote_id=str(card.quote_id), actor=cards.SYSTEM)

    with transaction.atomic():
        lock_order(order.pk)
        (answer,) = at_once([look])
    assert isinstance(answer, OperationalError)
    look()
    assert state_of(card) == CardState.OPEN
