"""What stands beside the chat follows what happens, even where one look at it fails."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
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
    side = ming.page.locator("#order-side")
    expect(side).not_to_contain_text("已取消")
    ming.page.unroute("**/side/")
    with ming.page.expect_response("**/chat/events/*"):
        ming.page.evaluate("dispatchEvent(new Event('online'))")
    with ming.page.expect_response("**/side/"):
        ming.page.clock.run_for(1)
    expect(side).to_contain_text("已取消", timeout=WAIT)
    ming.shoot("35-side-fetched-again")
    assert ming.problems == []
