"""Requests that no page makes: a button's address opened as a page, half a character, text that nobody sees."""

import pytest
from django.test import Client

from orders.errors import InvalidInput
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.models import Approval, Refund, Return
from tests.pages.visiting import signed_in, text_of

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


FORMS = {
    "/staff/orders/5531/exchange/": ("pick", "quantity.li_1.exchange", "product.li_1.exchange", "words.li_1.exchange"),
    "/staff/orders/5531/resend/": ("pick", "quantity.li_1.resend", "note", "token"),
    "/staff/orders/5531/exception/": ("pick", "quantity.li_1.return", "reason.li_1.return", "note"),
    "/staff/orders/5531/exception/preview/": ("pick", "quantity.li_1.return", "reason.li_1.return"),
    "/staff/orders/5531/compensation/": ("amount", "reason", "token"),
    "/staff/orders/5531/address/": ("recipient", "phone", "postal_code", "city", "district", "street"),
    "/staff/orders/5531/refund-elsewhere/": ("amount", "external_ref", "payment_id", "for", "pick", "note"),
}


@pytest.mark.parametrize("odd", ["\x00", "li_1.\x00", "𝟙", "٩", "-1", "9" * 5000, "'); --", "<script>", "\u202e"])
@pytest.mark.parametrize("path", FORMS)
def test_whatever_stands_in_a_form_of_the_staff_it_is_refused_and_nothing_moves(path: str, odd: str) -> None:
    cast.order_5531()
    answer = signed_in("supervisor").post(path, dict.fromkeys(FORMS[path], odd))
    assert answer.status_code < 500
    assert "<script>" not in text_of(answer).replace("<script type", "")
    assert [model.objects.count() for model in (Return, Refund, Approval)] == [0, 0, 0]
