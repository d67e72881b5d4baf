"""Sessions and links that end while a page is open, and requests that fail: nothing is lost, and the page says so."""

import json
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import grave
from tests.browser.test_people import conversation_of
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import open_refund_card, say
from tests.stack import Visitor, rows, wait_until

Open = Callable[..., Visit]
WRITTEN, UNFINISHED = "耳機殼寄出了嗎？", "還有，發票"
SIGNED_OUT = "您已登出"
BUSY = {"code": "too_many_messages", "message": "請等 1 秒。", "hint": "", "details": {"retry_after": 1}}


def said(stack: Stack, number: str, text: str) -> int:
    """How often the customer has said it, as the database has it."""
    found = rows(
        stack,
        "select m.id from agent_message m join agent_conversation c on c.id = m.conversation_id "
        "join orders_order o on o.id = c.order_id where o.number = %s and m.content::text like %s",
        number,
        f"%{text}%",
    )
    return len(found)


def test_what_is_written_after_the_session_has_ended_is_kept_until_its_customer_is_back(
    visit: Open, stack: Stack
) -> None:
    number = another_5531(stack, "5531-out")
    with Visitor(stack, "ming") as elsewhere:
        say(elsewhere, number)
        open_refund_card(stack, number)
    ming = visit("ming")
    page = ming.page
    ming.open_order(number)
    card = ming.sees(ming.card("refund"))
    streams: list[str] = []
    page.on("request", lambda request: streams.append(request.url) if "/chat/events/" in request.url else None)

    page.context.clear_cookies(name="sessionid")
    ming.write(WRITTEN)
    bubble = ming.said_by("customer").last
    expect(bubble).to_contain_text(SIGNED_OUT)
    ming.press(card, "確認退款 NT$230")
    expect(card.locator("[data-slot=problem]")).to_contain_text(SIGNED_OUT)
    page.locator(".chat-person button").click()
    expect(page.locator("[data-slot=composer-problem]")).to_contain_text(SIGNED_OUT)
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator("[data-slot=connection]")).to_contain_text(SIGNED_OUT, timeout=WAIT)
    ming.shoot("36-signed-out")
    assert grave(page) == set()
    asked = len(streams)
    page.evaluate("dispatchEvent(new Event('online'))")
    page.evaluate("fetch('/healthz').then((answer) => answer.status)")
    assert len(streams) == asked, "the server has said no for good"

    page.fill("#chat-text", UNFINISHED)
    bubble.get_by_role("link", name="重新登入").click()
    page.fill("input[name=username]", "ming")
    page.fill("input[name=password]", "demo")
    page.click("main form button:not([type=button])")
    page.wait_for_url(f"**/orders/{number}/")
    expect(ming.said_by("customer").filter(has_text=WRITTEN).and_(page.locator("[data-message]"))).to_have_count(1)
    expect(page.locator("#chat-text")).to_have_value(UNFINISHED)
    page.reload()
    expect(ming.said_by("customer").filter(has_text=WRITTEN)).to_have_count(1)
    assert (said(stack, number, WRITTEN), page.evaluate("Object.keys(localStorage)")) == (1, [])
    assert ming.problems == []


def test_what_the_server_cannot_take_just_now_is_told_where_it_is_seen_and_sent_later(
    visit: Open, stack: Stack
) -> None:
    number = another_5531(stack, "5531-busy")
    ming = visit("ming", device="phone")
    page = ming.page
    ming.open_order(number)
    page.route("**/chat/person/", lambda route: route.abort())
    page.locator(".chat-person button").click()
    expect(page.locator("[data-slot=composer-problem]")).to_contain_text("連不上")
    page.unroute("**/chat/person/")

    def busy(route: Route) -> None:
        route.fulfill(status=429, content_type="application/json", body=json.dumps(BUSY))

    page.route("**/chat/messages/", busy, times=1)
    ming.write(WRITTEN)
    expect(ming.said_by("customer").last).to_contain_text("請等 1 秒")
    expect(ming.said_by("customer").filter(has_text=WRITTEN).and_(page.locator("[data-message]"))).to_be_visible()
    wait_until(lambda: said(stack, number, WRITTEN) == 1)
    page.locator(".chat-person button").click()
    ming.sees(page.locator("[data-slot=person]:visible"))
    expect(page.locator("[data-slot=composer-problem]")).to_be_hidden()
    assert ming.problems == []


