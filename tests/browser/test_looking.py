"""Who looks at the page needs no e-mail; who has put it into the background does, though it stays connected."""

from collections.abc import Callable

import redis
from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_reconnecting import staff_says
from tests.browser.visit import WAIT, Visit
from tests.stack import rows, wait_until

Open = Callable[..., Visit]
# A tab that goes into the background: headless Chromium shows every tab as visible, so the page is told otherwise.
VISIBILITY = """(state) => {
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
  Object.defineProperty(document, "hidden", { configurable: true, get: () => state === "hidden" });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
OF_THE_ORDER = (
    "from agent_conversation c join orders_order o on o.id = c.order_id where o.number = %s and c.id = conversation_id"
)


def last_look(stack: Stack, number: str, minus: int = 0) -> float:
    """When the page was last visible, in seconds; `minus`: as if it had been so many seconds before."""
    order = rows(stack, "select id, customer_id from orders_order where number = %s", number)[0]
    key = f"refund-desk:seen:{order['id']}:{order['customer_id']}"
    with redis.Redis.from_url(stack.redis_url, decode_responses=True) as client:
        at = float(str(client.get(key))) - minus
        if minus:
            client.set(key, at)
    return at


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
    ming.page.on("request", lambda request: said.append(request.url) if request.url.endswith("/chat/seen/") else None)
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
