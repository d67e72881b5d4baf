"""A card that is over although nobody pressed it: the customer's page, staff and the history call nobody's no a no."""

import csv
import re
from collections.abc import Callable

import pytest

from agent import people
from agent.models import Card
from agent.states import CardState
from orders.models import Order
from orders.tests import cast
from tests.pages.visiting import JSON, exchange_card, refund_card, said, signed_in, text_of

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


def test_staffs_other_pages_and_files_call_it_taken_back_as_well() -> None:
    order = cast.order_5531()
    refund_card(order)
    said(order, "請問你們有藍色的滑鼠嗎？")
    page = text_of(signed_in("admin").get("/admin/orders/auditevent/?q=5531"))
    records = page[page.index('id="result_list"') :].split("</table>")[0]
    file = signed_in("auditor").post("/staff/exports/make/", {"kind": "audit", "q": "5531"})
    (row,) = [row for row in csv.reader(text_of(file).splitlines()) if row[-1] == "card.declined"]
    assert row[4] == "顧客傳了新訊息，確認卡已收回。"
    assert row[-2] in records
    assert "顧客傳了新訊息" in row[-2]
    assert "婉拒" not in records + text_of(file)


@pytest.mark.parametrize("make", [refund_card, exchange_card])
def test_a_press_on_a_page_that_has_not_heard_says_nothing_of_a_no(
    make: Callable[[Order], Card],
) -> None:
    order = cast.order_5531()
    card = make(order)
    said(order, "請問你們有藍色的滑鼠嗎？")
    of_quote, of_card = f"/refunds/quotes/{card.quote_id}/confirm/", f"/orders/5531/chat/cards/{card.pk}/confirm/"
    answer = signed_in("ming").post(of_quote if card.quote_id else of_card, headers=JSON)
    assert answer.status_code == 409
    assert "收回" in answer.json()["message"]
    assert "婉拒" not in answer.json()["message"]
