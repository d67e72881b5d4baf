"""A card that is over although nobody pressed it: the customer's page, staff and the history call nobody's no a no."""

import re

import pytest

from agent import people
from agent.states import CardState
from orders.tests import cast
from tests.pages.visiting import refund_card, said, signed_in, text_of

pytestmark = pytest.mark.django_db


def test_a_card_taken_back_because_something_else_was_written_is_not_called_declined() -> None:
    order = cast.order_5531()
    card = refund_card(order)
    conversation = said(order, "請問你們有藍色的滑鼠嗎？")
    card.refresh_from_db()
    assert (card.state, card.payload["because"]) == (CardState.DECLINED, "wrote_instead")

    page = text_of(signed_in("ming").get("/orders/5531/"))
    drawn = page[page.index(f'data-card="{card.pk}"') :].split("</article>")[0]
    shown = re.findall(r'<(?:p|div|span)[^>]*data-when="(\w+)"(?! hidden)[^>]*?(?<!hidden)>', drawn)
    assert set(shown) == {"taken_back"}
    assert "您傳了新訊息，這張確認卡已收回，沒有任何更動。需要時再告訴我們即可。" in drawn

    for_staff = text_of(signed_in("staff").get(f"/staff/conversations/{conversation.pk}/"))
    assert "已收回</span>" in for_staff
    for path in ("/staff/orders/5531/", "/staff/audit/?q=5531"):
        told = text_of(signed_in("admin").get(path))
        assert "顧客傳了新訊息，確認卡已收回" in told
        assert "試算已收回" in told
        assert "婉拒" not in told


def test_a_quote_taken_back_because_the_talk_was_closed_is_not_declined_by_a_card() -> None:
    card = refund_card(cast.order_5531())
    people.close(conversation=card.conversation, actor=cast.staff())
    told = text_of(signed_in("admin").get("/staff/audit/?q=5531"))
    assert "對話結束，NT$230 的試算已收回" in told
    assert "婉拒" not in told
