"""Each page for whom it is made: strangers sign in, others are refused, and what is foreign does not exist."""

import pytest
from django.test import Client

from orders.tests import cast
from orders.tests.factories import payment_body
from tests.pages.visiting import refund_card, said, signed_in, stranger, text_of

pytestmark = pytest.mark.django_db

STAFF_PAGES = {
    "/staff/": {"staff", "supervisor", "admin"},
    "/staff/orders/": {"staff", "supervisor", "warehouse", "admin"},
    "/staff/orders/5531/": {"staff", "supervisor", "warehouse", "admin"},
    "/staff/copilot/": {"staff", "supervisor", "admin"},
    "/staff/refunds/": {"staff", "supervisor", "admin"},
    "/staff/approvals/": {"supervisor", "admin"},
    "/staff/returns/": {"staff", "supervisor", "warehouse", "admin"},
    "/staff/policies/": {"staff", "supervisor", "auditor", "marketing", "admin"},
    "/staff/replacements/": {"staff", "supervisor", "warehouse", "admin"},
    "/staff/books/": {"staff", "supervisor", "auditor", "admin"},
    "/staff/orders/5531/exchange/": {"staff", "supervisor", "admin"},
    "/staff/orders/5531/resend/": {"staff", "supervisor", "admin"},
    "/staff/orders/5531/exception/": {"staff", "supervisor", "admin"},
    "/staff/orders/5531/compensation/": {"staff", "supervisor", "admin"},
    "/staff/orders/5531/address/": {"staff", "supervisor", "admin"},
    "/staff/orders/5531/refund-elsewhere/": {"supervisor", "admin"},
    "/staff/reports/": {"supervisor", "auditor", "admin"},
    "/staff/reports/hand-offs.csv": {"supervisor", "auditor", "admin"},
    "/staff/audit/": {"supervisor", "auditor", "admin"},
    "/staff/evals/": {"supervisor", "auditor", "admin"},
    "/staff/exports/": {"staff", "supervisor", "warehouse", "auditor", "admin"},
    "/admin/": {"supervisor", "auditor", "admin"},
}
EVERYBODY = ("ming", "staff", "supervisor", "warehouse", "auditor", "marketing", "admin")


@pytest.mark.parametrize("name", EVERYBODY)
@pytest.mark.parametrize("path", STAFF_PAGES)
def test_a_staff_page_opens_for_its_roles_and_is_refused_to_all_others(path: str, name: str) -> None:
    cast.order_5531()
    expected = 200 if name in STAFF_PAGES[path] else 403
    assert signed_in(name).get(path).status_code == expected


@pytest.mark.parametrize("path", [*STAFF_PAGES, "/orders/", "/orders/5531/", "/staff/conversations/1/"])
def test_a_stranger_is_asked_to_sign_in_and_led_back(path: str) -> None:
    answer = stranger().get(path)
    assert answer.status_code == 302
    assert answer["Location"].endswith(f"?next={path}")


@pytest.mark.parametrize(
    ("headers", "leads_to"),
    [
        (
            {"HX-Request": "true", "HX-Current-URL": "http://testserver/staff/conversations/1/?q=1"},
            "/staff/conversations/1/",
        ),
        ({"HX-Request": "true", "HX-Current-URL": "https://elsewhere.example/staff/"}, "/"),
        ({"X-Dialog": "1", "Referer": "http://testserver/staff/approvals/"}, "/staff/approvals/"),
    ],
)
def test_an_open_page_whose_session_has_ended_gets_no_sign_in_put_into_it(
    headers: dict[str, str], leads_to: str
) -> None:
    answer = stranger().get("/staff/conversations/1/log/", headers=headers)
    assert (answer.status_code, answer.content) == (401, b"")
    assert answer["X-Sign-In"] == f"/accounts/login/?next={leads_to}"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("staff", "/staff/orders/5531/pack/"),
        ("warehouse", "/staff/orders/5531/quote/"),
        ("warehouse", "/staff/orders/5531/customer-link/"),
        ("staff", "/staff/approvals/ap_000000000000/approve/"),
        ("staff", "/staff/approvals/ap_000000000000/reject/"),
        ("staff", "/staff/returns/rt_000000000000/receive/"),
        ("staff", "/staff/replacements/rp_000000000000/release/"),
        ("staff", "/staff/refunds/rf_000000000000/assign/"),
        ("warehouse", "/staff/alerts/1/settle/"),
        ("warehouse", "/staff/orders/5531/exception/preview/"),
        ("warehouse", "/staff/refunds/rf_00000000000000000000/retry/"),
        ("warehouse", "/staff/refunds/rf_00000000000000000000/settled/"),
        ("ming", "/staff/orders/5531/quote/"),
        ("auditor", "/staff/orders/5531/quote/"),
        ("warehouse", "/staff/conversations/1/take-over/"),
        ("auditor", "/staff/copilot/ask/"),
    ],
)
def test_buttons_are_refused_to_whoever_lacks_the_permission(name: str, path: str) -> None:
    cast.order_5531()
    assert signed_in(name).post(path).status_code == 403


