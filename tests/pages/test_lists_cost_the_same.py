"""A list asks the database as often for a full page of rows as for a few."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agent.models import Conversation
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.models import Refund
from refunds.redeem import redeem
from refunds.tests.ask import ask
from tests.pages.visiting import said, signed_in

pytestmark = pytest.mark.django_db


def an_order(index: int) -> None:
    cast.place(f"Q{index}", lines=[("襪子", 100, 1), ("毛巾", 200, 2)], shipments=[shipment_body({1: 1})])


def a_conversation(index: int) -> None:
    order = cast.place(f"Q{index}")
    said(order, "在嗎")
    Conversation.objects.update(needs_person=True)


def a_return(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("襪子", 500, 1)], shipments=[shipment_body({1: 1})])
    redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())


def an_approval(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("家庭劇院", 25000, 1)])
    redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())


def a_refused_refund(index: int) -> None:
    order = cast.place(f"Q{index}", lines=[("襪子", 100, 1)])
    refund = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).refund
    assert refund
    refund.allocations.update(state="failed")
    Refund.objects.filter(pk=refund.pk).update(state="failed")


LISTS: list[tuple[str, str, Callable[[int], None]]] = [
    ("ming", "/orders/", an_order),
    ("staff", "/staff/orders/", an_order),
    ("staff", "/staff/orders/?q=Q", an_order),
    ("staff", "/staff/", a_conversation),
    ("supervisor", "/staff/approvals/", an_approval),
    ("supervisor", "/staff/approvals/", a_refused_refund),
    ("staff", "/staff/refunds/", a_refused_refund),
    ("warehouse", "/staff/returns/", a_return),
    ("staff", "/staff/returns/?all=1", a_return),
]


def queries(browser: Client, path: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert browser.get(path).status_code == 200
    return len(captured)


@pytest.mark.parametrize(("name", "path", "make"), LISTS, ids=[path for _, path, _ in LISTS])
def test_a_list_asks_as_often_for_many_rows_as_for_few(name: str, path: str, make: Callable[[int], None]) -> None:
    browser = signed_in(name)
    for index in range(3):
        make(index)
    browser.get(path)
    few = queries(browser, path)
    for index in range(3, 15):
        make(index)
    assert queries(browser, path) == few


def test_the_order_page_asks_as_often_for_many_lines_and_parcels_as_for_few() -> None:
    def place(number: str, count: int) -> None:
        cast.place(
            number,
            lines=[(f"商品{position}", 100, 2) for position in range(1, count + 1)],
            shipments=[shipment_body({position: 1}, external_id=f"s{position}") for position in range(1, count + 1)],
        )

    place("few", 2)
    place("many", 12)
    for name, base in (("ming", "/orders/"), ("staff", "/staff/orders/")):
        browser = signed_in(name)
        browser.get(f"{base}few/")
        assert queries(browser, f"{base}few/") == queries(browser, f"{base}many/")


def test_long_lists_have_pages() -> None:
    for index in range(30):
        an_order(index)
    page = signed_in("staff").get("/staff/orders/?q=Q").content.decode()
    assert 'href="?q=Q&amp;page=2"' in page
    assert "第 1 頁，共 2 頁" in page
