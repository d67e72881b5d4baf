"""Staff and conversations: the queue, what the agent did, stepping in and handing back."""

import re

import pytest
from django.utils import timezone

from agent import events, turns
from agent.models import Conversation, Turn
from agent.states import Author, CardState, TurnState
from agent.tests.helpers import asked, call, hear, newest_turn, talk, texts
from agent.tools.executor import tell_work
from orders.tests import cast
from tests.pages.visiting import refund_card, said, signed_in, text_of

pytestmark = pytest.mark.django_db


def queue(state: str) -> str:
    return text_of(signed_in("staff").get("/staff/", {"state": state}))


def test_a_conversation_stands_in_the_tab_of_who_has_to_do_something() -> None:
    conversation = said(cast.order_5531(), "耳機沒聲音")
    link = f'href="/staff/conversations/{conversation.pk}/"'
    assert link in queue("working")
    Turn.objects.update(state=TurnState.WAITING)
    assert link in queue("waiting")
    Turn.objects.update(state=TurnState.DONE)
    assert link in queue("done")
    Conversation.objects.update(needs_person=True, waiting_since=timezone.now())
    assert link in queue("needs_person")
    assert link in queue("no-such-tab")
    assert link not in queue("done")


def test_a_row_shows_who_wrote_what_about_which_order() -> None:
    said(cast.order_5531(), "耳機沒聲音")
    page = queue("working")
    assert "王小明" in page
    assert "訂單 5531" in page
    assert "耳機沒聲音" in page


@pytest.mark.parametrize("state", ["needs_person", "waiting", "working", "done"])
def test_an_empty_tab_says_what_would_be_there(state: str) -> None:
    assert "會出現在這裡" in queue(state)


def test_the_conversation_shows_each_tool_call_with_what_was_asked_and_answered() -> None:
    order = cast.order_5531()
    hear(order, "耳機沒聲音", language="zh-hant")
    (tool_call,) = asked(order, call("quote_refund", lines=[]), text="我來看看")
    tool_call.state, tool_call.result = "answered", {"code": "invalid_argument", "message": "沒有商品"}
    tool_call.is_error = True
    tool_call.save()
    with events.writing(talk(order).pk) as locked:
        tell_work(locked, tool_call, "failed")
    page = text_of(signed_in("staff").get(f"/staff/conversations/{talk(order).pk}/"))
    assert "quote_refund" in page
    assert "&quot;lines&quot;: []" in page
    assert "沒有商品" in page
    assert "遭拒絕" in page


def test_the_customers_language_has_its_own_name() -> None:
    conversation = said(cast.order_5531())
    page = text_of(signed_in("staff", language="en").get(f"/staff/conversations/{conversation.pk}/"))
    assert '<dd lang="zh-hant">繁體中文</dd>' in page


def test_taking_over_answering_giving_back_and_closing() -> None:
    order = cast.order_5531()
    conversation = said(order, "我想找真人")
    staff = signed_in("staff")
    base = f"/staff/conversations/{conversation.pk}/"

    assert "現在由您回覆" in text_of(staff.post(f"{base}take-over/", follow=True))
    staff.post(f"{base}reply/", {"text": "您好，**我**是客服"})
    customer = text_of(signed_in("ming").get("/orders/5531/"))
    assert "您好，<strong>我</strong>是客服" in customer
    assert "為您服務" in customer

    staff.post(f"{base}give-back/")
    conversation.refresh_from_db()
    assert conversation.owner is None
    staff.post(f"{base}close/")
    assert "隨時可以再留言" in text_of(signed_in("ming").get("/orders/5531/"))
    assert "這個對話已結束" in text_of(staff.post(f"{base}reply/", {"text": "還在嗎"}, follow=True))


def test_a_colleague_is_told_who_is_answering() -> None:
    conversation = said(cast.order_5531())
    signed_in("staff").post(f"/staff/conversations/{conversation.pk}/take-over/")
    answer = signed_in("supervisor").post(f"/staff/conversations/{conversation.pk}/take-over/", follow=True)
    assert "已經在回覆這個對話" in text_of(answer)


