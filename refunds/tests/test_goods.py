"""Where every unit of an order stands: each unit once, with what took it and until when it may come back."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from orders.models import Order
from orders.shipments import pack_order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.acceptance import accept
from refunds.goods import UnitGroup, unit_groups
from refunds.redeem import redeem
from refunds.returns import receive, request_exchange
from refunds.tests.ask import Asked, ask, choices

pytestmark = pytest.mark.django_db


def groups_of(order: Order, position: int = 1) -> list[UnitGroup]:
    return [group for group in unit_groups(order, now=timezone.now()) if group.line.position == position]


def states_of(order: Order) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for group in groups_of(order):
        counted[group.state] += group.quantity
    return dict(counted)


def confirm(order: Order, *asked: Asked) -> None:
    redeem(quote_id=ask(order, *asked).pk, actor=cast.shopper())


def order_of_ten() -> Order:
    """Ten pairs of socks: 4 delivered, 2 lost, 1 packed, 3 not packed."""
    return cast.place(
        "7301",
        lines=[("襪", 100, 10)],
        shipments=[
            shipment_body({1: 4}),
            shipment_body({1: 2}, external_id="s2", state="lost"),
            shipment_body({1: 1}, external_id="s3", state="packed"),
        ],
    )


def test_every_unit_stands_somewhere_exactly_once() -> None:
    order = order_of_ten()
    assert states_of(order) == {"delivered": 4, "lost": 2, "packed": 1, "unfulfilled": 3}
    confirm(order, (1, 1, "other", "cancel"))
    confirm(order, (1, 1, "lost", "lost"))
    confirm(order, (1, 1, "changed_mind", "return"))
    request_exchange(order=order, lines=choices((1, 1, "defective")), actor=cast.shopper(), request_ref="card_1")
    assert states_of(order) == {
        "unfulfilled": 2,
        "cancelled": 1,
        "delivered": 2,
        "returning": 1,
        "exchanging": 1,
        "lost": 1,
        "refunded": 1,
        "packed": 1,
    }


def test_units_that_are_gone_name_what_took_them() -> None:
    order = order_of_ten()
    refund = redeem(quote_id=ask(order, (1, 1, "other", "cancel")).pk, actor=cast.shopper()).refund
    request = redeem(quote_id=ask(order, (1, 1, "defective", "return")).pk, actor=cast.shopper()).return_request
    assert refund is not None
    assert request is not None
    by_state = {group.state: group for group in groups_of(order)}
    assert (by_state["cancelled"].refund_id, by_state["cancelled"].since) == (refund.pk, refund.created_at)
    assert (by_state["returning"].return_id, by_state["returning"].refund_id) == (request.pk, None)
    receive(return_id=request.pk, actor=cast.staff("warehouse"))
    request = accept(return_id=request.pk, actor=cast.staff("warehouse"))
    by_state = {group.state: group for group in groups_of(order)}
    assert by_state["refunded"].refund_id == request.refund_id
    assert "returning" not in by_state


def test_delivered_units_name_the_last_day_on_which_they_may_come_back() -> None:
    order = cast.order_5531()
    (group,) = groups_of(order)
    assert group.since is not None
    assert group.until == timezone.localdate(group.since) + timedelta(days=7)


def test_the_clock_decides_what_is_lost_and_whose_window_is_over() -> None:
    order = cast.order_5531(shipments=[shipment_body({1: 1}), shipment_body({2: 1}, external_id="s2", state="shipped")])
    later = {group.state for group in unit_groups(order, now=timezone.now() + timedelta(days=14))}
    assert later == {"lost", "window_over"}


def test_it_costs_the_same_however_much_the_order_holds() -> None:
    small, large = cast.order_5531(), order_of_ten()
    confirm(large, (1, 1, "other", "cancel"))
    confirm(large, (1, 1, "changed_mind", "return"))
    pack_order(order=large, actor=cast.staff("warehouse"))
    queries = []
    for order in (small, large):
        with CaptureQueriesContext(
            connection,
        ) as captured:
            unit_groups(order, now=timezone.now())
        queries.append(len(captured))
    assert queries[0] == queries[1] <= 8
