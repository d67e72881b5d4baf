"""Beside the talk: notes, whose job it is, who looks and has read, ready-made answers, and a refund that is offered."""

import re

import pytest
from django.test import Client

from agent import canned, notes, presence
from agent.models import Card, Conversation, ReadMark, StaffNote
from agent.states import Author, CardState
from agent.stream import Position
from agent.tests.helpers import hear, talk, texts
from orders.models import Order
from orders.tests import cast
from refunds.models import Refund, RefundQuote
from tests.pages.visiting import said, signed_in, text_of

pytestmark = pytest.mark.django_db
CASE = {"pick": "li_2.cancel", "quantity.li_2.cancel": "1", "reason.li_2.cancel": "changed_mind"}
TOKEN = "a-token-of-the-page"


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    said(order, "耳機沒聲音")
    return order


def path(order: Order, what: str = "") -> str:
    return f"/staff/conversations/{talk(order).pk}/{what}"


def english(role: str = "staff") -> Client:
    return signed_in(role, language="en")


def shown(browser: Client, order: Order) -> str:
    return text_of(browser.get(path(order)))


# --- notes ---
def test_a_note_stands_between_what_was_said_and_only_staff_see_it(order: Order) -> None:
    staff = english()
    answer = staff.post(path(order, "note/"), {"text": "老客戶，多給一點時間", "token": TOKEN}, follow=True)
    assert "The customer does not see it." in text_of(answer)
    hear(order, "還有一件事")
    page = shown(english("supervisor"), order)
    assert page.index("耳機沒聲音") < page.index("多給一點時間") < page.index("還有一件事")
    ming = signed_in("ming")
    assert "多給一點時間" not in text_of(ming.get("/orders/5531/"))


def test_two_presses_keep_one_note_and_an_empty_one_is_refused(order: Order) -> None:
    staff = english()
    for _ in range(2):
        staff.post(path(order, "note/"), {"text": "once", "token": TOKEN})
    assert StaffNote.objects.count() == 1
    assert "Please write something first." in text_of(staff.post(path(order, "note/"), {"text": " "}, follow=True))


def test_the_log_comes_again_when_a_colleague_has_written_a_note(order: Order) -> None:
    staff = english()
    version = re.findall(r"log/\?after=([^\"]+)\"", shown(staff, order))[0]
    log = path(order, "log/")
    assert staff.get(log, {"after": version}).status_code == 204
    notes.write(conversation=talk(order), actor=cast.staff("supervisor"), text="look here")
    assert "look here" in text_of(staff.get(log, {"after": version}))


# --- whose job ---
def test_it_is_assigned_by_name_to_oneself_and_to_nobody(order: Order) -> None:
    staff, supervisor = english(), cast.staff_user("supervisor")
    answer = staff.post(path(order, "assign/"), {"to": supervisor.pk}, follow=True)
    assert "It is assigned to supervisor." in text_of(answer)
    assert talk(order).assignee == supervisor
    staff.post(path(order, "assign/"), {"to": cast.staff_user().pk})
    assert talk(order).assignee == cast.staff_user()
    staff.post(path(order, "assign/"), {"to": ""})
    assert talk(order).assignee is None
    for stranger in ("999999", "x", str(cast.customer_user().pk)):
        staff.post(path(order, "assign/"), {"to": stranger})
    assert talk(order).assignee is None


def test_two_who_assign_it_at_once_do_not_overwrite_each_other(order: Order) -> None:
    staff, supervisor = english(), cast.staff_user("supervisor")
    forms = re.findall(r'<form[^>]*assign/">.*?</form>', shown(staff, order), re.DOTALL)
    assert [re.findall(r'name="shown" value="(\w*)"', form) for form in forms] == [[""], [""]]
    supervisor_page = english("supervisor")
    supervisor_page.post(path(order, "assign/"), {"to": supervisor.pk, "shown": ""})
    refused = text_of(staff.post(path(order, "assign/"), {"to": cast.staff_user().pk, "shown": ""}, follow=True))
    assert "A colleague has assigned this conversation to supervisor meanwhile." in refused
    assert talk(order).assignee == supervisor
    assert f'name="shown" value="{supervisor.pk}"' in refused
    staff.post(path(order, "assign/"), {"to": cast.staff_user().pk, "shown": supervisor.pk})
    assert talk(order).assignee == cast.staff_user()


