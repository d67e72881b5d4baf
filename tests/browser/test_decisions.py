"""What staff decide about refunds, alerts, returns, replacements and rules is asked for over the page one is on."""

from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Locator, expect

from backoffice.local.stack import Stack
from tests.browser import decisions_for_tests as decisions
from tests.browser.test_accessible import check
from tests.browser.visit import WAIT, Visit
from tests.stack import rows

Open = Callable[..., Visit]
WORDS = "收單行來電確認"


def opened(visiting: Visit, page: str, address: str) -> Locator:
    """The dialog that the page's link to `address` opens."""
    visiting.page.goto(page)
    visiting.page.locator(f"a[data-dialog][href^='{address}']").first.click()
    dialog = visiting.sees(visiting.page.locator("dialog[open]"))
    assert urlsplit(visiting.page.url).path == urlsplit(page).path
    return dialog


def test_every_decision_about_money_opens_over_the_list(visit: Open, stack: Stack) -> None:
    refused, failed = decisions.refused(stack, "ask-refused"), decisions.failed_after_it_was_paid(stack, "ask-failed")
    alert = decisions.alert(stack, "ask-refused")
    desk = visit("supervisor")
    for address in (
        f"/staff/refunds/{refused}/retry/",
        f"/staff/refunds/{refused}/paid-by-hand/",
        f"/staff/refunds/{failed}/settled/",
        f"/staff/refunds/{failed}/failed/",
        f"/staff/alerts/{alert}/settle/",
    ):
        opened(desk, "/staff/refunds/", address)
        check(desk)
    elsewhere = decisions.elsewhere(stack, "ask-refused")
    opened(desk, "/staff/orders/ask-refused/", f"/staff/refunds/{elsewhere}/undo/")
    check(desk)
    desk.page.goto("/staff/refunds/?alerts=1")
    check(desk)
    assert desk.problems == []


def test_every_decision_about_goods_and_rules_opens_over_its_page(visit: Open, stack: Stack) -> None:
    replacement, back = decisions.replacement(stack, "ask-socks"), decisions.return_on_its_way(stack, "ask-back")
    rules = f"/staff/policies/CNY/{decisions.rules_to_come(stack, 'CNY')}/"
    draft = f"/staff/policies/HKD/{decisions.draft(stack, 'HKD')}/"
    desk = visit("admin")
    for page, address in (
        ("/staff/replacements/", f"/staff/replacements/{replacement}/send/"),
        ("/staff/replacements/", f"/staff/replacements/{replacement}/release/"),
        (f"/staff/returns/{back}/", f"/staff/returns/{back}/reject/"),
        (f"/staff/returns/{back}/", f"/staff/returns/{back}/withdraw/"),
        (rules, f"{rules}withdraw/"),
        (draft, f"{draft}discard/"),
    ):
        opened(desk, page, address)
        check(desk)
    assert desk.problems == []


def test_words_typed_about_a_refund_outlive_closing_and_success_is_told(visit: Open, stack: Stack) -> None:
    failed = decisions.failed_after_it_was_paid(stack, "ask-words")
    desk = visit("staff")
    page, address = desk.page, f"/staff/refunds/{failed}/failed/"
    dialog = opened(desk, "/staff/refunds/", address)
    note, link = dialog.get_by_role("textbox"), page.locator(f"a[data-dialog][href^='{address}']")
    expect(note).to_be_focused()
    page.keyboard.type(WORDS)
    page.keyboard.press("Escape")
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(note).to_have_value(WORDS)
    dialog.get_by_role("link", name="返回").click()
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="確認退款失敗").click()
    desk.sees(page.locator(".toast").filter(has_text=failed))
    assert rows(stack, "select state from refunds_refund where id = %s", failed) == [{"state": "failed"}]
    page.locator(f"a[data-dialog][href^='/staff/refunds/{failed}/retry/']").click()
    expect(dialog.locator("textarea")).to_have_value("", timeout=WAIT)
    assert desk.problems == []


def test_a_press_that_begins_in_the_dialog_and_ends_beside_it_leaves_it_open(visit: Open, stack: Stack) -> None:
    """As when words are marked with the mouse and it slips out."""
    back = decisions.return_on_its_way(stack, "ask-slip")
    desk = visit("staff")
    page = desk.page
    dialog = opened(desk, f"/staff/returns/{back}/", f"/staff/returns/{back}/withdraw/")
    box = dialog.locator("textarea").bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()
    expect(dialog).to_be_visible()
    page.mouse.move(5, 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.up()
    expect(dialog).to_be_visible()
    page.mouse.click(5, 5)
    expect(dialog).to_have_count(0)
    assert desk.problems == []


def test_without_scripts_it_is_a_page_of_its_own_that_leads_back(visit: Open, stack: Stack) -> None:
    failed = decisions.failed_after_it_was_paid(stack, "ask-plain")
    desk = visit("staff", java_script_enabled=False)
    page = desk.page
    page.goto("/staff/refunds/")
    page.locator(f"a[href^='/staff/refunds/{failed}/settled/']").click()
    page.wait_for_url(f"**/staff/refunds/{failed}/settled/**")
    page.locator("textarea").fill(WORDS)
    page.get_by_role("button", name="確認已退款一次").click()
    page.wait_for_url("**/staff/refunds/")
    expect(page.locator("main")).to_contain_text(failed)
    assert rows(stack, "select state from refunds_refund where id = %s", failed) == [{"state": "succeeded"}]