def kept(page: Page) -> list[str]:
    """What the browser keeps of words that were not sent."""
    names = "[...Object.keys(localStorage), ...Object.keys(sessionStorage)].filter((name) => name.includes(':'))"
    found: list[str] = page.evaluate(names)
    return found


def test_whoever_signs_out_leaves_no_words_of_theirs_in_any_tab(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-shared")
    with Visitor(stack, "ming") as elsewhere:
        say(elsewhere, number, "你好")
    desk = visit("staff")
    conversation_of(desk, number)
    address, page = desk.page.url, desk.page
    other = page.context.new_page()
    other.goto(address)
    for tab in (page, other):
        tab.locator("#reply").fill(UNFINISHED)
    page.locator("#note-fold summary").click()
    page.locator("#note").fill(UNFINISHED)
    assert (len(kept(page)), len(kept(other))) == (2, 1)
    page.locator("summary", has=page.locator(".who")).click()
    page.get_by_role("button", name="登出").click()
    page.wait_for_url("**/accounts/login/")
    other.wait_for_url("**/accounts/login/")
    assert kept(page) == kept(other) == []
    page.go_back()
    page.wait_for_url("**/accounts/login/**")

    for name in ("supervisor", "staff"):
        desk.sign_in(name)
        page.goto(address)
        expect(page.locator("#reply")).to_have_value("")
        expect(page.locator("#note")).to_have_value("")
        page.context.clear_cookies(name="sessionid")


def test_words_of_a_page_whose_writer_is_gone_are_not_sent_in_the_next_ones_name(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-next")
    with Visitor(stack, "ming") as elsewhere:
        say(elsewhere, number, "你好")
    desk = visit("staff")
    conversation_of(desk, number)
    page, other = desk.page, desk.page.context.new_page()
    other.goto(page.url)
    other.locator("#reply").fill(UNFINISHED)
    page.context.clear_cookies(name="sessionid")
    desk.sign_in("supervisor")
    page.goto(other.url)
    page.locator("form[action$='/take-over/'] button").click()
    expect(other.locator("[role=alert]").filter(has_text=SIGNED_OUT)).to_be_visible(timeout=WAIT)
    expect(other.locator("#reply")).to_have_value(UNFINISHED)
    other.locator("#answer button").click()
    desk.sees(other.get_by_text("這個頁面是前一位使用者的"))
    expect(other.locator("#reply")).to_have_value("")
    assert said(stack, number, UNFINISHED) == 0
    assert desk.problems == []


def test_a_customer_who_signs_out_leaves_no_words_behind(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-leaves")
    ming = visit("ming")
    page = ming.page
    ming.open_order(number)
    page.route("**/chat/messages/", lambda route: route.abort())
    ming.write(WRITTEN)
    assert kept(page) == [f"outbox:{number}"]
    page.reload()
    assert kept(page) == [f"outbox:{number}"]
    page.get_by_role("button", name="登出").click()
    page.wait_for_url("**/accounts/login/")
    assert kept(page) == []


def test_a_field_of_a_page_whose_session_is_over_is_forgotten_by_signing_out(visit: Open, stack: Stack) -> None:
    """Such a page keeps what stands in its field when it is left, for its customer's return; not so here."""
    number = another_5531(stack, "5531-over")
    ming = visit("ming")
    page = ming.page
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(f"/orders/{number}/")
    page.context.clear_cookies(name="sessionid")
    for tab in (page, other):
        tab.evaluate("dispatchEvent(new Event('online'))")
        expect(tab.locator("[data-slot=connection]")).to_contain_text(SIGNED_OUT, timeout=WAIT)
        tab.locator("#chat-text").fill(UNFINISHED)
    page.get_by_role("button", name="登出").click()
    page.wait_for_url(lambda url: number not in url)
    other.wait_for_url("**/accounts/login/")
    assert kept(page) == kept(other) == []
    ming.sign_in("ming")
    ming.open_order(number)
    expect(page.locator("#chat-text")).to_have_value("")