@pytest.mark.parametrize("what", ["assign/", "note/", "quote/", "offer/"])
@pytest.mark.parametrize("role", ["ming", "warehouse", "auditor", "marketing"])
def test_none_of_it_is_for_others(order: Order, what: str, role: str) -> None:
    assert signed_in(role).post(path(order, what), {"text": "x", "to": ""}).status_code == 403


# --- who looks and has read ---
def test_colleagues_see_each_other_looking_and_writing(order: Order) -> None:
    assert "is looking too" not in shown(english(), order)
    assert "staff is looking too" in shown(english("supervisor"), order)
    english("supervisor").get(path(order, "log/"), {"typing": "1"})
    assert "supervisor is writing" in text_of(english().get(path(order, "log/")))


def test_who_has_read_how_far_stands_there(order: Order) -> None:
    english("supervisor").get(path(order))
    hear(order, "還有一件事")
    page = shown(english(), order)
    assert "1 message since" in page
    assert {mark.staff.username for mark in ReadMark.objects.all()} == {"staff", "supervisor"}


def test_when_the_customer_last_looked_stands_there(order: Order) -> None:
    assert "not within a day, as far as is known" in shown(english(), order)
    presence.seen(order.pk, order.customer_id, Position())
    assert "<dd>just now</dd>" in shown(english(), order)


def test_a_page_that_nobody_looks_at_reads_nothing(order: Order) -> None:
    staff = english()
    staff.get(path(order))
    before = ReadMark.objects.get().read_to
    hear(order, "還有一件事")
    staff.get(path(order, "log/"), {"after": "0"})
    assert ReadMark.objects.get().read_to == before
    staff.get(path(order, "log/"), {"after": "0", "seen": "1"})
    assert ReadMark.objects.get().read_to > before


# --- ready-made answers ---
def write_canned(text: str, title: str = "招呼") -> None:
    canned.save(reply=None, actor=cast.staff("supervisor"), title=title, language="zh-hant", text=text)


def test_a_ready_made_answer_is_put_into_the_field_and_not_sent(order: Order) -> None:
    write_canned("{{customer_name}}您好，訂單 {{order_number}}")
    staff = english()
    number = canned.in_use()[0].pk
    assert 'data-insert="王小明您好，訂單 5531"' in shown(staff, order)
    page = text_of(staff.get(path(order), {"insert": number}))
    assert ">王小明您好，訂單 5531</textarea>" in page
    assert texts(order, Author.STAFF) == []


def test_an_answer_with_a_field_left_in_it_is_not_sent_and_stays_in_the_form(order: Order) -> None:
    answer = english().post(path(order, "reply/"), {"text": "退款 {{refund_amount}}"}, follow=True)
    assert "is not filled in" in text_of(answer)
    assert ">退款 {{refund_amount}}</textarea>" in text_of(answer)
    assert texts(order, Author.STAFF) == []


def test_supervisors_write_change_and_retire_them_and_support_reads_them() -> None:
    supervisor = english("supervisor")
    typed = {"title": "招呼", "language": "zh-hant", "text": "您好 {{customer_nmae}}"}
    refused = supervisor.post("/staff/answers/new/", typed)
    assert refused.status_code == 400
    assert "There is no field" in text_of(refused)
    assert "您好 {{customer_nmae}}</textarea>" in text_of(refused)
    supervisor.post("/staff/answers/new/", {**typed, "text": "您好 {{customer_name}}"})
    reply = canned.in_use()[0]
    supervisor.post(f"/staff/answers/{reply.pk}/", {**typed, "text": "嗨"})
    assert "嗨" in text_of(english().get("/staff/answers/"))
    supervisor.post(f"/staff/answers/{reply.pk}/retire/")
    assert "None yet" in text_of(english().get("/staff/answers/"))


