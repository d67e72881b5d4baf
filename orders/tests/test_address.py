"""Where an order is sent can be changed until nothing of it is left to be packed, by its customer or by staff."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from pytest_django import Settings

from orders.actors import Actor, NotAllowed, agent_actor
from orders.address import address_as_dict, change_address, check_change
from orders.errors import InvalidInput, NotFound, Refusal
from orders.goods import Hold, cancel_units, hold_units, release_units
from orders.models import AuditEvent, Order, OrderAnnouncement, Shipment
from orders.selectors import order_as_dict
from orders.shipments import pack_order
from orders.tests import cast
from orders.tests.factories import PAID_DELIVERY, PICKUP, shipment_body
from orders.tests.race import at_once, wait_until_blocked

pytestmark = pytest.mark.django_db
HOME = {
    "recipient": "王小明",
    "phone": "0912-345-678",
    "postal_code": "106",
    "city": "台北市",
    "district": "大安區",
    "street": "和平東路一段 1 號 3 樓",
}
OFFICE = {**HOME, "postal_code": "11492", "district": "內湖區", "street": "瑞光路 2 號"}


@pytest.fixture
def order() -> Order:
    return cast.place("7001", shipping=PAID_DELIVERY, shipping_address=HOME)


def change(order: Order, body: Any = OFFICE, actor: Actor | None = None) -> Order:
    return change_address(order=order, body=body, actor=actor or cast.shopper("ming"), request_ref="card:1")


def where(order: Order) -> dict[str, str] | None:
    return address_as_dict(Order.objects.get(pk=order.pk))


@pytest.mark.parametrize("who", ["ming", "staff"])
def test_the_customer_and_staff_change_it_and_the_history_says_from_where_to_where(order: Order, who: str) -> None:
    changed = change(order, actor=cast.shopper("ming") if who == "ming" else cast.staff())
    assert where(order) == OFFICE == address_as_dict(changed) == order_as_dict(order)["shipping_address"]
    event = AuditEvent.objects.get(action="order.address_changed")
    assert event.outcome == {"before": HOME, "after": OFFICE}
    assert (event.subject_id, event.correlation["request_ref"]) == ("7001", "card:1")


def test_the_shop_is_told(order: Order, settings: Settings) -> None:
    settings.ORDER_WEBHOOK_URL = "http://127.0.0.1:9/"
    change(order)
    announced = OrderAnnouncement.objects.get()
    assert announced.event == "order.address_changed"
    assert announced.payload == {"order_number": "7001", "shipping_address": OFFICE}


def test_the_same_address_again_changes_nothing_also_when_it_has_left_meanwhile(order: Order) -> None:
    change(order)
    pack_order(order=order, actor=cast.staff("warehouse"))
    change(order)
    assert AuditEvent.objects.filter(action="order.address_changed").count() == 1


def test_an_order_whose_address_nobody_told_gets_one() -> None:
    bare = cast.place("7002", shipping=PAID_DELIVERY)
    assert where(bare) is None
    change(bare)
    assert where(bare) == OFFICE


def refusal(order: Order) -> str:
    with pytest.raises(Refusal) as refused:
        check_change(order, OFFICE)
    with pytest.raises(Refusal) as refused_too:
        change(order)
    assert refused_too.value.code == refused.value.code
    assert not AuditEvent.objects.filter(action="order.address_changed").exists()
    return refused.value.code


@pytest.mark.parametrize("method", ["store_pickup", "convenience_store"])
def test_what_is_picked_up_has_no_address(method: str) -> None:
    assert refusal(cast.place("7002", shipping={**PICKUP, "method": method})) == "pickup_order"


def test_what_is_packed_goes_where_it_is_addressed(order: Order) -> None:
    pack_order(order=order, actor=cast.staff("warehouse"))
    assert refusal(order) == "already_shipped"
    assert where(order) == HOME


def test_as_long_as_something_is_not_packed_it_can_be_changed() -> None:
    order = cast.place("7002", shipping=PAID_DELIVERY, shipments=[shipment_body({1: 1})])
    change(order)
    assert where(order) == OFFICE


def test_what_was_cancelled_is_not_sent_anywhere() -> None:
    order = cast.place("7002", shipping=PAID_DELIVERY, shipments=[shipment_body({1: 1})])
    cancel_units(line=cast.line(order, 2), quantity=1)
    assert refusal(order) == "already_shipped"


@pytest.mark.parametrize("hold", ["exchanging", "resending"])
def test_what_waits_to_be_sent_in_the_place_of_other_goods_counts_until_it_has_left(hold: Hold) -> None:
    order = cast.place("7002", shipping=PAID_DELIVERY, shipments=[shipment_body({1: 1, 2: 1})])
    assert refusal(order) == "already_shipped"
    hold_units(shipment_line=cast.shipment_line(order, 1), quantity=1, hold=hold)
    assert check_change(order, OFFICE) == OFFICE
    release_units(shipment_line=cast.shipment_line(order, 1), quantity=1, hold=hold)
    hold_units(shipment_line=cast.shipment_line(order, 1), quantity=1, hold="replaced")
    assert refusal(order) == "already_shipped"


def test_checking_changes_nothing_and_gives_the_address_as_it_would_be_kept(order: Order) -> None:
    assert check_change(order, {**OFFICE, "street": "  瑞光路 2 號 "}) == OFFICE
    assert where(order) == HOME


WRONG: list[tuple[str, Any]] = [
    ("street", {name: text for name, text in HOME.items() if name != "street"}),
    ("recipient", {**HOME, "recipient": ""}),
    ("recipient", {**HOME, "recipient": "王\u202e小明"}),
    ("phone", {**HOME, "phone": "call me"}),
    ("phone", {**HOME, "phone": 912345678}),
    ("postal_code", {**HOME, "postal_code": "一○六"}),
    ("city", {**HOME, "city": None}),
    ("district", {**HOME, "district": "x" * 61}),
    ("street", {**HOME, "street": "1\n2"}),
    ("note", {**HOME, "note": "ring twice"}),
    ("", "台北市"),
]


@pytest.mark.parametrize(("field", "body"), WRONG, ids=[f"{n}-{field}" for n, (field, _) in enumerate(WRONG)])
def test_what_is_no_address_is_refused_and_the_field_is_named(order: Order, field: str, body: Any) -> None:
    for ask in (partial(check_change, order, body), partial(change, order, body)):
        with pytest.raises(InvalidInput) as refused:
            ask()
        assert refused.value.field == field
    assert where(order) == HOME


def test_a_district_may_be_empty(order: Order) -> None:
    change(order, {**OFFICE, "district": ""})
    assert where(order) == {**OFFICE, "district": ""}


def test_the_agent_and_machines_never_change_it_and_neither_does_who_may_not(order: Order) -> None:
    for actor in (agent_actor(cast.customer("ming")), cast.SHOP, cast.staff("warehouse"), cast.staff("auditor")):
        with pytest.raises(NotAllowed):
            change(order, actor=actor)
    with pytest.raises(NotFound):
        change(order, actor=cast.shopper("ming2"))
    assert where(order) == HOME


@pytest.mark.django_db(transaction=True)
def test_a_change_waits_for_who_packs_and_then_comes_too_late(order: Order) -> None:
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            pack_order(order=order, actor=cast.staff("warehouse"))
            changing = threads.submit(in_thread, partial(change, order))
            wait_until_blocked(1)
        with pytest.raises(Refusal) as refused:
            changing.result()
    assert (refused.value.code, where(order)) == ("already_shipped", HOME)


def in_thread(action: partial[Order]) -> Order:
    try:
        return action()
    finally:
        assert threading.current_thread() is not threading.main_thread()
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_changing_and_packing_at_once_never_leave_a_parcel_with_an_address_nobody_saw(order: Order) -> None:
    shopper, warehouse = cast.shopper("ming"), cast.staff("warehouse")
    acts: list[Callable[[], Order | Shipment]] = [
        partial(change, order, actor=shopper),
        partial(pack_order, order=order, actor=warehouse),
    ]
    changed, packed = at_once(acts)
    assert not isinstance(packed, Exception)
    history = list(AuditEvent.objects.order_by("id").values_list("action", flat=True))
    if isinstance(changed, Exception):
        assert (getattr(changed, "code", changed), where(order)) == ("already_shipped", HOME)
        assert history == ["order.taken_in", "shipment.packed"]
    else:
        assert where(order) == OFFICE
        assert history == ["order.taken_in", "order.address_changed", "shipment.packed"]
