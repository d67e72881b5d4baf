"""The same order sent twice at the same moment is one order, and both senders are told the truth."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from orders import ingest
from orders.errors import Refusal
from orders.ingest import take_in
from orders.models import AuditEvent, Customer, Order, Product
from orders.tests import cast
from orders.tests.factories import line_body, order_body
from orders.tests.race import at_once, wait_until_blocked

pytestmark = pytest.mark.django_db(transaction=True)


def taker(body: dict[str, Any]) -> Any:
    return partial(take_in, body=body, actor=cast.SHOP)


def test_the_same_body_from_many_senders_makes_one_order_and_all_get_it() -> None:
    body = order_body("7001")
    answers = at_once([taker(body)] * 8)
    given = [answer for answer in answers if not isinstance(answer, Exception)]
    assert Counter(created for _, created in given) == {True: 1, False: 7}
    assert Order.objects.count() == AuditEvent.objects.count() == 1
    assert {order.pk for order, _ in given} == {Order.objects.get().pk}


def test_two_bodies_for_one_number_make_one_order_and_the_other_is_told() -> None:
    bodies = [
        order_body("7001", customer={"external_id": f"c-{n}", "name": f"客人 {n}"}, lines=[(f"書 {n}", 500, 1)])
        for n in range(6)
    ]
    answers = at_once([taker(body) for body in bodies])
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert len(refused) == 5
    assert {refusal.code for refusal in refused} == {"order_differs"}
    assert Customer.objects.count() == Product.objects.count() == 1


def test_two_addresses_for_one_number_make_one_order_with_one_of_them() -> None:
    home = {"recipient": "王", "phone": "0912345678", "postal_code": "106", "city": "台北市", "district": ""}
    body = order_body("7001")
    bodies = [{**body, "shipping_address": {**home, "street": f"{n} 號"}} for n in (1, 1, 2, 2)]
    answers = at_once([taker(body) for body in bodies])
    order = Order.objects.get()
    given = [answer for answer in answers if not isinstance(answer, Exception)]
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert [taken.shipping_address == order.shipping_address for taken, _ in given] == [True, True]
    assert [refusal.code for refusal in refused] == ["order_differs", "order_differs"]


def test_new_products_in_any_order_do_not_block_each_other() -> None:
    """Two take-ins that add the same products the other way round would each wait for what the other holds."""
    goods = [line_body(1, name, 100, sku=name) for name in ("A", "B", "C")]
    with ThreadPoolExecutor(2) as threads:
        with transaction.atomic():
            add_products(goods[1:2])  # both stop here until this transaction ends
            both = [threads.submit(add_products, lines) for lines in (goods, goods[::-1])]
            wait_until_blocked(2)
        assert [adding.result() for adding in both] == [3, 3]


def add_products(lines: list[dict[str, Any]]) -> int:
    try:
        with transaction.atomic():
            return len(ingest._products(lines, "TWD"))
    finally:
        if threading.current_thread() is not threading.main_thread():
            connection.close()
