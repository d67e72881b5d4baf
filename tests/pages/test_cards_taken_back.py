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
from refunds.models import Refund
from tests.pages.visiting import JSON, exchange_card, quoted, refund_card, said, signed_in, text_of

pytestmark = pytest.mark.django_db
QUESTION = "請問你們有藍色的滑鼠嗎？"


def taken_back(card: Card, order: Order) -> Card:
    """The customer has written something else."""
    said(order, QUESTION)
    card.refresh_from_db()
    return card


def drawn(card: Card) -> str:
    page = text_of(signed_in("ming").get("/orders/5531/"))
    return page[page.index(f'data-card="{card.pk}"') :].split("</article>")[0]


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


def test_a_late_press_says_that_the_quote_was_taken_back_and_how_to_get_a_new_one() -> None:
    order = cast.order_5531()
    card = taken_back(refund_card(order), order)
    answer = signed_in("ming").post(f"/refunds/quotes/{card.quote_id}/confirm/", headers=JSON)
    told = answer.json()
    assert (answer.status_code, told["code"]) == (409, "quote_declined")
    assert told["message"] == "因為之後對話中又傳了新訊息，這筆試算已收回，沒有任何更動。"
    assert told["hint"] == "如果仍然需要，請在對話中告訴我們，或重新試算一次，就會有新的試算。"
    assert told["details"] == {"because": "wrote_instead"}
    page = text_of(signed_in("ming").post(f"/refunds/quotes/{card.quote_id}/confirm/", follow=True))
    assert told["message"] in page
    assert told["hint"] in page
    assert not Refund.objects.exists()


def test_a_late_no_says_that_the_quote_was_taken_back_before() -> None:
    order = cast.order_5531()
    card = taken_back(refund_card(order), order)
    told = signed_in("ming").post(f"/refunds/quotes/{card.quote_id}/decline/", headers=JSON).json()
    assert told == {"quote_id": card.quote_id, "state": "declined", "because": "wrote_instead"}
    page = text_of(signed_in("ming").post(f"/refunds/quotes/{card.quote_id}/decline/", follow=True))
    assert "因為之後對話中又傳了新訊息，這筆試算已收回" in page
    assert "婉拒" not in page


def test_what_the_customer_did_decline_is_still_called_that() -> None:
    card = refund_card(cast.order_5531())
    told = signed_in("ming").post(f"/refunds/quotes/{card.quote_id}/decline/", headers=JSON).json()
    assert told == {"quote_id": card.quote_id, "state": "declined"}
    late = signed_in("ming").post(f"/refunds/quotes/{card.quote_id}/confirm/", headers=JSON).json()
    assert "婉拒" in late["message"]
    assert "details" not in late


def test_a_late_press_after_the_talk_was_ended_says_so() -> None:
    card = refund_card(cast.order_5531())
    people.close(conversation=card.conversation, actor=cast.staff())
    told = signed_in("ming").post(f"/refunds/quotes/{card.quote_id}/confirm/", headers=JSON).json()
    assert told["message"] == "對話已結束，這筆試算已收回，沒有任何更動。"
    assert told["details"] == {"because": "closed"}


def test_staff_who_redeem_too_late_are_not_sent_to_the_chat() -> None:
    order = cast.order_5531()
    card = taken_back(refund_card(order), order)
    address = f"/api/v1/refund-quotes/{card.quote_id}/redeem/"
    body = {"note": "顧客來電"}
    told = signed_in("staff").post(address, body, content_type="application/json", headers=JSON).json()
    assert told["code"] == "quote_declined"
    assert told["hint"] == "如果仍然需要，請重新試算同樣的商品。"


def test_a_late_press_of_a_card_without_a_quote_says_so_too() -> None:
    order = cast.order_5531()
    card = taken_back(exchange_card(order), order)
    address = f"/orders/5531/chat/cards/{card.pk}"
    told = signed_in("ming").post(f"{address}/confirm/", headers=JSON).json()
    assert told["code"] == "card_closed"
    assert told["message"] == "因為您之後傳了新訊息，這張確認卡已收回，沒有任何更動。"
    assert "對話" in told["hint"]
    no = signed_in("ming").post(f"{address}/decline/", headers=JSON).json()
    assert no == {"state": "declined", "because": "wrote_instead"}


def test_a_refund_that_was_taken_back_can_be_asked_for_again_by_a_button() -> None:
    order = cast.order_5531()
    refund = drawn(taken_back(refund_card(order), order))
    outcome = refund.split('data-when="taken_back"')[-1].split("</p>")[0]
    assert "重新試算" in outcome
    assert "data-ask-again" in outcome
    exchange = drawn(taken_back(exchange_card(order), order))
    assert "data-ask-again" not in exchange.split('data-when="taken_back"')[-1].split("</p>")[0]


@pytest.mark.parametrize("kind", ["agent/card", "refunds/refundquote", "agent/conversationevent"])
def test_the_lists_of_the_records_say_why_instead_of_declined(kind: str) -> None:
    order = cast.order_5531()
    card = taken_back(refund_card(order), order)
    page = text_of(signed_in("admin").get(f"/admin/{kind}/"))
    results = page[page.index('id="result_list"') :].split("</table>")[0]
    assert "已收回（顧客傳了新訊息）" in results
    assert "婉拒" not in results
    record = {"agent/card": card.pk, "refunds/refundquote": card.quote_id}.get(kind)
    if record:
        assert "已收回（顧客傳了新訊息）" in text_of(signed_in("admin").get(f"/admin/{kind}/{record}/change/"))


def test_a_quote_that_a_newer_one_replaced_was_not_taken_back() -> None:
    order = cast.order_5531()
    older, newer = quoted(order), quoted(order)
    page = text_of(signed_in("admin").get(f"/admin/refunds/refundquote/{older.pk}/change/"))
    assert newer.pk != older.pk
    assert "已有較新的試算" in page
    assert "已收回" not in page
