"""Where a hint sends customers to the shop's staff, staff are told what they can do, by API and on their screens."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.tests.browser import post_json
from refunds.tests.browser import signed_in as browser_of
from refunds.tests.test_elsewhere import book
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db
ASKED = {"lines": [{"line_item_id": "li_1", "quantity": 1, "reason": "changed_mind"}]}
FORM = {"pick": "li_1.return", "quantity.li_1.return": "1", "reason.li_1.return": "changed_mind"}
DECIDED = "A person of the shop decides about exceptions."
ASK = "Ask for an exception, so that they can come back: a second person decides about it."


@pytest.fixture(autouse=True)
def in_english() -> Any:
    with translation.override("en"):
        yield


def too_late() -> Order:
    order = cast.place("9601", lines=[("襪子", 500, 2)], shipments=[shipment_body({1: 2})])
    cast.delivered_days_ago(order, 9)
    return order


def api(who: str) -> Client:
    return browser_of(who, headers={"Accept-Language": "en", "Accept": "application/json"})


def by_api(who: str) -> Any:
    return post_json(api(who), "/api/v1/orders/9601/refund-quotes/", ASKED).json()


def eligibility(who: str) -> Any:
    answer = api(who).get("/api/v1/orders/9601/returns/eligibility/").json()
    return answer["lines"][0]["units"][0]["refusal"]


@pytest.mark.parametrize("door", [by_api, eligibility])
def test_by_api_the_hint_is_for_whoever_reads_it(door: Any) -> None:
    too_late()
    assert (door("ming")["hint"], door("staff")["hint"]) == (DECIDED, ASK)


def test_on_the_page_of_the_order_staff_are_told_what_to_ask_for() -> None:
    too_late()
    browser = signed_in("staff", language="en")
    page = text_of(browser.post("/staff/orders/9601/quote/", {**FORM, "reason.li_1.return": "changed_mind"}))
    assert ASK in page
    assert DECIDED not in page


def test_what_was_refunded_elsewhere_is_explained_by_staff_themselves() -> None:
    order = too_late()
    cast.delivered_days_ago(order, 1)
    book(order, 100, at=timezone.now().isoformat())
    assert "Let a person of the shop enter its goods" in by_api("ming")["hint"]
    assert by_api("staff")["hint"].startswith("Say first what it was for")