def test_two_who_change_one_at_once_see_both_texts_before_one_is_overwritten() -> None:
    write_canned("您好")
    supervisor, reply = english("supervisor"), canned.in_use()[0]
    path_of = f"/staff/answers/{reply.pk}/"

    def version(page: str) -> str:
        return str(re.findall(r'name="version" value="([^"]+)"', page)[0])

    seen = version(text_of(supervisor.get(path_of)))
    canned.save(reply=reply, actor=cast.staff("admin"), title="招呼", language="zh-hant", text="哈囉")
    typed = {"title": "招呼", "language": "zh-hant", "text": "嗨"}
    refused = supervisor.post(path_of, {**typed, "version": seen})
    page = text_of(refused)
    assert (refused.status_code, canned.in_use()[0].text) == (409, "哈囉")
    assert "admin has changed this answer while you were writing." in page
    assert "<p>哈囉</p>" in page
    assert ">嗨</textarea>" in page
    supervisor.post(path_of, {**typed, "version": version(page)})
    assert canned.in_use()[0].text == "嗨"


def test_support_cannot_write_them() -> None:
    assert english().get("/staff/answers/new/").status_code == 403
    assert "/staff/answers/new/" not in text_of(english().get("/staff/answers/"))


# --- a refund that is offered ---
def offered(staff: Client, order: Order) -> str:
    """What the page says after the case of 5531 was ticked and put on the customer's page."""
    box = text_of(staff.post(path(order, "quote/"), {**CASE, "token": TOKEN}, headers={"HX-Request": "true"}))
    assert "NT$230" in box
    (quote,) = set(re.findall(r'name="quote" value="(rq_[^"]+)"', box))
    return text_of(staff.post(path(order, "offer/"), {"quote": quote}, follow=True))


def test_a_quote_is_offered_and_the_customers_press_pays_it(order: Order) -> None:
    staff = english()
    assert "is on the customer&#x27;s page" in offered(staff, order)
    card = Card.objects.get()
    assert talk(order).owner == cast.staff_user()
    customer = text_of(signed_in("ming").get("/orders/5531/"))
    assert "確認退款 NT$230" in customer
    assert signed_in("ming2").post(f"/refunds/quotes/{card.quote_id}/confirm/").status_code == 404
    signed_in("ming").post(f"/refunds/quotes/{card.quote_id}/confirm/")
    assert Refund.objects.get().amount == 230


def test_ticking_other_goods_afterwards_leaves_the_card_where_it_is(order: Order) -> None:
    staff = english()
    offered(staff, order)
    staff.post(path(order, "quote/"), {**CASE, "reason.li_2.cancel": "other", "token": TOKEN})
    assert Card.objects.get().state == CardState.OPEN


def test_without_javascript_the_goods_and_the_amount_stand_on_a_page_of_their_own(order: Order) -> None:
    page = text_of(english().post(path(order, "quote/"), {**CASE, "token": TOKEN}))
    assert "<h1>Offer a refund</h1>" in page
    assert "NT$230" in page


def test_what_only_the_shop_may_say_is_not_among_the_reasons(order: Order) -> None:
    page = shown(english(), order)
    assert "reason.li_2.cancel" in page
    assert 'value="shop_cancelled"' not in page


def test_nothing_ticked_is_no_quote(order: Order) -> None:
    assert "Tick goods" in text_of(english().post(path(order, "quote/"), {"token": TOKEN}))
    assert not RefundQuote.objects.exists()


def test_a_closed_conversation_offers_nothing(order: Order) -> None:
    Conversation.objects.update(state="closed")
    page = shown(english(), order)
    assert "offer-quote" not in page
    assert "data-insert" not in page
