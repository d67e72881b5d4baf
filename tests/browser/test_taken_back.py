"""A refund taken back because the customer wrote something else is had again by one button, for the same goods."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import check
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import paid_out
from tests.stack import wait_until

Open = Callable[..., Visit]


def test_a_refund_taken_back_by_another_question_is_worked_out_again_for_the_same_goods(
    visit: Open, stack: Stack
) -> None:
    number = another_5531(stack, "taken-back")
    ming = visit("ming", device="phone")
    ming.open_order(number)
    ming.write("耳機殼不要了，想取消")
    ming.sees(ming.card("refund"))
    ming.write("請問你們有藍色的滑鼠嗎？")
    over = ming.sees(ming.card("refund", "declined"))
    expect(over.get_by_role("button")).to_have_text(["重新試算"])
    ming.sees(ming.said_by("agent").filter(has_text="找不到符合的商品"))
    check(ming)
    ming.page.reload()
    over.scroll_into_view_if_needed()
    ming.shoot("40-taken-back")
    ming.press(over, "重新試算")
    ming.sees(ming.said_by("customer").filter(has_text="請重新試算退款：耳機殼 × 1（改變心意）。"))
    again = ming.sees(ming.card("refund"))
    assert paid_out(stack, number) == []
    ming.press(again, "確認退款 NT$230")
    wait_until(lambda: paid_out(stack, number) == [230])
    expect(ming.card("refund", "confirmed")).to_be_visible(timeout=WAIT)
    assert ming.problems == []
