"""The copilot's pages: asked and read without a script, one's own threads alone, and a draft that a person sends."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agent.copilot import drafts, threads
from agent.models import CopilotDraft, CopilotThread, Message
from agent.offline.control import Control
from agent.tests.conftest import model, stand_in  # noqa: F401  (fixtures)
from agent.tests.copilot_desk import answered, asked, bought
from agent.tests.helpers import hear, talk
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import ago
from tests.pages.visiting import said, signed_in, text_of

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "Did c-ming pay twice in the last two weeks?"


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    said(order, "耳機沒聲音")
    return order


def staff(name: str = "staff") -> Client:
    return signed_in(name, language="en")


def drafted(order: Order, text: str = "您好，正在查詢。") -> CopilotDraft:
    conversation = talk(order)
    return drafts.keep(
        conversation=conversation,
        beside=conversation,
        user=cast.staff_user(),
        call_ref=f"copilot:1:{text}",
        text=text,
        read_to=conversation.messages.latest("pk").pk,
    )


def test_it_is_asked_and_read_with_evidence_and_links_and_without_a_script(model: Control) -> None:  # noqa: F811
    bought("7001", 990, ago(days=2))
    bought("7002", 990, ago(days=2, minutes=-10))
    browser = staff()
    asked_it = browser.post("/staff/copilot/ask/", {"text": QUESTION}, follow=True)
    thread = CopilotThread.objects.get()
    assert asked_it.redirect_chain[-1][0] == f"/staff/copilot/{thread.pk}/"
    assert "The copilot is at work" in text_of(asked_it)
    log = f"/staff/copilot/{thread.pk}/log/"
    assert browser.get(log, {"after": thread.version}).status_code == 204
    answered(thread)
    page = text_of(browser.get(f"/staff/copilot/{thread.pk}/"))
    assert "Orders to follow up" in page
    assert 'href="/staff/orders/7001/"' in page
    assert "orders_get_payment_context" in page
    assert not re.search(r'<section id="copilot-log"[^>]*hx-get', page)
    assert QUESTION in text_of(browser.get("/staff/copilot/"))


def test_a_colleagues_thread_does_not_exist_for_others() -> None:
    thread = asked(QUESTION)
    for path in ("", "log/"):
        assert staff("supervisor").get(f"/staff/copilot/{thread.pk}/{path}").status_code == 404
    assert staff("supervisor").post(f"/staff/copilot/{thread.pk}/ask/", {"text": "x"}).status_code == 404
    assert QUESTION not in text_of(staff("supervisor").get("/staff/copilot/"))


def test_an_empty_question_is_refused_and_a_run_that_broke_offers_to_go_on() -> None:
    browser = staff()
    assert "Please write something first." in text_of(browser.post("/staff/copilot/ask/", {"text": " "}, follow=True))
    thread = asked(QUESTION)
    CopilotThread.objects.update(state="failed", error="other")
    page = text_of(browser.get(f"/staff/copilot/{thread.pk}/"))
    assert "Nothing is lost: try again." in page
    browser.post(f"/staff/copilot/{thread.pk}/again/")
    thread.refresh_from_db()
    assert threads.is_at_work(thread)


def test_the_list_asks_as_often_for_many_threads_as_for_few() -> None:
    browser = staff()
    counted = []
    for _ in range(2):
        for _ in range(4):
            asked(QUESTION)
        browser.get("/staff/copilot/")
        with CaptureQueriesContext(connection) as queries:
            browser.get("/staff/copilot/")
        counted.append(len(queries))
    assert counted[0] == counted[1]


def test_beside_a_conversation_it_is_asked_and_a_draft_is_put_into_the_field_and_not_sent(order: Order) -> None:
    browser = staff()
    path = f"/staff/conversations/{talk(order).pk}/"
    answer = browser.post("/staff/copilot/ask/", {"text": "Draft an answer", "conversation": talk(order).pk})
    assert answer["Location"] == f"{path}#copilot"
    assert CopilotThread.objects.get().conversation == talk(order)
    draft = drafted(order)
    page = text_of(browser.get(path))
    assert "Draft an answer" in page
    assert f'data-insert="{draft.text}"' in page
    field = re.search(r'<textarea id="reply".*?</textarea>', text_of(browser.get(path, {"draft": draft.pk})))
    assert field
    assert draft.text in field[0]
    assert not Message.objects.filter(author="staff").exists()


def test_a_draft_is_gone_once_the_conversation_has_moved_on_and_is_no_colleagues(order: Order) -> None:
    draft = drafted(order)
    path = f"/staff/conversations/{talk(order).pk}/"
    assert draft.text not in text_of(staff("supervisor").get(path, {"draft": draft.pk}))
    hear(order, "算了")
    page = text_of(staff().get(path, {"draft": draft.pk}))
    assert draft.text not in page
    assert draft.text not in text_of(staff().get(f"{path}copilot/"))
