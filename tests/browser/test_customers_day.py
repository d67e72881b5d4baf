"""A customer's day on a phone: in both languages, without a mouse, without JavaScript; and what the page weighs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_story import SENTENCE, SENTENCE_EN
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import open_refund_card, paid_out, refund_of, say
from tests.stack import Visitor, wait_until

Open = Callable[..., Visit]
# As the README promises it: without pictures, over the wire, with nothing in the browser's memory.
FIRST_LOAD = 120_000
# What the web's own measure calls good. Nobody touches anything here, so every shift counts: Chromium takes the sizing
# of a phone's viewport for a touch, and would leave out the first half second.
SHIFT = 0.1
WATCH_SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
# What a screen reader is told beside the log, all of it: only the newest stands there.
WATCH_ANNOUNCED = """() => {
  window.announced = [];
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) announced.push(node.textContent);
  }).observe(document.querySelector("[data-slot=announce]"), { childList: true });
}"""
# The dots of the typing assistant, and what becomes another colour under the mouse.
MOVES = """() => [
  getComputedStyle(document.querySelector(".typing-dots i")).animationName !== "none",
  parseFloat(getComputedStyle(document.querySelector("#chat .button")).transitionDuration) > 0.01,
]"""
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.mark.parametrize(
    ("language", "sentence", "confirm", "mine", "how_far"),
    [
        ("zh-TW", SENTENCE, "確認退款 NT$230", "我的退款", "退款進度"),
        ("en", SENTENCE_EN, "Confirm refund NT$230", "My refunds", "How far the refund is"),
    ],
)
def test_from_the_list_of_orders_to_the_refunds_progress_on_a_phone(
    visit: Open, stack: Stack, language: str, sentence: str, confirm: str, mine: str, how_far: str
) -> None:
    number = another_5531(stack, f"day-{language}")
    ming = visit("ming", device="phone", language=language)
    page = ming.page
    page.locator(".order-card").filter(has_text=number).click()
    page.locator(".jump-to-chat").click()
    ming.write(sentence)
    ming.press(ming.sees(ming.card("refund")), confirm)
    confirmed = ming.sees(ming.card("refund", "confirmed"))
    progress = page.locator("#order-side").get_by_role("list", name=how_far)
    expect(progress.locator("[data-state=done]")).to_have_count(3, timeout=WAIT)
    assert paid_out(stack, number) == [230]
    # What the press has come to stands on the card still, though the stream has told meanwhile that it is over.
    expect(confirmed.locator("[data-slot=outcome]")).to_contain_text((refund_of(stack, number) or {})["id"])
    assert ming.fits_the_width()
    page.get_by_role("link", name=mine).click()
    refund = page.locator("main li.panel").filter(has_text=number)
    expect(refund).to_contain_text("NT$230")
    expect(refund).to_contain_text("7–14")
    assert ming.fits_the_width()
    assert ming.problems == []


@dataclass(frozen=True)
class Words:
    """What the day without JavaScript writes, presses and reads; `exchange` is pressed, and becomes `becomes`."""

    language: str
    sentence: str
    load_again: str
    confirm: str
    how_far: str
    exchange: str
    becomes: str
    slip: str


CHINESE = Words("zh-TW", SENTENCE, "重新整理", "確認退款 NT$230", "退款進度", "確認換貨", "confirmed", "列印退貨單")
ENGLISH = Words(
    "en", SENTENCE_EN, "Load again", "Confirm refund NT$230", "How far the refund is", "Not now", "declined", ""
)


@pytest.mark.parametrize("words", [CHINESE, ENGLISH], ids=lambda words: words.language)
def test_a_phone_without_javascript_writes_reads_confirms_declines_and_prints_the_slip(
    visit: Open, stack: Stack, words: Words
) -> None:
    number = another_5531(stack, f"day-nojs-{words.language}")
    ming = visit("ming", device="phone", language=words.language, java_script_enabled=False)
    page = ming.page

    def write(text: str) -> None:
        page.fill("#chat-text", text)
        with page.expect_navigation():
            page.locator("form[data-form=message] button").click()

    def load_again_until(there: Callable[[], bool]) -> None:
        def look() -> bool:
            with page.expect_navigation():
                page.get_by_role("link", name=words.load_again).click()
            return there()

        wait_until(look, every=0.5)

    ming.open_order(number)
    write(f"{words.sentence}\x07")
    expect(page.locator(".notices .notice.tone-bad")).to_be_visible()
    expect(page.locator("#chat-text")).to_have_value(words.sentence)
    write(words.sentence)
    load_again_until(lambda: ming.card("refund").count() == ming.card("exchange").count() == 1)
    ming.press(ming.card("refund"), words.confirm)
    expect(ming.card("refund", "confirmed")).to_be_visible()
    progress = page.locator("#order-side").get_by_role("list", name=words.how_far)
    load_again_until(lambda: progress.locator("[data-state=done]").count() == 3)
    assert paid_out(stack, number) == [230]

    ming.press(ming.card("exchange"), words.exchange)
    expect(ming.card("exchange", words.becomes)).to_be_visible()
    assert ming.fits_the_width()
    if words.becomes == "confirmed":
        page.get_by_role("link", name=words.slip).click()
        expect(page.locator(".slip")).to_contain_text(number)
        expect(page.locator(".slip-number")).to_contain_text("rt_")
        assert ming.fits_the_width()


def test_a_card_is_confirmed_by_tab_and_enter_alone_and_the_place_is_kept(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "day-tab")
    ming = visit("ming")
    page, keys = ming.page, ming.page.keyboard
    ming.open_order(number)
    page.evaluate(WATCH_ANNOUNCED)
    ming.tab_to(page.locator("#chat-text"))
    keys.type(SENTENCE)
    keys.press("Enter")
    card = ming.sees(ming.card("refund"))
    ming.sees(ming.card("exchange"))
    ming.tab_to(card.get_by_role("button", name="確認退款 NT$230"))
    keys.press("Enter")
    done = ming.sees(ming.card("refund", "confirmed"))
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "succeeded")
    expect(page.locator("#order-side").get_by_role("list", name="退款進度")).to_be_visible(timeout=WAIT)
    assert done.evaluate("(card) => card.contains(document.activeElement)"), "whoever pressed reads on from the card"
    announced = page.evaluate("announced.join('|')")
    reply = page.locator(".bubble[data-author=agent]:not([data-greeting]) [data-slot=text]").first.text_content()
    places = [announced.index(words) for words in ((reply or "")[:8], "確認退款 NT$230", "確認退款 已確認", "7–14")]
    assert places == sorted(places)

    moving = page.evaluate(MOVES)
    page.emulate_media(reduced_motion="reduce")
    assert (all(moving), page.evaluate(MOVES)) == (True, [False, False])
    assert ming.problems == []


@pytest.fixture
def talk(stack: Stack) -> str:
    """An order with open cards: the longest page that a customer meets first."""
    number = another_5531(stack, "day-weight")
    with Visitor(stack, "ming") as ming:
        say(ming, number)
    open_refund_card(stack, number)
    return number


def weigh(page: Page, address: str) -> dict[str, int]:
    """Bytes over the wire by kind of thing, headers included, with an empty memory."""
    session = page.context.new_cdp_session(page)
    kinds: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def began(event: dict[str, Any]) -> None:
        kinds[event["requestId"]] = event["type"]

    def ended(event: dict[str, Any]) -> None:
        if kind := kinds.get(event["requestId"]):  # not what the page before had still asked for
            sizes[kind] = sizes.get(kind, 0) + int(event["encodedDataLength"])

    session.on("Network.requestWillBeSent", began)
    session.on("Network.loadingFinished", ended)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto(address)
    page.locator(".card [data-slot=left]").first.wait_for()
    session.detach()
    return sizes


def test_the_first_load_of_an_order_is_light_and_nothing_jumps(
    visit: Open, talk: str, record_property: Callable[[str, object], None]
) -> None:
    ming = visit("ming", device="phone")
    ming.page.add_init_script(WATCH_SHIFTS)
    sizes = weigh(ming.page, f"/orders/{talk}/")
    expect(ming.page.locator(".card[data-state=open] [data-slot=left]").first).not_to_be_empty()
    ming.page.evaluate(TWO_FRAMES)
    shifted = ming.page.evaluate("window.shifted")
    weight = sum(size for kind, size in sizes.items() if kind != "Image")
    record_property("measured", f"first load of an order: {weight / 1000:.0f} KB, layout shift {shifted:.3f}")
    assert {"Document", "Stylesheet", "Script"} <= set(sizes)
    assert weight < FIRST_LOAD, sizes
    assert shifted < SHIFT
    assert ming.problems == []
