"""Tabs that sleep, tabs side by side, a proxy that cuts, an emptied Redis: the page ends up equal to the database."""

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import redis
from playwright.sync_api import Browser, Page, Route, expect

from backoffice.local.processes import free_port
from backoffice.local.stack import ROOT, Stack
from tests.browser.conftest import SCREENS, SIZES
from tests.browser.orders_for_tests import another_5531
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import confirm, open_refund_card, refund_of, say
from tests.stack import Visitor, rows, wait_until

SENTENCE = "耳機左耳沒聲音，耳機殼也還沒寄到，我不想等了"
Open = Callable[..., Visit]

ON_THE_PAGE = """() => [...document.querySelectorAll(".chat-log .chat-item")].flatMap((item) => {
  const text = (part) => item.querySelector(`[data-slot="${part}"]`)?.textContent.replace(/\\s+/g, "") ?? "";
  const card = item.querySelector("article.card");
  if (card) return [["card", card.dataset.card, card.dataset.state]];
  if (item.dataset.work) return [["work", item.dataset.work, item.dataset.state, text("text")]];
  if (item.matches(".status-line")) return [["status", item.dataset.state, text("text")]];
  if (item.matches(".bubble:not([data-greeting])")) {
    return [["message", item.dataset.message ?? "", item.dataset.author, text("text")]];
  }
  return [];
})"""

WATCH_THE_NOTICE = """() => {
  window.notices = [];
  const place = document.querySelector("[data-slot=connection]");
  new MutationObserver(() => notices.push(place.textContent)).observe(place, { childList: true, attributes: true });
}"""


@dataclass
class Proxied:
    process: subprocess.Popen[bytes]
    url: str

    def let_connections_die_quietly(self) -> None:
        self.process.send_signal(signal.SIGUSR1)


