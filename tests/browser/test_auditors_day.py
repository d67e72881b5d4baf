"""An auditor's day: one question, the story, the record behind it, the file; and the reports. Without a mouse, too."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.test_accessible import check
from tests.browser.visit import Visit
from tests.stack import rows

Open = Callable[..., Visit]
# Lost on the way and given back by the demo's support, with a note.
ORDER = "5624"


def test_an_auditor_finds_who_gave_back_what_and_why_and_takes_it_away(visit: Open, stack: Stack) -> None:
    (refund,) = rows(
        stack,
        "select r.id from refunds_refund r join orders_order o on o.id = r.order_id where o.number = %s",
        ORDER,
    )
    number = str(refund["id"])
    auditor = visit("auditor")
    page = auditor.page
    page.goto("/")
    page.get_by_role("searchbox").fill(number)
    page.keyboard.press("Enter")
    sentences = page.locator(".story-sentence")
    expect(sentences.first).to_contain_text("客服 試算")
    expect(sentences.last).to_contain_text("NT$530 已退回給顧客")
    expect(page.locator(".story .reason").first).to_contain_text("示範資料")
    page.get_by_text("NT$530 的計算方式").first.click()
    expect(page.locator(".story-how[open] .ledger .total").first).to_contain_text("NT$530")
    check(auditor)

    with page.expect_download() as taken:
        page.get_by_role("button", name="CSV").click()
    assert number in taken.value.path().read_text(encoding="utf-8-sig")

    page.get_by_role("link", name=number).first.click()
    expect(page.locator("#content")).to_contain_text(number)
    page.get_by_role("link", name="查看完整經過").click()
    expect(sentences.last).to_contain_text("NT$530 已退回給顧客")
    page.get_by_role("link", name="整筆訂單的完整經過").click()
    expect(sentences.first).to_contain_text("傳入訂單")
    assert auditor.problems == []


def test_the_reports_are_read_without_a_mouse(visit: Open, stack: Stack) -> None:
    auditor = visit("auditor")
    page = auditor.page
    page.goto("/staff/reports/?days=90")
    expect(page.get_by_role("img", name="每日退款金額")).to_be_visible()
    page.get_by_text("以表格查看").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="每日退款").get_by_role("table")).to_be_visible()
    check(auditor)
    page.goto("/staff/exports/")
    check(auditor)
    assert auditor.problems == []
