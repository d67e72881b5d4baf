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


def minutes_pass(stack: Stack, number: str) -> None:
    """As if what was written, and the last look at the page, were some minutes ago; e-mails are due."""
    ago = "now() - interval '5 minutes'"
    order = rows(stack, "select id, customer_id from orders_order where number = %s", number)[0]
    with redis.Redis.from_url(stack.redis_url, decode_responses=True) as client:
        key = f"refund-desk:seen:{order['id']}:{order['customer_id']}"
        client.set(key, float(str(client.get(key))) - 300)
    rows(stack, f"update agent_customermail set not_before = {ago}, created_at = {ago} {OF_THE_ORDER}", number)


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
    minutes_pass(stack, number)
    before = len(said)
    ming.page.clock.run_for(20_000)
    wait_until(lambda: mail_states(stack, number) == ["not_needed"])
    assert len(said) == before + 1

    ming.page.evaluate(VISIBILITY, "hidden")
    staff_says(stack, number, "And this is new.")
    expect(ming.said_by("staff")).to_have_count(2, timeout=WAIT)
    minutes_pass(stack, number)
    before = len(said)
    ming.page.clock.run_for(60_000)
    wait_until(lambda: mail_states(stack, number) == ["not_needed", "sent"])
    assert len(said) == before

    ming.page.evaluate(VISIBILITY, "visible")
    wait_until(lambda: ming.page.evaluate("1") and len(said) == before + 1)
    assert ming.problems == []
