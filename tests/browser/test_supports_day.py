"""Support's day: from the inbox to the customer's press and a conversation that is over; and money without a mouse."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import check, grave
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import paid_out
from tests.stack import rows, wait_until

Open = Callable[..., Visit]


def test_from_the_inbox_to_the_customers_press_and_a_closed_conversation(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "day-support")
    ming = visit("ming", device="phone")
    ming.open_order(number)
    ming.page.locator(".chat-person button").click()
    ming.sees(ming.page.locator("[data-slot=person]:visible"))

    staff = visit("staff")
    page = staff.page
    page.goto("/staff/?state=needs_person")
    page.locator(".queue-row").filter(has_text=number).click()
    page.get_by_role("button", name="接手").click()
    page.locator("#reply").fill("您好，耳機殼還沒寄出，可以先退這一件。")
    page.get_by_role("button", name="送出").click()
    ming.sees(ming.said_by("staff"))
    expect(page.locator(".toast").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0, "only its panes scroll"
    assert page.locator(".panes").evaluate("(panes) => innerHeight - panes.getBoundingClientRect().bottom") == 0

    page.locator("#offer summary").first.click()
    page.locator("#offer").get_by_role("checkbox", name="耳機殼").check()
    staff.sees(page.locator("#offer-quote [data-amount='230']"))
    page.get_by_role("button", name="放到顧客頁面").click()
    card = ming.sees(ming.card("refund"))
    assert paid_out(stack, number) == []
    ming.press(card, "確認退款 NT$230")
    wait_until(lambda: paid_out(stack, number) == [230])
    expect(page.locator(".talk-card .badge.tone-good")).to_be_visible(timeout=WAIT)

    page.get_by_role("button", name="結束對話").click()
    ming.sees(ming.page.locator("[data-slot=closed]:visible"))
    assert grave(ming.page) == set()
    page.goto("/staff/?state=done")
    expect(page.locator(".queue-row").filter(has_text=number)).to_be_visible()
    assert staff.problems == ming.problems == []


def test_a_refund_is_confirmed_and_a_compensation_proposed_without_a_mouse(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "day-keys")
    staff = visit("staff")
    page, keys = staff.page, staff.page.keyboard
    page.goto(f"/staff/orders/{number}/")
    staff.tab_to(page.get_by_label("耳機殼 CASE"))
    keys.press("Space")
    staff.sees(page.locator("[data-quote]"))
    staff.tab_to(page.locator("#quote-note"))
    keys.type("顧客來電要求取消")
    staff.tab_to(page.get_by_role("button", name="確認退款 NT$230"))
    keys.press("Enter")
    wait_until(lambda: paid_out(stack, number) == [230])

    link = page.get_by_role("link", name="提出補償")
    staff.tab_to(link)
    keys.press("Enter")
    dialog = staff.sees(page.locator("dialog[open]"))
    expect(dialog.get_by_role("button", name="關閉")).to_be_visible()
    expect(dialog.locator("#amount")).to_be_focused()
    page.mouse.click(5, 5)
    expect(page.locator("dialog[open]")).to_have_count(0)
    keys.press("Enter")
    expect(dialog.locator("#amount")).to_be_focused()
    keys.type("12")
    check(staff)
    page.mouse.click(5, 5)
    expect(dialog).to_be_visible()
    keys.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(link).to_be_focused()
    keys.press("Enter")
    expect(dialog.locator("#amount")).to_have_value("12")
    keys.press("End")
    keys.type("0")
    keys.press("Tab")
    keys.type("配送延遲致歉")
    staff.tab_to(dialog.get_by_role("button", name="提出"))
    keys.press("Enter")
    expect(page.locator("section", has=page.locator("#approvals-title"))).to_contain_text("配送延遲致歉")
    staff.sees(page.locator(".toast").filter(has_text="NT$120"))
    asked = "select a.amount from refunds_approval a join orders_order o on o.id = a.order_id where o.number = %s"
    assert rows(stack, asked, number) == [{"amount": 120}]
    assert staff.problems == []
