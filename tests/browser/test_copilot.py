"""Beside a conversation: the copilot is asked, its draft comes by itself, and is put into the answer by hand."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_people import conversation_of
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import say
from tests.stack import Visitor


def test_a_draft_comes_by_itself_and_is_put_into_the_answer(visit: Callable[..., Visit], stack: Stack) -> None:
    number = another_5531(stack, "5531-copilot")
    with Visitor(stack, "ming") as ming:
        say(ming, number, "你好")
    staff = visit("staff")
    conversation_of(staff, number)
    staff.sees(staff.page.locator(".talk-line[data-author=agent]"))
    staff.page.locator("#copilot-text").fill("請幫我擬一份回覆草稿")
    staff.page.get_by_role("button", name="詢問 AI 助理").click()
    draft = staff.sees(staff.page.locator(".copilot-draft"))
    expect(draft).to_contain_text(number)
    staff.sees(staff.page.locator("#copilot").get_by_text("還沒有送出"))
    draft.get_by_role("link").click()
    expect(staff.page.locator("#reply")).to_have_value(draft.locator(".said").inner_text(), timeout=WAIT)
    assert staff.page.locator(".talk-scroll .talk-line[data-author=staff]").count() == 0
    staff.shoot("60-copilot-beside-a-conversation")
    assert staff.problems == []
