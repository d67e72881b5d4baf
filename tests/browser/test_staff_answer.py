"""Two colleagues before one conversation: the form of an answer follows who answers, and what was typed stays."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Request, Route, expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_people import conversation_of
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import say
from tests.stack import Visitor, wait_until

Open = Callable[..., Visit]
TYPED = "您好，我查一下您的耳機，稍後回覆。"


def test_the_form_follows_who_answers_and_what_was_typed_stays(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-two-colleagues")
    with Visitor(stack, "ming") as ming:
        say(ming, number, "你好")
    one, other = visit("staff"), visit("supervisor", device="phone")
    conversation_of(one, number)
    one.page.locator("#reply").fill(TYPED)
    one.page.locator("#reply").evaluate("(field) => field.setSelectionRange(3, 3)")
    other.page.goto(one.page.url)

    other.page.get_by_role("button", name="接手").click()
    unsent = one.page.locator("#unsent")
    expect(unsent).to_have_value(TYPED, timeout=WAIT)
    expect(one.page.locator("#reply")).to_have_count(0)
    one.shoot("36-a-colleague-has-taken-over")
    one.page.set_viewport_size({"width": 390, "height": 844})
    one.shoot("36-a-colleague-has-taken-over-narrow")
    assert one.fits_the_width()

    other.page.get_by_role("button", name="交還小幫手").click()
    expect(one.page.locator("#reply")).to_have_value(TYPED, timeout=WAIT)
    one.page.locator("#reply").press_sequentially("！")
    one.page.get_by_role("button", name="接手").click()
    expect(one.page.locator("#reply")).to_have_value(f"{TYPED}！", timeout=WAIT)

    # Whoever is writing goes on where they were, while news come in.
    other.page.locator("#unsent").wait_for(state="attached", timeout=WAIT)
    one.page.locator("#reply").focus()
    one.page.keyboard.press("Home")
    with Visitor(stack, "ming") as ming:
        say(ming, number, "還在嗎")
    one.sees(one.page.get_by_text("還在嗎"))
    one.page.keyboard.type("A")
    expect(one.page.locator("#reply")).to_have_value(f"A{TYPED}！")

    one.page.get_by_role("button", name="送出").click()
    expect(one.page.locator("#log")).to_contain_text(f"A{TYPED}！", timeout=WAIT)
    expect(one.page.locator("#reply")).to_have_value("")
    # Made larger by hand: a style, which the page's policy lets nobody copy.
    other.page.locator("#unsent").evaluate("(field) => (field.style.height = '200px')")
    one.page.get_by_role("button", name="結束對話").click()
    expect(other.page.locator("#answer")).to_contain_text("這個對話已結束", timeout=WAIT)
    other.shoot("37-closed-by-a-colleague")
    assert one.problems == []
    assert other.problems == []


def test_the_stream_of_a_conversation_that_is_over_is_not_opened_again(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-older")
    with Visitor(stack, "ming") as ming, Visitor(stack, "staff") as colleague:
        say(ming, number, "你好")
        staff = visit("staff")
        opened, ended = list[str](), list[str]()

        def note(seen: list[str]) -> Callable[[Request], None]:
            # Of the conversation: the inbox beside it listens too, and goes on.
            of_talk = re.compile("/conversations/[0-9]+/events/")
            return lambda request: seen.append(request.url) if of_talk.search(request.url) else None

        staff.page.on("request", note(opened))
        # Whichever end is quicker: the server finishes the answer, or the page closes it.
        for kind in ("requestfinished", "requestfailed"):
            staff.page.on(kind, note(ended))
        staff.page.clock.install()
        conversation_of(staff, number)
        colleague.post(f"{staff.page.url}close/")
        say(ming, number, "另一件事")
        wait_until(lambda: staff.page.evaluate("1") and ended)
    before = len(opened)
    staff.page.clock.fast_forward(60_000)
    staff.page.evaluate("dispatchEvent(new Event('online'))")
    staff.page.evaluate("fetch('/healthz').then((answer) => answer.status)")
    assert len(opened) == before
    assert staff.problems == []


def test_what_was_typed_outlives_a_session_that_ends_before_it_is_sent_and_is_its_writers_alone(
    visit: Open, stack: Stack
) -> None:
    number = another_5531(stack, "5531-signed-out")
    with Visitor(stack, "ming") as ming:
        say(ming, number, "你好")
    desk = visit("staff")
    conversation_of(desk, number)
    address = desk.page.url
    field, send = desk.page.locator("#reply"), desk.page.get_by_role("button", name="送出")
    field.fill(TYPED)
    desk.page.context.clear_cookies(name="sessionid")
    sign_in = desk.page.locator(".signed-out a")
    expect(sign_in).to_have_attribute("href", f"/accounts/login/?next={urlsplit(address).path}", timeout=WAIT)
    expect(desk.page.locator("#log")).to_contain_text("你好")
    expect(desk.page.locator("#content #id_username")).to_have_count(0)
    send.click()
    desk.page.wait_for_url("**/accounts/login/**")

    desk.sign_in("supervisor")
    desk.page.goto(address)
    expect(field).to_have_value("")
    desk.page.context.clear_cookies(name="sessionid")
    desk.sign_in("staff")
    desk.page.goto(address)
    expect(field).to_have_value(TYPED)

    send.click()
    expect(desk.page.locator("#log")).to_contain_text(TYPED, timeout=WAIT)
    expect(field).to_have_value("")
    # It is kept until the server has it, and no longer.
    wait_until(lambda: desk.page.evaluate("Object.keys(sessionStorage).every((key) => !key.startsWith('answer:'))"))
    assert desk.problems == []


def test_an_answer_that_arrived_though_nothing_came_back_is_not_sent_twice(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-no-reply")
    with Visitor(stack, "ming") as ming:
        say(ming, number, "你好")
    desk = visit("staff")
    conversation_of(desk, number)
    address = desk.page.url
    field, send = desk.page.locator("#reply"), desk.page.get_by_role("button", name="送出")

    log, news = desk.page.locator("#log"), "(log) => log.dispatchEvent(new Event('news'))"
    desk.page.route("**/log/**", lambda route: route.abort())
    log.evaluate(news)
    desk.sees(log.get_by_role("alert"))
    desk.page.unroute("**/log/**")
    log.evaluate(news)
    expect(log).to_contain_text("你好")

    def broken(route: Route) -> None:
        if arrives:
            route.fetch(max_redirects=0)
        route.fulfill(status=502, body="broken")

    desk.page.route("**/reply/", broken)
    for arrives in (False, True):
        field.fill(TYPED)
        token = desk.page.locator("#answer [name=token]").input_value()
        with desk.page.expect_response("**/reply/"):
            send.click()
        desk.page.goto(address)
        expect(field).to_have_value("" if arrives else TYPED)
        assert (desk.page.locator("#answer [name=token]").input_value() == token) is not arrives
    expect(desk.page.locator("#log").get_by_text(TYPED)).to_have_count(1)
    assert desk.problems == []