@pytest.mark.parametrize("number", ["5602", "9999", "nothing-like-it"])
def test_a_foreign_order_and_a_missing_one_are_the_same_404(number: str) -> None:
    cast.place("5602", who="ming2")
    cast.customer_user("ming")
    foreign = signed_in("ming").get(f"/orders/{number}/")
    assert foreign.status_code == 404
    assert text_of(foreign) == text_of(signed_in("ming").get("/orders/0000/"))


def test_a_foreign_card_is_a_404_whatever_is_pressed() -> None:
    card = refund_card(cast.order_5531())
    other = signed_in("ming2")
    assert other.post(f"/refunds/quotes/{card.quote_id}/confirm/").status_code == 404
    assert other.post(f"/orders/5531/chat/cards/{card.pk}/confirm/").status_code == 404


def test_staff_do_not_walk_into_a_customers_page() -> None:
    cast.order_5531()
    assert signed_in("staff").get("/orders/5531/").status_code == 404


def test_a_conversation_that_does_not_exist_is_a_404_for_staff() -> None:
    conversation = said(cast.order_5531())
    staff = signed_in("staff")
    assert staff.get(f"/staff/conversations/{conversation.pk}/").status_code == 200
    assert staff.get(f"/staff/conversations/{conversation.pk + 1}/").status_code == 404


def test_the_warehouse_sees_goods_and_parcels_but_no_money() -> None:
    cast.order_5531()
    page = text_of(signed_in("warehouse").get("/staff/orders/5531/"))
    assert "藍牙耳機" in page
    assert "NT$" not in page
    assert "4242" not in page


def test_the_warehouses_list_of_orders_tells_no_amounts_and_is_narrowed_by_none() -> None:
    cast.order_5531()
    for_staff, for_warehouse = (text_of(signed_in(name).get("/staff/orders/")) for name in ("staff", "warehouse"))
    assert "NT$" in for_staff
    assert 'name="over"' in for_staff
    assert "藍牙耳機" in for_warehouse
    assert "NT$" not in for_warehouse
    assert 'name="over"' not in for_warehouse
    cast.place("9401", currency="USD", lines=[("Case", 900, 1)], payments=[payment_body(900)])
    for narrower in ("over=99999", "under=1", "currency=USD"):
        assert "藍牙耳機" not in text_of(signed_in("staff").get(f"/staff/orders/?{narrower}"))
        assert "藍牙耳機" in text_of(signed_in("warehouse").get(f"/staff/orders/?{narrower}"))


# From where a page may load, and who may show it; what stands in no line may come from nowhere.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


@pytest.mark.parametrize(("name", "path"), [("ming", "/orders/5531/"), ("staff", "/staff/"), ("", "/accounts/login/")])
def test_a_page_keeps_to_itself_and_stands_in_no_frame(name: str, path: str) -> None:
    cast.order_5531()
    answer = (signed_in(name) if name else stranger()).get(path)
    assert answer.status_code == 200
    told = [line.strip().partition(" ") for line in answer["Content-Security-Policy"].split(";")]
    assert {line: sources for line, _, sources in told} == POLICY
    assert answer["X-Frame-Options"] == "DENY"


def test_pages_are_not_kept_by_caches_and_keep_scripts_out(client: Client) -> None:
    cast.order_5531()
    answer = signed_in("ming").get("/orders/5531/")
    assert "no-store" in answer["Cache-Control"]
    assert " style=" not in text_of(answer)
    assert "onclick" not in text_of(answer)
