"""Goods on their way back at the same moment, on real connections: each move happens once, each piece is promised once.

The order's row lock keeps moves of one order apart, the product's conditional update those of different orders. The
same tests without them show what they are for.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from django.db.models import F

from orders import goods, stock
from orders.errors import Refusal
from orders.models import AuditEvent, Order, Product, ShipmentLine
from orders.tests import cast
from orders.tests.factories import shipment_body
from orders.tests.race import at_once
from refunds import replacements, return_states, returns
from refunds.acceptance import accept
from refunds.models import Refund, Replacement, Return, ReturnFinding
from refunds.tests.going_back import (
    accepted_exchange,
    earphones,
    exchange,
    lost_earphones,
    own_stock,
    received_return,
    requested_return,
    sent_again,
    states_of,
    stock_of,
    warehouse,
)

pytestmark = pytest.mark.django_db(transaction=True)
LOST = (1, 1, "lost")


def both(actions: Sequence[Callable[[], Any]]) -> Counter[str]:
    """How often each answer came: the state of what was given back, or the code of a refusal."""
    answers = at_once(actions)
    said: Counter[str] = Counter()
    for answer in answers:
        assert isinstance(answer, Return | Replacement | Refusal), answer
        said[answer.code if isinstance(answer, Refusal) else answer.state] += 1
    return said


def moves(prefix: str) -> Counter[str]:
    return Counter(AuditEvent.objects.filter(action__startswith=prefix).values_list("action", flat=True))


def test_withdrawn_and_received_at_once_is_one_of_both() -> None:
    order = earphones()
    request = requested_return(order, (1, 2, "changed_mind"))
    answers = both(
        [
            partial(returns.withdraw, return_id=request.pk, actor=cast.shopper()),
            partial(returns.receive, return_id=request.pk, actor=warehouse()),
        ]
    )
    request.refresh_from_db()
    assert answers == {request.state: 1, "wrong_state": 1}
    assert moves("return.") == {"return.requested": 1, f"return.{request.state}": 1}
    kept = {"withdrawn": {"delivered": 3}, "received": {"delivered": 1, "returning": 2}}
    assert states_of(order) == kept[request.state]


@contextmanager
def meeting_before_the_move(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Both have looked at the return before either moves it; whoever is kept out by a lock is not waited for."""
    meeting, original = Barrier(2), return_states.move

    def move(**given: Any) -> None:
        with suppress(BrokenBarrierError):
            meeting.wait(timeout=1)
        original(**given)

    with monkeypatch.context() as patch:
        patch.setattr(return_states, "move", move)
        yield


def without_the_orders_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goods, "lock_order", lambda order_id: Order.objects.get(pk=order_id))


def test_received_twice_at_once_is_received_once() -> None:
    request = requested_return(earphones(), (1, 2, "changed_mind"))
    found = [{"li_1": {"accepted": 2}}, {"li_1": {"accepted": 1, "damaged": 1}}]
    answers = both([partial(returns.receive, return_id=request.pk, actor=warehouse(), found=each) for each in found])
    assert answers == {"received": 2}
    assert moves("return.") == {"return.requested": 1, "return.received": 1, "return.corrected": 1}
    assert sum(ReturnFinding.objects.values_list("quantity", flat=True)) == 2


