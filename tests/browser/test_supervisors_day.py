"""A supervisor's day: one question is approved and paid, one rejected with a reason that whoever asked can read."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from orders.tests.factories import line_body
from tests.browser.orders_for_tests import another_5531, order_of_ming
from tests.browser.test_accessible import check, confirm
from tests.browser.visit import Visit
from tests.flows.chat import paid_out
from tests.stack import Visitor, rows, wait_until

Open = Callable[..., Visit]
REASON = "上週已經補償過一次"


def approval_of(stack: Stack, number: str) -> str:
    (asked,) = rows(
        stack,
        "select a.id from refunds_approval a join orders_order o on o.id = a.order_id where o.number = %s",
        number,
    )
    return str(asked["id"])


def the_session_ends_and_begins_anew(supervisor: Visit) -> None:
    """What was typed in the dialog stands there before, between and after: first nobody answers, then the sign-in."""
    page, dialog = supervisor.page, supervisor.page.locator("dialog[open]")
    page.route("**/reject/", lambda route: route.abort())
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("沒有收到回應")
    page.unroute("**/reject/")
    page.context.clear_cookies(name="sessionid")
    dialog.get_by_role("button", name="駁回").press("Enter")
    sign_in = dialog.get_by_role("link", name="在新分頁登入")
    expect(sign_in).to_have_attribute("href", "/accounts/login/?next=/staff/approvals/")
    expect(dialog.get_by_role("textbox", name="原因")).to_have_value(REASON)
    other = Visit(page.context.new_page(), device=supervisor.device, screens=supervisor.screens)
    other.sign_in("supervisor")
    dialog.get_by_role("button", name="駁回").focus()


def test_one_is_approved_and_paid_one_is_rejected_and_the_asker_reads_why(visit: Open, stack: Stack) -> None:
    large = order_of_ming(stack, "day-large", lines=[line_body(1, "家庭劇院", 25000)])
    late = another_5531(stack, "day-late")
    with Visitor(stack, "staff") as asker:
        confirm(asker, large, "li_1")
        asker.post(f"/staff/orders/{late}/compensation/", {"amount": "100", "reason": "配送延遲致歉"})

    supervisor = visit("supervisor")
    page = supervisor.page
    page.goto("/staff/approvals/")
    first, second = (page.locator(f"#{approval_of(stack, number)}") for number in (large, late))
    expect(first).to_contain_text("顧客來電取消")
    expect(second).to_contain_text("配送延遲致歉")
    assert paid_out(stack, large) == []
    dialog = page.locator("dialog[open]")
    first.get_by_role("link", name="核准 NT$25,000").click()
    dialog.get_by_role("button", name="核准 NT$25,000").click()
    expect(first).to_have_count(0)
    supervisor.sees(page.locator(".toast").filter(has_text="NT$25,000"))
    wait_until(lambda: paid_out(stack, large) == [25000])
    second.get_by_role("link", name="駁回").press("Enter")
    expect(dialog.get_by_role("textbox", name="原因")).to_be_focused()
    page.keyboard.type(REASON)
    check(supervisor)
    page.keyboard.press("Tab")
    the_session_ends_and_begins_anew(supervisor)
    page.keyboard.press("Enter")
    expect(second).to_have_count(0)
    page.goto("/staff/approvals/?all=1")
    expect(second).to_contain_text(REASON)

    staff = visit("staff")
    staff.page.goto(f"/staff/orders/{late}/")
    asked = staff.page.locator(f"#{approval_of(stack, late)}")
    expect(asked).to_contain_text("已駁回")
    expect(asked).to_contain_text(REASON)
    expect(asked).to_contain_text("客服主管")
    assert paid_out(stack, late) == []
    assert supervisor.problems == staff.problems == []