@contextmanager
def proxy(stack: Stack, *, cut_after: float = 0.0) -> Iterator[Proxied]:
    port = free_port()
    command = [sys.executable, "-m", "tests.browser.proxy", str(port), str(stack.port), str(cut_after)]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        wait_until(lambda: _listens(port), every=0.05)
        yield Proxied(process, f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def through(browser: Browser) -> Iterator[Callable[[str], Visit]]:
    """`through(address)`: 王小明's browser at that address; its clock can be put forward."""
    contexts = []

    def open_page(address: str) -> Visit:
        context = browser.new_context(base_url=address, viewport=SIZES["desktop"], locale="zh-TW")  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        visiting = Visit(page, device="desktop", screens=SCREENS)
        visiting.sign_in("ming")
        return visiting

    yield open_page
    for context in contexts:
        context.close()


def shown(visit: Visit) -> list[list[str]]:
    found: list[list[str]] = visit.page.evaluate(ON_THE_PAGE)
    return found


def in_the_database(stack: Stack, number: str) -> list[list[str]]:
    """The durable events of the order, each card and each call where it came first and as it stands now."""
    events = rows(
        stack,
        "select e.kind, e.data from agent_conversationevent e join agent_conversation c on c.id = e.conversation_id "
        "join orders_order o on o.id = c.order_id where o.number = %s order by c.id, e.number",
        number,
    )
    places: dict[str, list[str]] = {}
    for index, event in enumerate(events):
        kind, data = event["kind"], event["data"]
        if kind == "message":
            places[str(index)] = [kind, str(data["message_id"]), data["author"], _letters(data["text"])]
        elif kind == "card":
            places[f"card {data['card_id']}"] = [kind, str(data["card_id"]), data["state"]]
        elif kind == "work":
            place = f"work {data['tool_call_id']}"
            places[place] = [kind, str(data["tool_call_id"]), data["state"], _letters(data["text"])]
        elif kind == "status":
            places[str(index)] = [kind, data["state"], _letters(data["text"])]
    return list(places.values())


def _letters(text: str) -> str:
    """What a reader sees of a text, without blanks: marks of emphasis are not shown, lists lose their numbers."""
    return "".join(text.replace("**", "").split())


def becomes_equal(stack: Stack, number: str, *visits: Visit) -> list[list[str]]:
    """Once the turn is over, every page shows what the database has, and a page opened afresh shows it too."""
    over = (
        "select 1 from agent_turn t join agent_conversation c on c.id = t.conversation_id join orders_order o "
        "on o.id = c.order_id where o.number = %s and t.state in ('queued', 'running')"
    )
    wait_until(lambda: not rows(stack, over, number), timeout=30)
    for visit in visits:
        try:
            wait_until(lambda visit=visit: shown(visit) == in_the_database(stack, number), timeout=20)  # type: ignore[misc]
        except TimeoutError:
            assert shown(visit) == in_the_database(stack, number)
        expect(visit.page.locator(".is-draft")).to_have_count(0)
        assert visit.problems == []
    return in_the_database(stack, number)


def emptied(stack: Stack, number: str) -> None:
    """Redis forgets what it was told, as if it had been trimmed or restarted."""
    with redis.Redis.from_url(stack.redis_url) as client:
        client.delete("refund-desk:told")


def staff_says(stack: Stack, number: str, text: str) -> None:
    conversation = rows(
        stack,
        "select c.id from agent_conversation c join orders_order o on o.id = c.order_id where o.number = %s",
        number,
    )[0]["id"]
    with Visitor(stack, "staff") as staff:
        for path, body in (("take-over", {}), ("reply", {"text": text})):
            answer = staff.post(f"/staff/conversations/{conversation}/{path}/", body)
            assert answer.status_code == 200, answer.text[:300]


def cards_run_out(stack: Stack, number: str) -> None:
    """What an hour does to cards; the sweeper finds them."""
    of_the_order = (
        "conversation_id in (select c.id from agent_conversation c join orders_order o on o.id = c.order_id "
        "where o.number = %s)"
    )
    past = "set expires_at = now() - interval '1 minute'"
    quotes = f"select quote_id from agent_card where {of_the_order}"
    rows(stack, f"update refunds_refundquote {past} where id in ({quotes})", number)
    rows(stack, f"update agent_card {past} where {of_the_order}", number)
    wait_until(lambda: not rows(stack, f"select 1 from agent_card where state = 'open' and {of_the_order}", number))


def test_behind_a_proxy_that_cuts_again_and_again_nothing_is_missing_and_nothing_comes_twice(
    through: Callable[[str], Visit], stack: Stack
) -> None:
    number = another_5531(stack, "5531-cut")
    with proxy(stack, cut_after=2) as cutting:
        ming = through(cutting.url)
        ming.open_order(number)
        ming.page.evaluate(WATCH_THE_NOTICE)
        ming.write(SENTENCE)
        ming.press(ming.sees(ming.card("refund")), "確認退款 NT$230")
        ming.sees(ming.card("refund", "confirmed"))
        ming.sees(ming.page.locator(".status-line").filter(has_text="7–14"))
        # And once more when everything is there: what comes again may not stand there twice.
        seen = ming.page.evaluate("notices.length")
        ming.page.wait_for_function("seen => notices.slice(seen).includes('')", arg=seen + 1, timeout=WAIT)
        kinds = [kind for kind, *_ in becomes_equal(stack, number, ming)]
        assert {"message", "card", "work", "status"} <= set(kinds)
        assert any("連線" in notice for notice in ming.page.evaluate("notices"))


def test_two_tabs_side_by_side_show_the_same(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-tabs")
    first = visit("ming")
    first.open_order(number)
    second = Visit(first.page.context.new_page(), device="desktop", screens=SCREENS)
    second.open_order(number)
    first.write(SENTENCE)
    refund = second.sees(second.card("refund"))
    second.press(refund, "確認退款 NT$230")
    first.sees(first.card("refund", "confirmed"))
    second.write("謝謝")
    expect(first.said_by("customer").filter(has_text="謝謝")).to_be_visible(timeout=WAIT)
    assert becomes_equal(stack, number, first, second)


def test_a_tab_that_slept_for_an_hour_catches_up(through: Callable[[str], Visit], stack: Stack) -> None:
    number = another_5531(stack, "5531-asleep")
    with proxy(stack) as network:
        ming = through(network.url)
        ming.page.clock.install()
        ming.open_order(number)
        ming.write(SENTENCE)
        ming.sees(ming.card("refund"))
        becomes_equal(stack, number, ming)
        devtools = ming.page.context.new_cdp_session(ming.page)
        devtools.send("Page.setWebLifecycleState", {"state": "frozen"})
        network.let_connections_die_quietly()
        staff_says(stack, number, "我是客服小林，我來看一下。")
        cards_run_out(stack, number)
        emptied(stack, number)
        devtools.send("Page.setWebLifecycleState", {"state": "active"})
        before = len(shown(ming))
        ming.page.clock.fast_forward("01:00:00")
        expect(ming.said_by("staff")).to_be_visible(timeout=WAIT)
        assert len(becomes_equal(stack, number, ming)) > before


@contextmanager
def stream_held_back(page: Page) -> Iterator[None]:
    """No event stream of the page begins before the end of this."""
    held: list[Route] = []
    holding = True
    page.route("**/chat/events/*", lambda route: held.append(route) if holding else route.continue_())
    yield
    holding = False
    # A page that has lost patience has closed the ones before.
    held[-1].continue_()


def test_words_whose_taking_is_known_before_an_earlier_line_is_told_end_up_behind_it(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-own-words")
    ming = visit("ming")
    with Visitor(stack, "ming") as elsewhere:
        say(elsewhere, number)
        quote = open_refund_card(stack, number)["quote_id"]
        with stream_held_back(ming.page):
            ming.open_order(number)
            confirm(elsewhere, quote)
            wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "succeeded")
            wait_until(lambda: ["status", "succeeded"] in [line[:2] for line in in_the_database(stack, number)])
            ming.write("謝謝")
            taken = ming.said_by("customer").filter(has_text="謝謝").and_(ming.page.locator("[data-message]"))
            expect(taken).to_be_visible(timeout=WAIT)
            assert not [line for line in shown(ming) if line[0] == "status"], "the stream was not held back"
    assert becomes_equal(stack, number, ming)


def test_redis_emptied_in_the_middle_of_an_answer_leaves_no_trace_on_the_page(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-emptied")
    ming = visit("ming")
    ming.open_order(number)
    ming.write(SENTENCE)
    for part in (".is-draft, .work", "[data-work]", ".card"):
        ming.sees(ming.page.locator(f".chat-log :is({part})"))
        emptied(stack, number)
    ming.sees(ming.card("refund"))
    assert becomes_equal(stack, number, ming)
