"""Words of a shop, a carrier or a payment provider that mean harm: text on every page, and no more than text in mails.

They get into status lines, the steps of cards and e-mails to customers. The browser tests watch the same in the chat.
"""

import re
from typing import Any

import pytest
from django.core import mail as post
from django.utils import timezone
from django.utils.html import escape

from agent import mails, money
from agent.models import Card, CustomerMail
from agent.tests.helpers import becomes, talk, told
from orders.models import Order
from orders.shipments import upsert_shipment
from orders.tests import cast
from orders.tests.factories import ago, fixed_discount, line_body, shipment_body
from refunds import elsewhere, replacements
from refunds.models import Refund
from refunds.redeem import redeem
from refunds.resend import resend
from refunds.resend_check import parse_resend
from refunds.states import AttemptOutcome, RefundState
from refunds.tests.paying import attempted
from tests.pages.visiting import quoted, refund_card, said, signed_in, text_of

pytestmark = pytest.mark.django_db
EVIL = "<img src=//evil.example onerror=x> [x](https://evil.example)"


@pytest.fixture
def order() -> Order:
    """Order 5531, whose customer has an address and has said something."""
    order = cast.order_5531()
    order.customer.email = "ming@example.com"
    order.customer.save()
    said(order, language="en")
    return order


def page_of(order: Order, name: str = "ming") -> str:
    path = f"/orders/{order.number}/" if name == "ming" else f"/staff/orders/{order.number}/"
    return text_of(signed_in(name, language="en").get(path))


def line_in(page: str, text: str) -> None:
    """The chat shows the text as it is, and nothing has been made of it."""
    assert EVIL in text
    assert f'<span data-slot="text">{escape(text)}</span>' in page
    assert EVIL not in page
    assert not re.search(r"<(?:img|a)[^>]*evil\.example", page)


def mailed() -> Any:
    """The one e-mail that is due."""
    CustomerMail.objects.update(not_before=timezone.now())
    assert mails.send_due() == 1
    (sent,) = post.outbox
    assert (sent.message().get_content_type(), getattr(sent, "alternatives", [])) == ("text/plain", [])
    return sent


def refused_refund(order: Order) -> Refund:
    refund = redeem(quote_id=quoted(order).pk, actor=cast.shopper()).refund
    assert refund is not None
    attempted(refund, outcome=AttemptOutcome.REFUSED, code="a code of next year", message=EVIL)
    becomes(refund, RefundState.FAILED)
    money.tell("refund", refund.pk)
    return refund


def test_what_a_provider_says_is_text_for_staff_and_nothing_for_the_customer(order: Order) -> None:
    refund = refused_refund(order)
    (line,) = told(order, "status")
    assert refund.pk in line["text"]
    sent = mailed()
    assert line["text"] in sent.body
    for shown in (page_of(order), sent.body, talk(order).hand_off_summary):
        assert refund.pk in shown
        assert "evil.example" not in shown
    page = page_of(order, "staff")
    assert escape(EVIL) in page
    assert EVIL not in page


def test_the_number_of_a_transfer_is_text_on_the_page_and_in_the_mail(order: Order) -> None:
    payment = order.payments.get().pk
    body = {"external_ref": EVIL, "amount": 100, "payment_id": payment, "note": "x", "lines": [], "for_goods": False}
    refund = elsewhere.record(order=order, body=body, actor=cast.staff("admin"))
    money.tell("refund", refund.pk)
    (line,) = told(order, "status")
    line_in(page_of(order), line["text"])
    assert line["text"] in mailed().body


def test_the_number_of_a_parcel_is_text(order: Order) -> None:
    times = {"packed_at": ago(days=21).isoformat(), "shipped_at": ago(days=20).isoformat()}
    upsert_shipment(
        order=order, body=shipment_body({2: 1}, state="shipped", external_id="s2", **times), actor=cast.SHOP
    )
    lines = parse_resend({"lines": [{"line_item_id": "li_2", "quantity": 1}]})
    replacement = resend(order=order, lines=lines, actor=cast.shopper(), request_ref="test")
    warehouse = cast.staff("warehouse")
    replacements.send(replacement_id=replacement.pk, actor=warehouse, carrier="黑貓", tracking_number=EVIL)
    money.tell("replacement", replacement.pk)
    (line,) = told(order, "status")
    line_in(page_of(order), line["text"])


def test_names_of_goods_and_discounts_are_text_in_the_steps_of_a_card() -> None:
    discount = fixed_discount(150, 1500, label=EVIL)
    lines = [line_body(1, "耳機", 1200), line_body(2, EVIL, 380, sku="CASE")]
    order = cast.place("7003", lines=lines, discounts=[discount])
    refund_card(order)
    steps = [step["text"] for step in Card.objects.get().payload["steps"]]
    assert [EVIL in text for text in steps] == [True, True]
    page = page_of(order)
    for text in steps:
        line_in(page, text)


def test_a_customers_name_is_text_in_the_mail_and_makes_no_header(order: Order) -> None:
    order.customer.name = f"Ming\r\nBcc: everybody@evil.example\r\n{EVIL}"
    order.customer.save()
    refund = redeem(quote_id=quoted(order).pk, actor=cast.shopper()).refund
    assert refund is not None
    becomes(refund, RefundState.SUCCEEDED)
    money.tell("refund", refund.pk)
    sent = mailed()
    assert EVIL in sent.body
    assert sent.recipients() == ["ming@example.com"]
    assert not [value for value in sent.message().values() if "evil.example" in value]
