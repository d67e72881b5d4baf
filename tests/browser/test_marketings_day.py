"""Marketing's day: a new version of the rules is drafted, tried on examples, compared, published by somebody else."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.test_accessible import check
from tests.browser.visit import Visit

Open = Callable[..., Visit]
NOTE = "美金訂單的退貨期限延長"


def test_rules_are_drafted_tried_compared_and_published_by_a_second_person(visit: Open, stack: Stack) -> None:
    """In dollars, in which none of the demo's orders is: no other test is settled by other rules."""
    marketing = visit("marketing")
    page = marketing.page
    page.goto("/staff/policies/?currency=USD")
    page.get_by_role("button", name="建立新版草稿").click()
    page.wait_for_url("**/edit/")
    address = page.url.removesuffix("edit/")
    examples = page.locator("#examples")
    expect(examples.get_by_text("變更")).to_have_count(0)
    page.get_by_label("收取手續費").check()
    page.locator("#return_fee").fill("9.99")
    expect(examples.locator(".example").filter(has_text="變更").first).to_contain_text("9.99")
    page.locator("#return_fee").fill("九")
    marketing.sees(examples.locator(".tone-wait"))
    page.locator("#return_fee").fill("9.99")
    marketing.sees(examples.locator(".example"))
    page.locator("#note").fill(NOTE)
    check(marketing)
    page.get_by_role("button", name="儲存草稿").click()
    page.wait_for_url(address)
    marketing.sees(page.get_by_text("您編輯過這份草稿，須由其他人發布。"))
    expect(page.get_by_role("button", name="發布")).to_have_count(0)
    page.get_by_role("button", name="比較").click()
    expect(page.locator("tr.is-changed").filter(has_text="9.99").first).to_be_visible()

    supervisor = visit("supervisor")
    supervisor.page.goto(address)
    supervisor.page.get_by_role("button", name="發布第").click()
    supervisor.sees(supervisor.page.get_by_text("已發布，尚未生效"))
    supervisor.page.get_by_role("link", name="撤回此版本").click()
    supervisor.page.locator("dialog[open]").get_by_role("textbox").fill("改到下一季")
    supervisor.page.locator("dialog[open]").get_by_role("button", name="撤回第").click()
    expect(supervisor.page.locator("main")).to_contain_text("改到下一季")
    assert marketing.problems == supervisor.problems == []
