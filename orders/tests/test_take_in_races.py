"""The same order sent twice at the same moment is one order, and both senders are told the truth."""

from collections import Counter
from functools import partial
from typing import Any

import pytest

from orders.errors import Refusal
from orders.ingest import take_in
from orders.models import AuditEvent, Customer, Order, Product
from orders.tests import cast
from orders.tests.factories import line_body, order_body
from orders.tests.race import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def taker(body: dict[str, Any]) -> Any:
    return partial(take_in, body=body, actor=cast.SHOP)


def test_the_same_body_from_many_senders_makes_one_order_and_all_get_it() -> None:
    body = order_body("7001")
    answers = at_once([taker(body)] * 8)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert Counter(created for _, created in answers) == {True: 1, False: 7}
    assert Order.objects.count() == AuditEvent.objects.count() == 1
    assert {order.pk for order, _ in answers} == {Order.objects.get().pk}


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


def test_different_orders_with_the_same_new_products_do_not_block_each_other() -> None:
    goods = [line_body(n, f"商品 {n}", 100) for n in range(1, 121)]
    bodies = [
        order_body(
            str(7001 + n),
            lines=goods if n % 2 else goods[::-1],
            customer={"external_id": f"c-{n}", "name": f"客人 {n}"},
        )
        for n in range(8)
    ]
    answers = at_once([taker(body) for body in bodies])
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert Order.objects.count() == 8
    assert Product.objects.count() == 120
