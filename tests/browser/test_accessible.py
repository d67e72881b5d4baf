"""Every page can be used without a mouse, without good eyes and on a phone, as far as a machine can tell (axe-core)."""

from collections.abc import Callable, Mapping
from typing import Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.browser.visit import Visit
from tests.flows.chat import open_refund_card, refund_of, say
from tests.stack import Visitor, rows, wait_until

Open = Callable[..., Visit]
GRAVE = {"serious", "critical"}
NOTHING: Final[Mapping[str, str]] = {}
MATCHES = "(node, selector) => node.matches(selector)"
PHONE = {"width": 390, "height": 844}
TABLET = {"width": 1024, "height": 768}
DESKTOP = {"width": 1440, "height": 900}
TOP_IS_SEEN = """(node) => {
    const box = node.getBoundingClientRect();
    return node.contains(document.elementFromPoint(box.x + 4, box.y + 4));
}"""


@pytest.fixture(scope="module")
def talk(stack: Stack) -> str:
    """The number of an order whose customer has two open cards before them."""
    number = another_5531(stack, "5531-axe")
    with Visitor(stack, "ming") as ming:
        say(ming, number)
    open_refund_card(stack, number)
    return number


@pytest.fixture(scope="module")
def waiting(stack: Stack) -> None:
    """A refund that waits for a second person, and one that the provider has refused."""
    with Visitor(stack, "staff") as staff:
        confirm(staff, "5619", "li_1")
        refused = another_5531(stack, "5531-refused")
        stack.manage("gateway_fault", "refuse", "--times", "1")
        confirm(staff, refused, "li_2")
    wait_until(lambda: (refund_of(stack, refused) or {}).get("state") == "failed")


def confirm(staff: Visitor, number: str, line_item_id: str) -> None:
    line = {"line_item_id": line_item_id, "quantity": 1, "reason": "changed_mind"}
    quote = staff.post_json(f"/api/v1/orders/{number}/refund-quotes/", {"lines": [line]}).json()
    answer = staff.post_json(f"/api/v1/refund-quotes/{quote['quote_id']}/redeem/", {"note": "顧客來電取消"})
    assert answer.status_code == 201, answer.text


def check(visiting: Visit, apart_from: Mapping[str, str] = NOTHING) -> None:
    """What axe complains of on a desk and on a phone, and what sticks out sideways on a phone and on a tablet.

    `apart_from`: the rules that the parts of somebody else's script break, each with a selector of just those parts.
    """
    page = visiting.page
    complaints = grave(page, apart_from)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    complaints |= grave(page, apart_from)
    too_wide = [] if visiting.fits_the_width() else ["phone"]
    page.set_viewport_size(TABLET)  # type: ignore[arg-type]
    too_wide += [] if visiting.fits_the_width() else ["tablet"]
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    assert complaints == set(), page.url
    assert too_wide == [], page.url


def grave(page: Page, apart_from: Mapping[str, str] = NOTHING) -> set[str]:
    found = Axe().run(page).response["violations"]
    return {
        f"{each['id']}: {node['target']} {node['html'][:160]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
        if each["id"] not in apart_from or not page.locator(node["target"][0]).evaluate(MATCHES, apart_from[each["id"]])
    }


def test_the_sign_in(visit: Open) -> None:
    stranger = visit(None)
    stranger.page.goto("/accounts/login/")
    check(stranger)


def test_the_customers_orders_and_an_order_with_open_cards(visit: Open, talk: str) -> None:
    ming = visit("ming")
    check(ming)
    ming.open_order(talk)
    ming.sees(ming.card("refund"))
    check(ming)
    ming.open_order("5531")
    check(ming)


def test_what_is_jumped_to_is_not_covered_on_a_phone(visit: Open, talk: str) -> None:
    ming = visit("ming", device="phone")
    ming.open_order(talk)
    ming.page.locator(".jump-to-chat").click()
    wait_until(lambda: ming.page.locator("#chat").evaluate(TOP_IS_SEEN), timeout=5)


@pytest.mark.usefixtures("waiting")
def test_staffs_queue_order_conversation_and_what_needs_a_look(visit: Open, stack: Stack, talk: str) -> None:
    staff = visit("staff")
    staff.page.goto("/staff/?state=waiting")
    check(staff)
    staff.page.goto(f"/staff/orders/{talk}/")
    staff.page.get_by_label("耳機殼 CASE").check()
    staff.sees(staff.page.locator("[data-quote]"))
    check(staff)
    (row,) = rows(
        stack,
        "select c.id from agent_conversation c join orders_order o on o.id = c.order_id where o.number = %s",
        talk,
    )
    for path in (f"/staff/conversations/{row['id']}/", "/staff/orders/", "/staff/refunds/"):
        staff.page.goto(path)
        check(staff)
    staff.shoot("17-needs-a-look")


