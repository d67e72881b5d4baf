"""People first, in a real browser: asked for by a button, reading along, and never talked over."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import grave
from tests.browser.visit import WAIT, Visit

Open = Callable[..., Visit]
# Every state of the draft, however short it stood there.
WATCH_DRAFT = """() => {
  window.drafts = [];
  const place = document.getElementById("draft");
  const text = place.querySelector('[data-slot="text"]');
  new MutationObserver(() => window.drafts.push(place.hidden ? "" : text.innerText))
    .observe(place, { attributes: true, childList: true, subtree: true });
}"""


def conversation_of(staff: Visit, number: str) -> None:
    """Open the conversation about the order, whichever tab it stands in."""
    for state in ("working", "needs_person", "waiting", "done"):
        staff.page.goto(f"/staff/?state={state}")
        rows = staff.page.locator(".queue-row").filter(has_text=number)
        # Read at once: the row goes to another tab when the assistant has finished.
        for address in rows.evaluate_all("rows => rows.map((row) => row.getAttribute('href'))"):
            staff.page.goto(address)
            return
    raise AssertionError(f"no conversation about {number}")


def test_staff_read_the_reply_as_it_is_written_and_then_in_the_log(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "reading-along")
    ming, staff = visit("ming", language="en"), visit("staff", language="en")
    ming.open_order(number)
    ming.write("hello")
    expect(ming.said_by("agent").nth(1)).to_be_visible(timeout=WAIT)
    conversation_of(staff, number)
    staff.page.evaluate(WATCH_DRAFT)
    ming.write("耳機左耳沒聲音，耳機殼也還沒寄到，我不想等了")
    ming.sees(ming.card("refund"))
    expect(staff.page.locator(".talk-card").first).to_be_visible(timeout=WAIT)
    expect(staff.page.locator("#draft")).to_be_hidden()
    grown = [text for text in staff.page.evaluate("window.drafts") if text]
    assert len(set(grown)) > 1
    assert len(grown[0]) < len(grown[-1])
    ming.page.locator(".chat-person button").click()
    expect(staff.page.locator("#about")).to_contain_text("The customer asked for a person.", timeout=WAIT)
    expect(staff.page.locator("#about .notice")).to_contain_text("NT$230")
    staff.page.locator("#facts summary").click()
    staff.page.set_viewport_size({"width": 390, "height": 844})
    staff.shoot("33-summary-narrow")
    assert staff.fits_the_width()
    staff.page.goto("/staff/?state=needs_person")
    staff.shoot("34-queue-narrow")
    assert staff.fits_the_width()
    assert staff.problems == []


def test_a_person_is_asked_for_by_the_button_and_the_wait_is_shown(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "button")
    ming, staff = visit("ming", device="phone", language="en"), visit("staff", language="en")
    ming.open_order(number)
    ming.page.locator(".chat-person button").click()
    notice = ming.sees(ming.page.locator("[data-slot=person]:visible"))
    expect(notice).to_contain_text("You have been waiting since", timeout=WAIT)
    ming.shoot("30-waiting")
    assert grave(ming.page) == set()
    assert ming.fits_the_width()
    conversation_of(staff, number)
    expect(staff.page.locator("#about")).to_contain_text("The customer asked for a person.")
    staff.shoot("31-needs-a-person")
    staff.page.locator("#reply").fill("Here I am.")
    staff.page.get_by_role("button", name="Send").click()
    ming.sees(ming.said_by("staff"))
    expect(ming.page.locator("[data-slot=person]")).to_be_hidden(timeout=WAIT)
    ming.write("Thank you! And the case?")
    expect(ming.sees(ming.page.locator("[data-slot=person]:visible"))).to_contain_text("has your message")
    expect(staff.page.locator("#who")).to_contain_text("has waited for", timeout=WAIT)
    ming.shoot("32-written-to-a-person")
    assert ming.problems == []
    assert staff.problems == []
