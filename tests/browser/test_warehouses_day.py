"""The warehouse's day, on a phone beside the parcel: found by its number, counted by the piece, the refund follows."""

from collections.abc import Callable

from playwright.sync_api import expect

from backoffice.local.stack import Stack
from orders.tests.factories import line_body, shipment_body
from tests.browser.orders_for_tests import order_of_ming
from tests.browser.visit import Visit
from tests.flows.chat import paid_out
from tests.stack import Visitor, wait_until

Open = Callable[..., Visit]


def socks_on_their_way_back(stack: Stack, number: str) -> str:
    """The number of a return of two pieces at NT$500."""
    order_of_ming(stack, number, lines=[line_body(1, "羊毛襪", 500, 2)], shipments=[shipment_body({1: 2})])
    line = {"line_item_id": "li_1", "quantity": 2, "reason": "changed_mind"}
    with Visitor(stack, "staff") as staff:
        quote = staff.post_json(f"/api/v1/orders/{number}/refund-quotes/", {"lines": [line]}).json()
        made = staff.post_json(f"/api/v1/refund-quotes/{quote['quote_id']}/redeem/", {"note": "顧客來電"}).json()
    return str(made["return_id"])


def open_parcel(warehouse: Visit, return_id: str) -> None:
    """By the last characters of the number, as one types them from a label."""
    warehouse.page.goto("/staff/returns/")
    warehouse.page.locator("#q").fill(return_id[-6:])
    warehouse.page.locator("#q").press("Enter")
    warehouse.page.wait_for_url(f"**/staff/returns/{return_id}/")
    assert warehouse.fits_the_width()


def test_a_parcel_is_received_by_its_number_and_the_refund_follows(visit: Open, stack: Stack) -> None:
    back = socks_on_their_way_back(stack, "day-socks")
    warehouse = visit("warehouse", device="phone")
    open_parcel(warehouse, back)
    warehouse.page.get_by_role("button", name="已收到退貨").click()
    warehouse.page.get_by_role("button", name="驗收並退款").click()
    warehouse.sees(warehouse.page.get_by_text("已驗收，退款處理中"))
    wait_until(lambda: paid_out(stack, "day-socks") == [1000])
    assert "NT$" not in warehouse.page.locator("main").inner_text(), "money is none of the warehouse's business"
    assert warehouse.problems == []


def test_what_is_broken_is_counted_and_less_than_promised_waits_for_a_second_person(visit: Open, stack: Stack) -> None:
    back = socks_on_their_way_back(stack, "day-broken")
    warehouse = visit("warehouse", device="phone")
    page = warehouse.page
    open_parcel(warehouse, back)
    page.get_by_label("顧客造成的損壞", exact=True).fill("1")
    page.get_by_label("符合", exact=True).fill("1")
    page.get_by_role("button", name="已收到退貨").click()
    warehouse.sees(page.get_by_text("顧客造成的損壞 × 1"))
    page.get_by_role("button", name="驗收並退款").click()
    warehouse.sees(page.get_by_text("退款須由另一位同事核准"))
    assert paid_out(stack, "day-broken") == []

    supervisor = visit("supervisor")
    supervisor.page.goto("/staff/approvals/")
    waits = supervisor.page.locator("section.panel").filter(has_text="day-broken")
    expect(waits).to_contain_text("原先答應顧客退 NT$1,000")
    waits.get_by_role("link", name="核准 NT$500").click()
    supervisor.page.locator("dialog[open]").get_by_role("button", name="核准 NT$500").click()
    wait_until(lambda: paid_out(stack, "day-broken") == [500])
    assert warehouse.problems == supervisor.problems == []