def test_a_colleague_reads_who_answers_and_can_take_it_from_them_alone() -> None:
    conversation = said(cast.order_5531())
    base = f"/staff/conversations/{conversation.pk}/"
    signed_in("staff").post(f"{base}take-over/")
    supervisor = signed_in("supervisor", language="en")
    page = text_of(supervisor.get(base))
    assert "Take over from staff" in page
    assert f'name="from" value="{cast.staff_user().pk}"' in page
    assert [f'action="{base}{button}/"' in page for button in ("take-over", "give-back", "close", "reply")] == [
        *(True, False, False, False)
    ]
    supervisor.post(f"{base}take-over/", {"from": cast.staff_user().pk})
    conversation.refresh_from_db()
    assert conversation.owner == cast.staff_user("supervisor")
    answer = signed_in("staff", language="en").post(f"{base}close/", follow=True)
    assert "supervisor is already answering this conversation." in text_of(answer)


def test_news_bring_the_form_of_whoever_answers_now() -> None:
    conversation = said(cast.order_5531())
    base = f"/staff/conversations/{conversation.pk}/"
    supervisor = signed_in("supervisor", language="en")

    def news() -> str:
        return text_of(supervisor.get(f"{base}log/"))

    assert f'action="{base}reply/"' in news()
    signed_in("staff").post(f"{base}take-over/")
    assert f'action="{base}reply/"' not in news()
    assert "staff is answering here." in news()
    signed_in("staff").post(f"{base}close/")
    assert "This conversation is closed." in news()


def test_an_answer_that_came_too_late_is_shown_on_the_page_whatever_another_tab_fetches_meanwhile() -> None:
    conversation = said(cast.order_5531())
    base = f"/staff/conversations/{conversation.pk}/"
    signed_in("staff").post(f"{base}take-over/")
    supervisor = signed_in("supervisor", language="en")
    supervisor.post(f"{base}reply/", {"text": "I am looking."})
    assert "I am looking." not in text_of(supervisor.get(f"{base}log/"))
    page = text_of(supervisor.get(base))
    assert '<textarea id="unsent" readonly>I am looking.</textarea>' in page


def test_two_clicks_on_send_are_one_answer_and_the_next_page_sends_another() -> None:
    order = cast.order_5531()
    base = f"/staff/conversations/{said(order).pk}/"
    staff = signed_in("staff")

    def form() -> dict[str, str]:
        (token,) = set(re.findall('name="token" value="([^"]+)"', text_of(staff.get(base))))
        return {"text": "您好", "token": token}

    pressed = form()
    for fields in (pressed, pressed, form()):
        assert "已送出" in text_of(staff.post(f"{base}reply/", fields, follow=True))
    assert texts(order, Author.STAFF) == ["您好"] * 2


def test_an_empty_answer_is_refused_in_words() -> None:
    conversation = said(cast.order_5531())
    answer = signed_in("staff").post(f"/staff/conversations/{conversation.pk}/reply/", {"text": " "}, follow=True)
    assert "請先輸入內容" in text_of(answer)


def test_closing_withdraws_the_open_card_and_the_customer_reads_that() -> None:
    card = refund_card(cast.order_5531())
    signed_in("staff").post(f"/staff/conversations/{card.conversation_id}/close/")
    card.refresh_from_db()
    assert card.state == CardState.WITHDRAWN


def test_the_log_is_sent_again_only_when_something_is_new() -> None:
    order = cast.order_5531()
    conversation = said(order)
    conversation.refresh_from_db()
    staff = signed_in("staff")
    log = f"/staff/conversations/{conversation.pk}/log/"
    assert staff.get(log, {"after": conversation.last_event}).status_code == 204
    hear(order, "還有一件事", language="zh-hant")
    answer = staff.get(log, {"after": conversation.last_event})
    assert "還有一件事" in text_of(answer)


def test_a_failed_turn_offers_the_customer_another_try_and_a_person() -> None:
    order = cast.order_5531()
    conversation = said(order)
    turn = newest_turn(order)
    with events.writing(conversation.pk) as locked:
        turns.move(locked, turn, TurnState.QUEUED, TurnState.RUNNING)
        turns.move(locked, turn, TurnState.RUNNING, TurnState.FAILED)
    browser = signed_in("ming")
    page = text_of(browser.get("/orders/5531/"))
    assert 'data-slot="failed" >' in page
    assert browser.post("/orders/5531/chat/retry/").status_code == 302
    assert newest_turn(order).state == TurnState.QUEUED
    browser.post("/orders/5531/chat/person/")
    assert "已請真人客服加入" in text_of(browser.get("/orders/5531/"))


def test_an_answer_that_is_too_long_stands_in_its_field_again() -> None:
    conversation = said(cast.order_5531())
    too_long = "長" * 4001
    path = f"/staff/conversations/{conversation.pk}/reply/"
    page = text_of(signed_in("staff").post(path, {"text": too_long}, follow=True))
    assert f">{too_long}</textarea>" in page
