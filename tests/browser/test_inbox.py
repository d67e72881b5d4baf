"""An hour at the inbox: by keyboard, without a reload, a colleague beside, a refund put on the customer's page."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.test_accessible import check
from tests.browser.visit import WAIT, Visit
from tests.flows.chat import paid_out, say
from tests.stack import Visitor, wait_until

Open = Callable[..., Visit]
NOTE = "Only we read this."


def called(stack: Stack, visit: Open, label: str) -> tuple[str, Visit]:
    """An order whose customer has asked for a person, and their open page."""
    number = another_5531(stack, label)
    ming = visit("ming", device="phone", language="en")
    ming.open_order(number)
    ming.page.locator(".chat-person button").click()
    ming.sees(ming.page.locator("[data-slot=person]:visible"))
    return number, ming


def test_an_inbox_that_is_open_hears_of_who_needs_a_person_and_is_walked_by_keys(visit: Open, stack: Stack) -> None:
    staff = visit("staff", language="en")
    staff.page.goto("/staff/?state=needs_person&whose=unassigned")
    staff.page.evaluate("window.sameDocument = true")
    number, _ = called(stack, visit, "inbox-keys")
    row = staff.page.locator(".queue-row").filter(has_text=number)
    expect(row).to_be_visible(timeout=WAIT)
    assert staff.page.evaluate("window.sameDocument"), "nothing was loaded anew"
    check(staff)
    for _ in range(40):
        staff.page.keyboard.press("j")
        if row.evaluate("(node) => node === document.activeElement"):
            break
    staff.page.keyboard.press("r")
    expect(staff.page.locator("#reply")).to_be_focused()
    staff.page.go_back()
    row.focus()
    staff.page.keyboard.press("t")
    staff.sees(staff.page.get_by_role("button", name="Give back to the assistant"))
    staff.page.keyboard.press("r")
    expect(staff.page.locator("#reply")).to_be_focused()
    staff.page.keyboard.press("Escape")
    staff.page.keyboard.press("n")
    expect(staff.page.locator("#note")).to_be_focused()
    staff.page.keyboard.type(NOTE)
    check(staff)
    staff.page.get_by_role("button", name="Assign", exact=True).click()
    staff.sees(staff.page.locator(".toast"))
    expect(staff.page.locator("#note")).to_have_value(NOTE)
    staff.page.get_by_role("button", name="Keep the note").click()
    staff.sees(staff.page.locator(".talk-note").filter(has_text=NOTE))
    expect(staff.page.locator("#note")).to_have_value("")
    with Visitor(stack, "ming") as ming:
        for name in ("inbox-beside-1", "inbox-beside-2"):
            say(ming, another_5531(stack, name), "hello")
    walked_beside_a_conversation(staff)
    staff.shoot("35-conversation-desk")
    assert staff.problems == []


def walked_beside_a_conversation(staff: Visit) -> None:
    """From the row of the open conversation on, one row with each press."""
    staff.page.goto("/staff/?state=all")
    staff.page.locator(".queue-row").first.click()
    staff.page.wait_for_url("**/staff/conversations/*/")
    for number in (1, 2):
        staff.page.keyboard.press("j")
        expect(staff.page.locator("#beside .queue-row").nth(number)).to_be_focused()


def test_colleagues_see_each_other_and_what_is_typed_stays_while_things_change(visit: Open, stack: Stack) -> None:
    _, ming = called(stack, visit, "inbox-two")
    staff, supervisor = visit("staff", language="en"), visit("supervisor", language="en")
    staff.page.goto("/staff/?state=needs_person")
    staff.page.locator(".queue-row").last.click()
    staff.page.wait_for_url("**/staff/conversations/*/")
    supervisor.page.goto(staff.page.url)
    expect(staff.page.locator("#here")).to_contain_text("is looking too", timeout=WAIT)
    supervisor.page.locator("#reply").fill("I am typing")
    expect(staff.page.locator("#here")).to_contain_text("is writing", timeout=WAIT)
    staff.page.locator("#reply").fill("Half a sen")
    ming.write("Are you there?")
    expect(staff.page.locator("#log")).to_contain_text("Are you there?", timeout=WAIT)
    staff.page.locator("#facts summary").click()
    supervisor.page.locator("#note-fold summary").click()
    supervisor.page.locator("#note").fill(NOTE)
    supervisor.page.get_by_role("button", name="Keep the note").click()
    expect(staff.page.locator("#log")).to_contain_text(NOTE, timeout=WAIT)
    expect(staff.page.locator("#facts")).to_have_attribute("open", "")
    assert staff.page.locator("#reply").input_value() == "Half a sen"
    assert NOTE not in (ming.page.content())
    assert staff.problems == supervisor.problems == ming.problems == []


def test_a_refund_is_offered_from_the_conversation_and_the_customers_press_pays_it(visit: Open, stack: Stack) -> None:
    number, ming = called(stack, visit, "inbox-offer")
    with Visitor(stack, "supervisor") as supervisor:
        fields = {
            "title": f"Hello {number}",
            "language": "en",
            "text": "Hello {{customer_name}}, order {{order_number}}.",
        }
        supervisor.post("/staff/answers/new/", fields)
    staff = visit("staff", language="en")
    staff.page.goto(f"/staff/?q={number.replace('#', '%23')}")
    staff.page.locator(".queue-row").first.click()
    staff.page.wait_for_url("**/staff/conversations/*/")
    staff.page.locator("#canned summary").click()
    staff.page.get_by_role("link", name=f"Hello {number}").click()
    expect(staff.page.locator("#reply")).to_have_value(f"Hello 王小明, order {number}.")
    staff.page.get_by_role("button", name="Send").click()
    ming.sees(ming.said_by("staff").filter(has_text=number))
    staff.page.locator("#offer summary").click()
    staff.page.locator("#offer").get_by_role("checkbox", name="耳機殼").check()
    staff.sees(staff.page.locator("#offer-quote [data-amount='230']"))
    check(staff)
    staff.page.get_by_role("button", name="Put it on the customer's page").click()
    staff.page.locator("#offer summary").click()
    staff.page.locator("#offer").get_by_role("checkbox", name="耳機殼").check()
    ming.press(ming.sees(ming.card("refund")), "Confirm refund NT$230")
    wait_until(lambda: paid_out(stack, number) == [230])
    expect(staff.page.locator(".talk-card .badge.tone-good")).to_be_visible(timeout=WAIT)
    expect(staff.page.locator("#talk-order .icon + .badge")).to_be_visible(timeout=WAIT)
    expect(staff.page.locator("#offer").get_by_role("checkbox", name="耳機殼")).to_be_checked()
    staff.shoot("36-offered")
    assert staff.problems == ming.problems == []