def test_without_the_orders_lock_both_would_write_what_they_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows the race: this is what the lock is for. If it stops failing, the test above proves nothing any more."""
    request = requested_return(earphones(), (1, 2, "changed_mind"))
    without_the_orders_lock(monkeypatch)
    monkeypatch.setattr(returns, "_locked", lambda return_id, actor: Return.objects.get(pk=return_id))
    with meeting_before_the_move(monkeypatch):
        answers = at_once([partial(returns.receive, return_id=request.pk, actor=warehouse()) for _ in range(2)])
    assert [answer for answer in answers if not isinstance(answer, Return)]


def test_accepted_twice_at_once_is_paid_once() -> None:
    order = earphones()
    request = received_return(order, (1, 1, "changed_mind"))
    assert both([partial(accept, return_id=request.pk, actor=warehouse())] * 2) == {"refunded": 1, "wrong_state": 1}
    assert (Refund.objects.count(), cast.payment(order).refunded_amount) == (1, 1200)


def test_an_exchange_pressed_twenty_times_at_once_is_one() -> None:
    order = earphones()
    own_stock(5)
    assert both([partial(exchange, order)] * 20) == {"requested": 20}
    assert (Return.objects.count(), Replacement.objects.count(), stock_of()) == (1, 1, (5, 1))
    assert states_of(order) == {"delivered": 2, "exchanging": 1}


def test_sent_twice_at_once_is_one_parcel() -> None:
    order = earphones()
    own_stock(5)
    request = accepted_exchange(order)
    assert both([partial(returns.complete_exchange, return_id=request.pk, actor=warehouse())] * 2) == {"exchanged": 2}
    assert (order.shipments.count(), stock_of()) == (2, (4, 0))
    assert moves("replacement.") == {"replacement.reserved": 1, "replacement.sent": 1}


def test_lost_goods_sent_again_and_released_at_once_is_one_of_both() -> None:
    order = lost_earphones()
    own_stock(5)
    replacement = sent_again(order, LOST)
    answers = both(
        [
            partial(replacements.send, replacement_id=replacement.pk, actor=warehouse()),
            partial(replacements.release, replacement_id=replacement.pk, actor=cast.staff(), note="改退款"),
        ]
    )
    replacement.refresh_from_db()
    assert answers == {replacement.state: 1, "wrong_state": 1}
    ended = {"sent": ({"lost": 1, "shipped": 1}, (4, 0)), "released": ({"lost": 2}, (5, 0))}
    assert (states_of(order), stock_of()) == ended[replacement.state]


def two_orders() -> list[Order]:
    """One earphone each, of the same product, of which one piece is left."""
    orders = [earphones(1), cast.order_5531()]
    own_stock(1)
    return orders


def test_the_last_piece_is_promised_to_one_of_two_orders() -> None:
    orders = two_orders()
    answers = both([partial(exchange, order, ref=f"card_{order.number}") for order in orders])
    assert answers == {"requested": 1, "out_of_stock": 1}
    assert stock_of() == (1, 1)
    assert sorted(next(iter(states_of(order))) for order in orders) == ["delivered", "exchanging"]


def test_without_the_conditional_update_both_would_be_promised_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows the race: both have seen the one piece. If it stops happening, the test above proves nothing any more."""
    meeting = Barrier(2)

    def reserve(product: Product, quantity: int) -> None:
        meeting.wait(timeout=20)
        Product.objects.filter(pk=product.pk).update(reserved=F("reserved") + quantity)

    monkeypatch.setattr(stock, "reserve", reserve)
    answers = both([partial(exchange, order, ref=f"card_{order.number}") for order in two_orders()])
    assert answers == {"requested": 2}
    assert stock_of() == (1, 2)


def test_two_orders_that_want_each_others_products_do_not_block_each_other() -> None:
    """Products are taken in the order of their rows, whatever the order of the lines."""
    lines = [("甲", 100, 1), ("乙", 200, 1)]
    parcel = shipment_body({1: 1, 2: 1})
    orders = [
        cast.place("7901", lines=lines, shipments=[parcel]),
        cast.place("7902", lines=lines[::-1], shipments=[parcel]),
    ]
    asked = ((1, 1, "defective"), (2, 1, "defective"))
    for turn in range(5):
        requests = at_once([partial(exchange, order, *asked, ref=f"{order.number}:{turn}") for order in orders])
        assert {request.state for request in requests if isinstance(request, Return)} == {"requested"}
        for request in requests:
            assert isinstance(request, Return)
            returns.withdraw(return_id=request.pk, actor=cast.shopper())
    assert set(Product.objects.values_list("reserved", flat=True)) == {0}
    assert set(ShipmentLine.objects.values_list("exchanging_quantity", flat=True)) == {0}
