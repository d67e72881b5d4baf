"""Requests that no page makes: a button's address opened as a page, half a character, text that nobody sees."""

import pytest
from django.test import Client

from orders.errors import InvalidInput
from orders.tests import cast
from orders.tests.factories import shipment_body

pytestmark = pytest.mark.django_db


@pytest.fixture
def ming() -> Client:
    cast.order_5531()
    client = Client()
    client.force_login(cast.customer_user())
    return client


@pytest.mark.parametrize("path", ["/refunds/quotes/rq_x/confirm/", "/orders/5531/chat/messages/"])
def test_a_button_opened_as_a_page_says_what_to_do(ming: Client, path: str) -> None:
    page = ming.get(path, headers={"Accept": "text/html"})
    assert page.status_code == 405
    assert "回到有按鈕的頁面" in page.content.decode()
    answer = ming.get(path, headers={"Accept": "application/json"})
    assert answer.status_code == 405
    assert answer.json()["code"] == "method_not_allowed"
    assert answer.json()["hint"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"lines": [{"line_item_id": "li_2", "quantity": 1, "reason": "\\ud800"}]}', "lines[0].reason"),
        ('{"lines": [{"line_item_id": "\\udfff", "quantity": 1}]}', "lines[0].line_item_id"),
        ('{"\\ud800": 1}', "body"),
    ],
)
def test_half_a_character_is_refused_with_the_field(ming: Client, body: str, field: str) -> None:
    answer = ming.post("/api/v1/orders/5531/refund-quotes/", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["field"] == field


@pytest.mark.parametrize("text", ["\ufeff", "\u200b", " \u200d\u2060 ", "\u3000"])
def test_text_that_nobody_sees_is_no_message(ming: Client, text: str) -> None:
    answer = ming.post("/orders/5531/chat/messages/", {"text": text}, headers={"Accept": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["field"] == "text"


def test_a_body_that_contradicts_itself_is_a_bad_request(ming: Client) -> None:
    with pytest.raises(InvalidInput) as refused:
        cast.place("7001", shipments=[shipment_body({1: 2})])
    assert refused.value.field == "shipments[0].lines[0].quantity"
