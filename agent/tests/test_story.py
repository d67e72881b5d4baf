"""The story of order 5531, from the sentence to the closing words, in one process with the stand-in model."""

import pytest

from agent.models import Card
from agent.offline.control import Control
from agent.states import CardKind, CardState, TurnState
from agent.tests.helpers import hear, newest_turn, press, refused_requests, results, talk, texts, told, work
from orders.models import Order
from orders.tests import cast
from refunds import redeem
from refunds.models import Refund, Return

pytestmark = pytest.mark.django_db(transaction=True)
SENTENCE = "耳機左耳沒聲音，耳機殼也還沒寄到，我不想等了"


def card_of(order: Order, kind: str) -> Card:
    return talk(order).cards.get(kind=kind)


def test_a_sentence_becomes_a_quote_with_its_reason_and_two_buttons_and_moves_nothing(model: Control) -> None:
    order = cast.order_5531()
    hear(order, SENTENCE, language="zh-hant")

    assert work(order).state == TurnState.WAITING

    refund, exchange = card_of(order, CardKind.REFUND), card_of(order, CardKind.EXCHANGE)
    assert (refund.payload["amount"], refund.state, exchange.state) == (230, CardState.OPEN, CardState.OPEN)
    assert [step["amount"] for step in refund.payload["steps"]] == [380, -150]
    assert "230" in texts(order)[-1]
    assert "150" in texts(order)[-1]
    assert not Refund.objects.exists()
    assert not Return.objects.exists()
    assert refused_requests(model) == []


def test_both_presses_are_told_to_the_model_which_closes_with_what_happened(model: Control) -> None:
    order = cast.order_5531()
    hear(order, SENTENCE, language="zh-hant")
    work(order)
    refund, exchange = card_of(order, CardKind.REFUND), card_of(order, CardKind.EXCHANGE)

    press(refund)
    assert newest_turn(order).state == TurnState.WAITING, "the exchange is still open"
    press(exchange)
    assert newest_turn(order).state == TurnState.QUEUED

    assert work(order).state == TurnState.DONE
    paid, back = Refund.objects.get(), Return.objects.get()
    assert (paid.amount, back.kind) == (230, "exchange")
    confirmed = [result for result in results(order) if result.get("status") == "confirmed"]
    assert [result["refund"]["refund_id"] for result in confirmed if "refund" in result] == [paid.pk]
    assert [result["return"]["return_id"] for result in confirmed if "return" in result] == [back.pk]
    assert "230" in texts(order)[-1]
    assert {card["state"] for card in told(order, "card")[-2:]} == {CardState.CONFIRMED}
    assert refused_requests(model) == []


def test_declining_both_is_accepted_without_a_word_about_money_moving(model: Control) -> None:
    order = cast.order_5531()
    hear(order, SENTENCE, language="zh-hant")
    work(order)

    redeem.decline(quote_id=card_of(order, CardKind.REFUND).quote_id or "", actor=cast.shopper())
    hear(order, "不用了，謝謝", language="zh-hant")

    assert work(order).state == TurnState.DONE
    assert not Refund.objects.exists()
    assert {card.state for card in talk(order).cards.all()} == {CardState.DECLINED}
    assert refused_requests(model) == []
