"""Orders at the staff's desk by keyboard: found, narrowed, walked, opened, and their other ways over the page."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import check
from tests.browser.visit import Visit

Open = Callable[..., Visit]


def test_an_order_is_found_narrowed_and_opened_by_keyboard_alone(visit: Open, stack: Stack) -> None:
    for number in ("desk-keys-1", "desk-keys-2"):
        another_5531(stack, number)
    staff = visit("staff")
    page = staff.page
    page.goto("/staff/orders/")
    page.keyboard.press("/")
    page.keyboard.type("desk-keys")
    page.keyboard.press("Enter")
    page.wait_for_url("**/staff/orders/?q=desk-keys*")
    expect(page.locator("[data-row]")).to_have_count(2)
    check(staff)
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.evaluate("document.activeElement.getAttribute('href')")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{second}")
    page.go_back()
    page.get_by_role("link", name="已退款").click()
    page.wait_for_url(re.compile("state=refunded"))
    expect(page.get_by_role("heading", name="找不到符合的訂單")).to_be_visible()
    assert staff.problems == []


def test_what_would_stay_stands_beside_the_quote_and_other_ways_open_over_the_page(visit: Open, stack: Stack) -> None:
    staff = visit("staff")
    page = staff.page
    page.goto(f"/staff/orders/{another_5531(stack, 'desk-ways')}/")
    page.get_by_label("耳機殼 CASE").check()
    quote = staff.sees(page.locator("[data-quote]"))
    expect(quote.locator(".kept")).to_contain_text("藍牙耳機 × 1")
    expect(quote.locator(".kept")).to_contain_text("不再符合")
    link = page.get_by_role("link", name="換貨", exact=True)
    link.focus()
    page.keyboard.press("Enter")
    dialog = staff.sees(page.locator("dialog[open]"))
    expect(dialog.get_by_role("heading", name="換貨")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(link).to_be_focused()
    page.locator("#history label", has_text="包裹").click()
    expect(page.locator("#history li[data-group=money]").first).to_be_hidden()
    expect(page.locator("#history li[data-group=parcels]").first).to_be_visible()
    check(staff)
    assert staff.problems == []
