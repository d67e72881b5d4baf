"""The customer's order page: readable without a script, and its cards can be pressed."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from agent.models import Card
from agent.states import CardState
from backoffice.words import short_day
from orders.links import issue_link, revoke_link
from orders.models import LineItem, ShipmentLine
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, PICKUP, line_body, payment_body, shipment_body
from refunds.approvals import approve_refund as approve
from refunds.models import Refund, RefundAllocation, Return
from refunds.present import refund_as_dict
from refunds.redeem import redeem
from refunds.returns import reject
from refunds.tests.ask import ask
from refunds.tests.going_back import received_return, returned
from refunds.tests.old_rules import published_long_ago
from refunds.tests.paying import pending_refund
from tests.pages.coming_back import return_of
from tests.pages.visiting import JSON, exchange_card, refund_card, said, signed_in, stranger, text_of

pytestmark = pytest.mark.django_db
DANGEROUS = "<script>alert('x')</script>"


def words_of(page: str) -> str:
    """The text a person reads, without the empty templates that the script copies."""
    visible = re.sub(r"<template.*?</template>|<script.*?</script>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", visible))


def test_the_order_page_says_where_each_piece_is_and_what_can_be_done() -> None:
    cast.order_5531()
    page = words_of(text_of(signed_in("ming").get("/orders/5531/")))
    assert "藍牙耳機 NT$1,200 已送達" in page
    assert "前可退換貨" in page
    assert "耳機殼 NT$380 尚未出貨 還可以取消。" in page
    assert "滿 1,500 折 150 −NT$150" in page
    assert "實付 NT$1,430" in page


@pytest.mark.parametrize(
    ("state", "words"), [("packed", "備貨中"), ("shipped", "運送中"), ("lost", "可能遺失"), ("delivered", "已送達")]
)
def test_every_way_a_parcel_can_be_is_named(state: str, words: str) -> None:
    cast.place("7001", shipments=[shipment_body({1: 1, 2: 1}, state=state)])
    assert words in text_of(signed_in("ming").get("/orders/7001/"))


def test_what_customers_and_shops_write_never_becomes_markup() -> None:
    order = cast.place("7002", lines=[(DANGEROUS, 500, 1)])
    said(order, DANGEROUS)
    for browser, path in [
        (signed_in("ming"), "/orders/"),
        (signed_in("ming"), "/orders/7002/"),
        (signed_in("staff"), "/staff/orders/"),
        (signed_in("staff"), "/staff/orders/7002/"),
        (signed_in("staff"), "/staff/?state=working"),
        (signed_in("staff"), f"/staff/orders/?q={DANGEROUS}"),
    ]:
        page = text_of(browser.get(path))
        assert DANGEROUS not in page
        assert "&lt;script&gt;" in page


def test_what_was_said_stands_in_the_page_with_the_place_where_the_stream_goes_on() -> None:
    conversation = said(cast.order_5531(), "耳機沒聲音\n<b>真的</b>")
    page = text_of(signed_in("ming").get("/orders/5531/"))
    assert "耳機沒聲音<br>&lt;b&gt;真的&lt;/b&gt;" in page
    conversation.refresh_from_db()
    assert f'data-last-event="{conversation.pk}-{conversation.last_event}"' in page


def test_a_card_is_drawn_with_its_amount_its_reasons_and_where_the_money_goes() -> None:
    refund_card(cast.order_5531())
    page = words_of(text_of(signed_in("ming").get("/orders/5531/")))
    assert "NT$230" in page
    assert "不再適用：須滿 NT$1,500，剩下 NT$1,200 −NT$150" in page
    assert "退至 信用卡（末四碼 4242）" in page
    assert "確認退款 NT$230" in page


def test_without_a_script_the_form_of_the_card_redeems_and_the_page_shows_it() -> None:
    card = refund_card(cast.order_5531())
    browser = signed_in("ming", enforce_csrf_checks=True)
    page = text_of(browser.get("/orders/5531/"))
    assert f'action="/refunds/quotes/{card.quote_id}/confirm/"' in page
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert found
    answer = browser.post(f"/refunds/quotes/{card.quote_id}/confirm/", {"csrfmiddlewaretoken": found[1]}, follow=True)
    assert answer.request["PATH_INFO"] == "/orders/5531/"
    assert Refund.objects.get().amount == 230
    assert Refund.objects.get().pk in text_of(answer)


def test_a_press_without_the_forms_token_is_refused_with_a_page_that_says_what_to_do() -> None:
    card = exchange_card(cast.order_5531())
    browser = signed_in("ming", enforce_csrf_checks=True)
    answer = browser.post(f"/orders/5531/chat/cards/{card.pk}/confirm/")
    assert answer.status_code == 403
    assert "這個表單已失效" in text_of(answer)
    assert not Return.objects.exists()


def test_pressing_the_exchange_makes_one_return_however_often() -> None:
    card = exchange_card(cast.order_5531())
    browser = signed_in("ming")
    path = f"/orders/5531/chat/cards/{card.pk}/confirm/"
    first, second = browser.post(path, headers=JSON), browser.post(path, headers=JSON)
    made = Return.objects.get()
    assert first.json()["return"]["return_id"] == second.json()["return"]["return_id"] == made.pk
    card.refresh_from_db()
    assert card.state == CardState.CONFIRMED
    page = words_of(text_of(browser.get("/orders/5531/")))
    assert "換貨中" in page
    assert "您已確認" in page


def test_declining_the_exchange_moves_nothing_and_it_cannot_be_confirmed_afterwards() -> None:
    card = exchange_card(cast.order_5531())
    browser = signed_in("ming")
    assert browser.post(f"/orders/5531/chat/cards/{card.pk}/decline/").status_code == 302
    answer = browser.post(f"/orders/5531/chat/cards/{card.pk}/confirm/", headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (409, "card_closed")
    assert not Return.objects.exists()


def test_a_confirmed_exchange_cannot_be_declined() -> None:
    card = exchange_card(cast.order_5531())
    browser = signed_in("ming")
    browser.post(f"/orders/5531/chat/cards/{card.pk}/confirm/")
    answer = browser.post(f"/orders/5531/chat/cards/{card.pk}/decline/", headers=JSON)
    assert answer.status_code == 409
    assert Return.objects.count() == 1


def test_an_expired_exchange_is_refused_in_words_and_nothing_moves() -> None:
    card = exchange_card(cast.order_5531(), minutes=-1)
    answer = signed_in("ming").post(f"/orders/5531/chat/cards/{card.pk}/confirm/", follow=True)
    assert "這張確認卡已無法確認" in text_of(answer)
    assert not Return.objects.exists()


def test_goods_that_moved_under_the_card_are_not_exchanged_and_the_card_says_so() -> None:
    card = exchange_card(cast.order_5531())
    cast.delivered_days_ago(card.conversation.order, 9)
    answer = signed_in("ming").post(f"/orders/5531/chat/cards/{card.pk}/confirm/", headers=JSON)
    assert answer.status_code in {400, 409}
    assert answer.json()["message"]
    assert Card.objects.get().state == CardState.WITHDRAWN
    assert not Return.objects.exists()


@pytest.mark.parametrize("button", ["confirm", "decline"])
def test_who_is_nobody_any_more_presses_no_card_and_is_told_so(button: str) -> None:
    card = exchange_card(cast.order_5531())
    path = f"/orders/5531/chat/cards/{card.pk}/{button}/"
    answer = stranger().post(path, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (401, "signed_out")
    page = stranger().post(path, headers={"Referer": "http://testserver/orders/5531/"})
    assert page["Location"] == "/accounts/login/?next=/orders/5531/"
    card.refresh_from_db()
    assert card.state == CardState.OPEN


@pytest.mark.parametrize(
    ("text", "again"), [("x" * 2001, "x" * 2001), ("耳機\x07沒聲音", "耳機沒聲音"), ("太多了", "太多了")]
)
def test_without_a_script_refused_words_stand_in_the_field_once(text: str, again: str, settings: Settings) -> None:
    settings.CHAT_MESSAGES_PER_MINUTE = 1
    said(cast.order_5531())
    cast.place("7001")
    browser = signed_in("ming")
    browser.post("/orders/5531/chat/messages/", {"text": text})
    assert f">{again}</textarea>" not in text_of(browser.get("/orders/7001/"))
    assert f">{again}</textarea>" in text_of(browser.get("/orders/5531/"))
    assert 'maxlength="2000"' in text_of(browser.get("/orders/5531/"))
    assert "></textarea>" in text_of(browser.get("/orders/5531/"))


def test_what_is_written_after_a_link_has_ended_stands_in_the_field_once_it_is_opened_again() -> None:
    order = cast.place("8003", who="mei")
    (path, link), (another, _) = (issue_link(order=order, actor=cast.staff()) for _ in range(2))
    browser = stranger()
    browser.get(path)
    revoke_link(link=link, actor=cast.staff())
    browser.post("/orders/8003/chat/messages/", {"text": "還在嗎？"})
    assert ">還在嗎？</textarea>" in text_of(browser.get(another, follow=True))


def test_what_was_said_on_another_day_says_on_which() -> None:
    event = said(cast.order_5531()).events.get(kind="message")
    at = timezone.localtime()
    assert f">{at:%H:%M}</time>" in text_of(signed_in("ming").get("/orders/5531/"))
    at -= timedelta(days=1)
    event.data = {**event.data, "at": at.isoformat()}
    event.save(update_fields=["data"])
    assert f"{at.month}月{at.day}日 {at:%H:%M}</time>" in text_of(signed_in("ming").get("/orders/5531/"))


@pytest.mark.parametrize("button", ["confirm", "decline"])
def test_cards_are_pressed_by_post_alone(button: str) -> None:
    card = exchange_card(cast.order_5531())
    assert signed_in("ming").get(f"/orders/5531/chat/cards/{card.pk}/{button}/").status_code == 405


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (CardState.CONFIRMED, "您已確認"),
        (CardState.DECLINED, "您選擇先不要"),
        (CardState.EXPIRED, "已過期，沒有任何更動"),
        (CardState.WITHDRAWN, "這張卡已作廢"),
    ],
)
def test_a_card_that_is_over_says_how_and_has_no_buttons(state: CardState, words: str) -> None:
    card = refund_card(cast.order_5531())
    event = card.conversation.events.get(kind="card")
    event.data = {**event.data, "state": state}
    event.save(update_fields=["data"])
    page = text_of(signed_in("ming").get("/orders/5531/"))
    drawn = page[page.index(f'data-card="{card.pk}"') :].split("</article>")[0]
    shown = re.findall(r'<(?:p|div|span)[^>]*data-when="(\w+)"(?! hidden)[^>]*?(?<!hidden)>', drawn)
    assert set(shown) == {state}
    assert words in drawn


def test_the_part_beside_the_chat_can_be_fetched_alone() -> None:
    cast.order_5531()
    part = text_of(signed_in("ming").get("/orders/5531/side/"))
    assert "耳機殼" in part
    assert "<html" not in part


def test_a_number_with_a_hash_is_escaped_wherever_it_is_linked() -> None:
    cast.place("A#7_1-x")
    browser = signed_in("ming")
    assert 'href="/orders/A%237_1-x/"' in text_of(browser.get("/orders/"))
    page = text_of(browser.get("/orders/A%237_1-x/"))
    assert 'data-messages="/orders/A%237_1-x/chat/messages/"' in page


def test_a_customer_with_a_link_sees_that_order_and_no_other() -> None:
    order = cast.place("8001", who="mei")
    cast.place("8002", who="mei")
    answer = signed_in("staff").post("/staff/orders/8001/customer-link/")
    found = re.search(r'value="http://testserver(/l/[^"]+)"', text_of(answer))
    assert found
    browser = stranger()
    assert browser.get(found[1], follow=True).request["PATH_INFO"] == "/orders/8001/"
    assert browser.get("/", follow=True).request["PATH_INFO"] == "/orders/"
    assert browser.get("/orders/8002/").status_code == 404
    link = order.customer_links.get()
    signed_in("staff").post(f"/staff/orders/8001/customer-link/{link.pk}/revoke/")
    assert browser.get("/orders/8001/").status_code == 302
    assert "這個連結已失效" in text_of(browser.get(found[1]))


def test_the_page_speaks_english_too() -> None:
    cast.order_5531()
    page = words_of(text_of(signed_in("ming", language="en").get("/orders/5531/")))
    assert "Not sent yet Can still be cancelled." in page
    assert not re.search(
        r"[一-鿿]{2,}",
        page.replace("藍牙耳機", "")
        .replace("耳機殼", "")
        .replace("王小明", "")
        .replace("好聲音", "")
        .replace("折", "")
        .replace("繁體中文", ""),
    )


def test_the_list_says_how_each_order_stands() -> None:
    cancelled = cast.place("7003", lines=[("襪子", 100, 2)])
    LineItem.objects.filter(order=cancelled).update(cancelled_quantity=2)
    coming_back = cast.place("7004", lines=[("襪子", 100, 2)], shipments=[shipment_body({1: 2})])
    ShipmentLine.objects.filter(shipment__order=coming_back).update(returning_quantity=1)
    refunded = cast.place("7005", lines=[("襪子", 100, 2)], shipments=[shipment_body({1: 2})])
    ShipmentLine.objects.filter(shipment__order=refunded).update(refunded_quantity=2)
    page = words_of(text_of(signed_in("ming").get("/orders/")))
    assert "訂單 7003 已取消" in page
    assert "訂單 7004 退換貨處理中" in page
    assert "訂單 7005 已辦理退款" in page


def test_goods_are_not_called_refunded_before_their_money_is() -> None:
    order = cast.place("7006", lines=[("家庭劇院", 25000, 1)], shipments=[shipment_body({1: 1})])
    returned(order, (1, 1, "changed_mind"))
    refund = Refund.objects.get()
    mings = signed_in("ming")
    for state, word in (("pending_approval", "等待核准"), ("pending", "退款處理中"), ("failed", "退款處理中")):
        Refund.objects.filter(pk=refund.pk).update(state=state)
        assert f"{word} {short_day(refund.created_at)}申請，退款編號 {refund.pk}" in words_of(
            text_of(mings.get("/orders/7006/"))
        )
    Refund.objects.filter(pk=refund.pk).update(state="succeeded")
    assert f"已退款 {short_day(refund.created_at)}退款" in words_of(text_of(mings.get("/orders/7006/")))


def test_an_order_whose_refund_waits_for_a_second_person_is_not_called_cancelled_in_a_list() -> None:
    order = cast.place("7009", lines=[("家庭劇院", 25000, 1)])
    redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    lists = [("ming", "/orders/"), ("staff", "/staff/orders/")]
    for name, address in lists:
        assert re.search(r"7009.* 等待核准", words_of(text_of(signed_in(name).get(address))))
    approve(refund_id=Refund.objects.get().pk, actor=cast.staff("supervisor"))
    for name, address in lists:
        assert re.search(r"7009.* 已取消", words_of(text_of(signed_in(name).get(address))))


@pytest.mark.parametrize(
    ("faults", "said"),
    [(["defective", "wrong_item"], "前可退換貨，僅限：商品瑕疵、寄錯商品"), ([], "這類商品不接受退換貨")],
)
def test_of_goods_that_are_not_taken_back_no_return_is_promised_but_for_the_shops_fault(
    faults: list[str], said: str
) -> None:
    published_long_ago(excluded_categories=["hygiene"], shop_fault_reasons=faults)
    order = cast.place("7010", lines=[line_body(1, "牙刷", 90, category="hygiene")], shipments=[shipment_body({1: 1})])
    for name, address in (("ming", f"/orders/{order.number}/"), ("staff", f"/staff/orders/{order.number}/")):
        page = text_of(signed_in(name).get(address))
        assert said in page
        assert "前可退換貨。" not in page


def test_a_refund_of_which_one_payment_has_refused_its_part_says_which_one_was_paid() -> None:
    payments = [payment_body(300), payment_body(200, external_id="p2", last4="1881")]
    order = cast.place("7011", lines=[("襪子", 500, 1)], payments=payments)
    refund = pending_refund(order, (1, 1, "changed_mind"))
    Refund.objects.filter(pk=refund.pk).update(state="failed")
    for part, state in zip(refund.allocations.order_by("position"), ("succeeded", "failed"), strict=True):
        RefundAllocation.objects.filter(pk=part.pk).update(state=state)
    page = words_of(text_of(signed_in("ming").get("/orders/7011/")))
    labels = [to["label"] for to in refund_as_dict(Refund.objects.get())["to"]]
    amounts = [to["display"] for to in refund_as_dict(Refund.objects.get())["to"]]
    assert f"{labels[0]} {amounts[0]} · 已退款" in page
    assert f"{labels[1]} {amounts[1]} · 遭拒絕" in page


def test_goods_that_were_not_accepted_go_back_to_you_and_no_amount_stands_beside_them() -> None:
    order = cast.place("7012", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    back = received_return(order, (1, 1, "changed_mind"), found={"li_1": {"damaged": 1}})
    reject(return_id=back.pk, actor=cast.staff("warehouse"), note="穿過了")
    page = text_of(signed_in("ming").get("/orders/7012/"))
    told = page[page.index('id="back-title"') : page.index('id="order-price"')]
    assert "驗收未通過，商品將寄還給您" in told
    assert "商品有損壞" in told
    assert "NT$" not in told
    assert "顧客" not in told


def test_what_to_do_with_goods_that_go_back_depends_on_how_they_came() -> None:
    for number, shipping, way in (("7007", PICKUP, "交到原取貨門市"), ("7008", FREE_DELIVERY, "寄回商店")):
        order = cast.place(number, lines=[("襪子", 500, 1)], shipping=shipping, shipments=[shipment_body({1: 1})])
        return_of(order)
        assert way in text_of(signed_in("ming").get(f"/orders/{number}/"))


def test_where_goods_are_sent_stands_in_the_instructions_and_on_the_slip(settings: Settings) -> None:
    settings.RETURN_ADDRESS = "106 台北市大安區示範路 2 號 <退貨組>"
    order = cast.place("7009", lines=[("襪子", 500, 1)], shipping=FREE_DELIVERY, shipments=[shipment_body({1: 1})])
    back = return_of(order)
    for page in ("/orders/7009/", f"/orders/7009/returns/{back.pk}/slip/"):
        assert "寄至：106 台北市大安區示範路 2 號 &lt;退貨組&gt;。" in text_of(signed_in("ming").get(page)), page
