"""Who looks at the page needs no e-mail. Who has put it into the background does, though it stays connected, and who
looks at a page that hears nothing any more.
"""

from collections.abc import Callable
from urllib.parse import parse_qs

import redis
from playwright.sync_api import Request, expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_reconnecting import staff_says
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import say
from tests.stack import Visitor, rows, wait_until

Open = Callable[..., Visit]
# A tab that goes into the background: headless Chromium shows every tab as visible, so the page is told otherwise.
VISIBILITY = """(state) => {
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
  Object.defineProperty(document, "hidden", { configurable: true, get: () => state === "hidden" });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
# A stream of which nothing ever arrives, as behind a proxy that keeps everything until the end.
DEAF = "window.EventSource = class extends EventTarget { close() {} }"
OF_THE_ORDER = (
    "from agent_conversation c join orders_order o on o.id = c.order_id where o.number = %s and c.id = conversation_id"
)


def last_look(stack: Stack, number: str, minus: int = 0) -> float:
    """When the page was last visible, in seconds; `minus`: as if it had been so many seconds before."""
    order = rows(stack, "select id, customer_id from orders_order where number = %s", number)[0]
    key = f"refund-desk:seen:{order['id']}:{order['customer_id']}"
    with redis.Redis.from_url(stack.redis_url, decode_responses=True) as client:
        at, _, shown = str(client.get(key)).partition(" ")
        if minus:
            client.set(key, f"{float(at) - minus} {shown}")
    return float(at) - minus


def newest_event(stack: Stack, number: str) -> str:
    """As a page names it."""
    newest = "select c.id, c.last_event from agent_conversation c join orders_order o on o.id = c.order_id "
    row = rows(stack, newest + "where o.number = %s", number)[0]
    return f"{row['id']}-{row['last_event']}"


def is_look(request: Request) -> bool:
    return request.url.endswith("/chat/seen/")


def shown_by(request: Request) -> str:
    """The newest event that the page showed when it said that it was visible."""
    return parse_qs(request.post_data or "")["last_event"][0]


def change_mails(stack: Stack, number: str, field: str) -> None:
    """As if what waits to be told had been written, or due, some minutes ago."""
    waiting = "state = 'waiting' and exists (select 1 " + OF_THE_ORDER + ")"
    rows(stack, f"update agent_customermail set {field} = now() - interval '5 minutes' where {waiting}", number)


def mail_states(stack: Stack, number: str) -> list[str]:
    states = f"select m.state from agent_customermail m where exists (select 1 {OF_THE_ORDER}) order by m.id"
    return [row["state"] for row in rows(stack, states, number)]


def test_whoever_hides_the_page_is_told_by_mail_and_whoever_looks_at_it_is_not(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-looking")
    ming = visit("ming", language="en")
    said: list[str] = []
    ming.page.on("request", lambda request: said.append(shown_by(request)) if is_look(request) else None)
    ming.page.clock.install()
    ming.open_order(number)
    ming.write("hello")
    expect(ming.said_by("agent").nth(1)).to_be_visible(timeout=WAIT)

    staff_says(stack, number, "Here I am.")
    expect(ming.said_by("staff")).to_have_count(1, timeout=WAIT)
    change_mails(stack, number, "created_at")
    before = last_look(stack, number)
    ming.page.clock.run_for(20_000)
    wait_until(lambda: last_look(stack, number) > before)
    assert said[-1] == newest_event(stack, number)
    change_mails(stack, number, "not_before")
    wait_until(lambda: mail_states(stack, number) == ["not_needed"])

    ming.page.evaluate(VISIBILITY, "hidden")
    staff_says(stack, number, "And this is new.")
    expect(ming.said_by("staff")).to_have_count(2, timeout=WAIT)
    looks = len(said)
    ming.page.clock.run_for(60_000)
    assert (ming.page.evaluate("1"), len(said)) == (1, looks)
    last_look(stack, number, minus=300)
    change_mails(stack, number, "not_before")
    wait_until(lambda: mail_states(stack, number) == ["not_needed", "sent"])

    ming.page.evaluate(VISIBILITY, "visible")
    wait_until(lambda: ming.page.evaluate("1") and len(said) == looks + 1)
    assert ming.problems == []


def test_whoever_looks_at_a_page_that_hears_nothing_is_told_by_mail(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-deaf")
    with Visitor(stack, "ming") as elsewhere:
        say(elsewhere, number, "hello")
    ming = visit("ming", language="en")
    said: list[str] = []
    ming.page.on("request", lambda request: said.append(shown_by(request)) if is_look(request) else None)
    ming.page.add_init_script(DEAF)
    ming.page.clock.install()
    # From here on no timer of the page ends but by the test's will.
    ming.page.clock.pause_at(ming.page.evaluate("Date.now() + 1000"))
    ming.open_order(number)
    wait_until(lambda: ming.page.evaluate("1") and said)
    drawn = ming.page.locator("#chat").get_attribute("data-last-event")
    assert said == [drawn]

    staff_says(stack, number, "Here I am.")
    before = last_look(stack, number)
    ming.page.evaluate(VISIBILITY, "hidden")
    wait_until(lambda: last_look(stack, number) > before)
    assert said == [drawn, drawn] != [newest_event(stack, number)] * 2, "it was visible until it was left"
    change_mails(stack, number, "created_at")
    last_look(stack, number, minus=60)
    change_mails(stack, number, "not_before")
    wait_until(lambda: mail_states(stack, number) == ["sent"])

    ming.page.clock.run_for(60_000)
    ming.page.evaluate(VISIBILITY, "visible")
    ming.page.clock.run_for(60_000)
    assert (ming.page.evaluate("1"), len(said)) == (1, 2), "whoever hears nothing says nothing"
    assert ming.problems == []
