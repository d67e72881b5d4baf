"""Orders at the staff's desk by keyboard: found, narrowed, walked, opened, and their other ways over the page."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from orders.tests.factories import line_body
from tests.browser.orders_for_tests import another_5531, order_of_ming
from tests.browser.test_accessible import check, confirm
from tests.browser.test_accessible_further import today
from tests.browser.visit import Visit
from tests.stack import Visitor, rows, wait_until

Open = Callable[..., Visit]


def test_an_order_is_found_narrowed_and_opened_by_keyboard_alone(visit: Open, stack: Stack) -> None:
    for number in ("desk-keys-1", "desk-keys-2"):
        another_5531(stack, number)
    staff = visit("staff")
    page = staff.page
    page.goto("/staff/orders/")
    page.keyboard.press("?")
    staff.sees(page.locator("#keys[open]"))
    check(staff)
    page.keyboard.press("Escape")
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
    page.locator("#quote-note").fill("顧客來電")
    page.get_by_label("耳機殼 CASE").uncheck()
    expect(page.locator("#quote-note")).to_be_hidden()
    page.get_by_label("耳機殼 CASE").check()
    expect(page.locator("#quote-note")).to_be_visible()
    expect(page.locator("#quote-note")).to_have_value("顧客來電")
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


def test_refunds_on_their_way_wait_for_whoever_is_among_them_and_move_beneath_a_dialog(
    visit: Open, stack: Stack
) -> None:
    lines = [line_body(1, "毛巾", 450), line_body(2, "浴巾", 900)]
    number = order_of_ming(stack, "desk-moving", lines=lines)
    with Visitor(stack, "supervisor") as colleague:
        payment = no_answer_about(stack, number)
        booked = {"external_ref": "desk-moving", "amount": "100", "payment_id": payment, "for": "none", "note": "退現"}
        colleague.post(f"/staff/orders/{number}/refund-elsewhere/", booked | {"at": today(stack)})
        confirm(colleague, number, "li_2")
    wait_until(lambda: states(stack, number) == {"succeeded", "unknown"})
    staff = visit("supervisor")
    page = staff.page
    page.clock.install()
    page.goto(f"/staff/orders/{number}/")
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/refunds/") else None)
    link = page.locator("#refunds a[data-dialog][href*='/undo/']")
    link.focus()
    page.clock.run_for(9_000)
    assert (page.evaluate("1"), asked) == (1, []), "whoever is among them keeps their place"
    page.keyboard.press("Enter")
    note = page.locator("dialog[open] textarea")
    note.fill("改退到另一張卡")
    page.evaluate("document.getElementById('refunds').dataset.old = '1'")
    with page.expect_response("**/refunds/"):
        page.clock.run_for(3_000)
    expect(page.locator("#refunds[data-old]")).to_have_count(0)
    expect(note).to_have_value("改退到另一張卡")
    page.keyboard.press("Escape")
    expect(link).to_be_focused()
    assert staff.problems == []


def no_answer_about(stack: Stack, number: str) -> str:
    """The number of the order's payment, about whose refund the provider says nothing."""
    of_it = "from orders_payment p join orders_order o on o.id = p.order_id where o.number = %s"
    fault = "insert into refunds_simulatedfault (kind, remaining, seconds, charge_ref)"
    one = f"{fault} select 'timeout_before', 9, 0, p.id {of_it}"
    return str(rows(stack, f"{one} returning charge_ref", number)[0]["charge_ref"])


def states(stack: Stack, number: str) -> set[str]:
    found = "select r.state from refunds_refund r join orders_order o on o.id = r.order_id where o.number = %s"
    return {str(row["state"]) for row in rows(stack, found, number)}
