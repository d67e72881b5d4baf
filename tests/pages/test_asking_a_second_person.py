"""Compensation and exceptions: asked for with a reason, decided by somebody else, and what was typed is not lost."""

from typing import Any

import pytest

from backoffice.screens.forms import whole_number
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import payment_body, shipment_body
from refunds.models import Approval, RefundPolicy, RefundQuote
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def too_late(number: str, **fields: Any) -> Order:
    """Goods that came 12 days ago: the time for returns is over."""
    order = cast.place(number, shipments=[shipment_body({1: 1, 2: 1})], **fields)
    cast.delivered_days_ago(order, 12)
    return order


def exception_form(**fields: str) -> dict[str, str]:
    row = {"pick": "li_1.return", "quantity.li_1.return": "1", "reason.li_1.return": "changed_mind"}
    return {**row, "note": "住院中，無法如期退貨", **fields}


def test_a_compensation_is_proposed_within_what_the_page_says_is_left() -> None:
    cast.order_5531()
    cap = RefundPolicy.objects.get(currency="TWD").compensation_cap
    staff = signed_in("staff")
    path = "/staff/orders/5531/compensation/"
    assert path in text_of(staff.get("/staff/orders/5531/"))
    assert f"NT${cap:,}" in text_of(staff.get(path))
    answer = staff.post(path, {"amount": "100", "reason": "配送延遲致歉"}, follow=True)
    asked = Approval.objects.get()
    assert (asked.kind, asked.amount, asked.reason) == ("compensation", 100, "配送延遲致歉")
    assert answer.request["PATH_INFO"] == "/staff/orders/5531/"
    assert f"NT${cap - 100:,}" in text_of(staff.get(path))


@pytest.mark.parametrize(
    "amount", ["", "0", "-5", "1.5", "1,00", ",100", "1,0000", "①００", "٣٠", "１，００", "many", "9" * 40, "999999999"]
)
def test_an_amount_that_cannot_be_is_refused_and_both_fields_stay_as_typed(amount: str) -> None:
    cast.order_5531()
    answer = signed_in("staff").post("/staff/orders/5531/compensation/", {"amount": amount, "reason": "致歉"})
    assert 400 <= answer.status_code < 500
    page = text_of(answer)
    assert f'value="{amount}"' in page
    assert ">致歉</textarea>" in page
    assert not Approval.objects.exists()


def test_amounts_may_be_typed_with_thousands_and_with_the_currencys_decimals() -> None:
    cast.place("9401", currency="USD", lines=[("Case", 90000, 1)], payments=[payment_body(90000)])
    RefundPolicy.objects.filter(currency="USD", version=1)
    staff = signed_in("staff")
    refused = staff.post("/staff/orders/9401/compensation/", {"amount": "1,0.5", "reason": "sorry"})
    assert 400 <= refused.status_code < 500
    staff.post("/staff/orders/9401/compensation/", {"amount": "2.50", "reason": "sorry"})
    assert [asked.amount for asked in Approval.objects.all()] == [250]


@pytest.mark.parametrize(("typed", "cents"), [("２．５０", 250), ("　３.００", 300)])
def test_amounts_may_be_typed_with_a_chinese_keyboard(typed: str, cents: int) -> None:
    cast.place("9401", currency="USD", lines=[("Case", 90000, 1)], payments=[payment_body(90000)])
    signed_in("staff").post("/staff/orders/9401/compensation/", {"amount": typed, "reason": "抱歉"})
    assert [asked.amount for asked in Approval.objects.all()] == [cents]


@pytest.mark.parametrize(
    ("typed", "read"), [("１２", 12), (" ３ ", 3), ("①", "①"), ("²", "²"), ("٣", "٣"), ("１．５", "1.5"), ("", "")]
)
def test_a_whole_number_may_be_too(typed: str, read: int | str) -> None:
    assert whole_number(typed) == read


def test_a_double_press_proposes_once() -> None:
    cast.order_5531()
    staff = signed_in("staff")
    for _ in range(2):
        staff.post("/staff/orders/5531/compensation/", {"amount": "50", "reason": "致歉", "token": "t" * 20})
    assert Approval.objects.count() == 1


def test_what_the_rules_refuse_can_be_asked_for_with_the_amount_shown_before() -> None:
    too_late("9402")
    staff = signed_in("staff")
    path = "/staff/orders/9402/exception/"
    assert path in text_of(staff.get("/staff/orders/9402/"))
    box = text_of(staff.post(f"{path}preview/", exception_form(), headers=HTMX))
    assert 'data-amount="1200"' in box
    assert "<html" not in box
    assert not RefundQuote.objects.exists()
    answer = staff.post(path, exception_form(), follow=True)
    asked = Approval.objects.get()
    assert (asked.kind, asked.amount, asked.reason) == ("override", 1200, "住院中，無法如期退貨")
    assert asked.pk in text_of(answer)


def test_an_exception_without_a_reason_is_refused_and_the_ticks_and_the_amount_stay() -> None:
    too_late("9403")
    answer = signed_in("staff").post("/staff/orders/9403/exception/", exception_form(note=" "))
    assert answer.status_code == 400
    page = text_of(answer)
    assert 'id="other-pick-li_1.return" checked' in page
    assert 'data-amount="1200"' in page
    assert not Approval.objects.exists()


@pytest.mark.parametrize("wrong", [{"quantity.li_1.return": "2"}, {"pick": "li_7.return"}, {"reason.li_1.return": "?"}])
def test_a_preview_that_cannot_be_says_why(wrong: dict[str, str]) -> None:
    too_late("9404")
    box = text_of(signed_in("staff").post("/staff/orders/9404/exception/preview/", exception_form(**wrong)))
    assert 'role="alert"' in box
    assert "data-amount" not in box


def test_goods_that_may_be_returned_anyway_need_no_exception() -> None:
    cast.place("9405", shipments=[shipment_body({1: 1, 2: 1})])
    page = text_of(signed_in("staff", language="en").get("/staff/orders/9405/exception/"))
    assert "Nothing here needs an exception" in page


@pytest.mark.parametrize("path", ["compensation", "exception", "exchange", "resend", "address", "refund-elsewhere"])
def test_the_warehouse_asks_for_none_of_it(path: str) -> None:
    too_late("9406")
    warehouse = signed_in("warehouse")
    assert warehouse.get(f"/staff/orders/9406/{path}/").status_code == 403
    assert warehouse.post(f"/staff/orders/9406/{path}/").status_code == 403
    assert f"/{path}/" not in text_of(warehouse.get("/staff/orders/9406/"))
