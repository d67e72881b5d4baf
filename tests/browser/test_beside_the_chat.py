"""What stands beside the chat follows what happens, even where one look at it fails."""

from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route, expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_looking import VISIBILITY
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import confirm, open_refund_card, say
from tests.stack import Visitor

Open = Callable[..., Visit]
GATHERED, FIRST_PAUSE, SECOND_PAUSE = 500, 2000, 4000


def failing(page: Page) -> list[str]:
    """Every look at what stands beside the chat fails; the looks so far."""
    looks: list[str] = []

    def refuse(route: Route) -> None:
        looks.append(route.request.url)
        route.fulfill(status=503, body="busy")

    page.route("**/side/", refuse)
    return looks


def test_what_could_not_be_fetched_is_fetched_again_after_a_pause_and_when_the_connection_is_back(
    visit: Open, stack: Stack
) -> None:
    number = another_5531(stack, "5531-side")
    ming = visit("ming")
    ming.page.clock.install()
    with Visitor(stack, "ming") as elsewhere:
        say(elsewhere, number)
        quote = open_refund_card(stack, number)["quote_id"]
        ming.open_order(number)
        ming.sees(ming.card("refund"))
        # From here on no timer of the page ends but by the test's will.
        ming.page.clock.pause_at(ming.page.evaluate("Date.now() + 1000"))
        looks = failing(ming.page)
        confirm(elsewhere, quote)
    ming.sees(ming.page.locator(".status-line").filter(has_text="7–14"))
    for pause in (GATHERED, FIRST_PAUSE, SECOND_PAUSE):
        with ming.page.expect_response("**/side/"):
            ming.page.clock.run_for(pause)
    assert len(looks) == 3
    side, price = ming.page.locator("#order-side"), ming.page.locator("#order-price-title")
    price.focus()
    expect(side).not_to_contain_text("已取消")
    ming.page.unroute("**/side/")
    with ming.page.expect_response("**/chat/events/*"):
        ming.page.evaluate("dispatchEvent(new Event('online'))")
    with ming.page.expect_response("**/side/"):
        ming.page.clock.run_for(1)
    expect(side).to_contain_text("已取消", timeout=WAIT)
    # Another drawing of the same control: whoever has no mouse goes on from where they were.
    expect(price).to_be_focused()
    ming.shoot("35-side-fetched-again")
    assert ming.problems == []


def test_a_page_whose_session_has_ended_and_one_that_nobody_looks_at_ask_no_more(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-side-ends")
    ming = visit("ming")
    looks: list[str] = []
    # Where the answer sends the page to is reported as a request, though the page does not go there.
    asked = f"/orders/{number}/side/"
    ming.page.on("request", lambda request: looks.append(asked) if urlsplit(request.url).path == asked else None)
    ming.page.clock.install()
    ming.page.clock.pause_at(ming.page.evaluate("Date.now() + 1000"))
    ming.open_order(number)
    # As the page does it when something has moved.
    ming.page.evaluate(
        "import(new URL('/static/js/chat/side.js', location))"
        ".then(({ Side }) => (window.side = new Side('order-side')))"
    )
    ming.page.evaluate(VISIBILITY, "hidden")
    ming.page.evaluate("window.side.moved()")
    ming.page.clock.run_for(GATHERED)
    assert (ming.page.evaluate("1"), looks) == (1, [])
    ming.page.evaluate("document.getElementById('order-side').dataset.old = '1'")
    with ming.page.expect_response("**/side/"):
        ming.page.evaluate(VISIBILITY, "visible")
        ming.page.clock.run_for(1)
    expect(
        ming.page.locator("#order-side:not([data-old])")
    ).to_be_attached()  # the look is over, and the next may begin

    ming.page.context.clear_cookies(name="sessionid")
    ming.page.evaluate("window.side.moved()")
    with ming.page.expect_response("**/side/"):
        ming.page.clock.run_for(GATHERED)
    ming.page.evaluate("fetch('/healthz').then((answer) => answer.status)")
    ming.page.clock.run_for(120_000)
    assert (ming.page.evaluate("1"), len(looks)) == (1, 2)
    assert ming.problems == []