@pytest.mark.usefixtures("waiting")
def test_approvals_and_returns(visit: Open) -> None:
    supervisor = visit("supervisor")
    supervisor.page.goto("/staff/approvals/")
    supervisor.sees(supervisor.page.get_by_text("NT$32,900"))
    check(supervisor)
    supervisor.shoot("18-approvals")
    supervisor.page.goto("/staff/returns/")
    check(supervisor)
    supervisor.shoot("19-returns")


def test_the_forms_for_what_else_a_shop_gives_back(visit: Open, stack: Stack) -> None:
    staff, number = visit("staff"), another_5531(stack, "5531-forms")
    staff.page.goto(f"/staff/orders/{number}/exchange/")
    staff.page.get_by_label("藍牙耳機 EAR").check()
    staff.page.locator("input[type=search][name^=words]").fill("藍牙")
    staff.sees(staff.page.locator("input[type=radio][value=EAR-WHITE]"))
    check(staff)
    staff.page.goto("/staff/orders/5477/exception/")
    staff.page.get_by_label("藍牙喇叭 SPEAKER").check()
    staff.sees(staff.page.locator("[data-amount]"))
    check(staff)
    for path in ("5613/resend", f"{number}/compensation", "5610/address"):
        staff.page.goto(f"/staff/orders/{path}/")
        check(staff)
    staff.page.get_by_label("電話").fill("不是電話")
    staff.page.get_by_role("button", name="儲存地址").click()
    staff.sees(staff.page.locator("[aria-invalid=true]"))
    check(staff)
    supervisor = visit("supervisor")
    supervisor.page.goto("/staff/orders/5618/refund-elsewhere/")
    check(supervisor)
    for path in ("/staff/books/", "/staff/replacements/?all=1", "/staff/approvals/?all=1"):
        supervisor.page.goto(path)
        check(supervisor)


def test_the_returns_desk_from_the_number_on_the_parcel_to_the_acceptance(visit: Open, stack: Stack) -> None:
    (back,) = rows(
        stack,
        "select r.id from refunds_return r join orders_order o on o.id = r.order_id"
        " where o.number = '5623' and r.kind = 'refund'",
    )
    warehouse = visit("warehouse", device="phone")
    warehouse.page.goto("/staff/returns/")
    warehouse.sees(warehouse.page.locator("#q:focus"))
    warehouse.page.keyboard.type(f"{back['id'].upper()}\n")
    warehouse.page.wait_for_url(f"**/staff/returns/{back['id']}/")
    check(warehouse)
    warehouse.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    warehouse.shoot("20-returns-desk")
    warehouse.page.get_by_role("button", name="已收到退貨").click()
    warehouse.sees(warehouse.page.get_by_role("button", name="驗收並退款"))
    check(warehouse)
    warehouse.page.get_by_role("button", name="驗收並退款").click()
    warehouse.sees(warehouse.page.locator(".toast"))
    check(warehouse)


def test_a_long_talk_does_not_make_the_page_longer(visit: Open, talk: str) -> None:
    """On a wide screen the conversation scrolls inside its frame, with all that is hidden in it."""
    ming = visit("ming")
    ming.open_order(talk)
    ming.write("那我的包裹到哪了？")
    ming.sees(ming.card("exchange", "declined"))
    assert ming.page.evaluate("document.documentElement.scrollHeight - window.innerHeight") <= 0


@pytest.mark.usefixtures("waiting")
def test_states_in_whole_sentences_do_not_push_a_phones_page_wider(visit: Open, stack: Stack) -> None:
    number = another_5531(stack, "5531-narrow")
    with Visitor(stack, "supervisor") as supervisor:
        line = {"line_item_id": "li_1", "quantity": 1, "reason": "defective"}
        quote = supervisor.post_json(f"/api/v1/orders/{number}/refund-quotes/", {"lines": [line]}).json()
        back = supervisor.post_json(f"/api/v1/refund-quotes/{quote['quote_id']}/redeem/", {"note": "有雜音"}).json()
    with Visitor(stack, "warehouse") as warehouse:
        address = f"/api/v1/returns/{back['return_id']}"
        warehouse.post_json(f"{address}/receive/", {})
        stack.manage("gateway_fault", "refuse", "--times", "1")
        assert warehouse.post_json(f"{address}/accept/", {}).status_code == 200
    wait_until(lambda: (refund_of(stack, number) or {}).get("state") == "failed")
    an_alert = "insert into refunds_staffalert (kind, subject, provider, order_id, facts, raised_at, note, mailed_at)"
    facts = '{"provider_refund_id": "re_narrow", "amount": 380, "currency": "TWD"}'
    values = "select 'not_announced', 'stripe:re_narrow', 'stripe', id, %s::jsonb, now(), '', now() from orders_order"
    rows(stack, f"{an_alert} {values} where number = %s", facts, number)
    for language in ("en", "zh-TW"):
        staff = visit("supervisor", language=language)
        # A device that is a phone shows a page that is too wide smaller, and everything seems to fit.
        staff.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        for path in ("/staff/refunds/", "/staff/returns/?all=1", f"/staff/orders/{number}/", "/staff/approvals/"):
            staff.page.goto(path)
            assert staff.fits_the_width(), (path, language)
