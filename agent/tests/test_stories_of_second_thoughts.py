"""Whole talks with the stand-in and the real tools: rules that keep goods back, and words right after a press."""

import pytest

from agent.models import Card
from agent.offline.control import Control
from agent.states import CardKind, CardState
from agent.tests.helpers import hear, press, refused_requests, talk, texts, work
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, ago, line_body, shipment_body
from refunds.models import RefundQuote, Replacement
from refunds.tests.old_rules import published_long_ago

pytestmark = pytest.mark.django_db(transaction=True)
HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "220",
    "city": "新北市",
    "district": "板橋區",
    "street": "中山路一段 1 號",
}


def said_of(order: Order, sentence: str) -> str:
    hear(order, sentence, language="zh-hant")
    work(order)
    return "\n".join(texts(order))


def the_open_card(order: Order) -> Card:
    cards = Card.objects.select_related("conversation__order", "conversation__customer")
    return cards.get(conversation=talk(order), state=CardState.OPEN)


def test_goods_that_the_rules_keep_back_are_said_to_be_before_anything_is_worked_out(model: Control) -> None:
    published_long_ago(excluded_categories=["hygiene"])
    bought = line_body(1, "耳塞", 1200, category="hygiene", sku="BUDS")
    order = cast.place("7803", lines=[bought], shipments=[shipment_body({1: 1})])

    said = said_of(order, "耳塞我不喜歡，想退貨")
    assert "只有商品有瑕疵或寄錯商品時才可以" in said
    assert not RefundQuote.objects.exists()

    said_of(order, "耳塞是壞的，想退貨")
    assert RefundQuote.objects.get().lines.get().reason == "defective"
    assert refused_requests(model) == []


def test_who_writes_right_after_a_press_is_not_asked_for_an_address_that_is_known(model: Control) -> None:
    lost = {"packed_at": ago(days=21).isoformat(), "shipped_at": ago(days=20).isoformat()}
    order = cast.place(
        "5531",
        lines=[line_body(1, "手機支架", 450, sku="HOLDER")],
        shipping=FREE_DELIVERY,
        shipments=[shipment_body({1: 1}, state="shipped", **lost)],
        placed_at=ago(days=25).isoformat(),
        shipping_address=HOME,
    )
    said_of(order, "包裹一直沒到，請重寄一份")
    press(the_open_card(order))

    said = said_of(order, "收件人改成林美玲，電話 0911222333")
    assert said.count(Replacement.objects.get().pk) == 1
    card = the_open_card(order)
    assert (card.kind, card.payload["address"]) == (
        CardKind.ADDRESS,
        {**HOME, "recipient": "林美玲", "phone": "0911222333"},
    )
    assert refused_requests(model) == []
