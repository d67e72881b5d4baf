"""Goods are packed, shipped and delivered; what is said twice happens once, and nothing goes back."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from orders import goods
from orders.actors import NotAllowed
from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent, Order, Shipment
from orders.shipments import deliver, pack_order, ship, upsert_shipment
from orders.tests import cast
from orders.tests.factories import ago, shipment_body
from orders.tests.race import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    return cast.place("7001", lines=[("襪子", 100, 3), ("帽子", 400, 1)])


def send(order: Order, body: Any, role: str = "warehouse") -> tuple[Shipment, bool]:
    return upsert_shipment(order=order, body=body, actor=cast.staff(role))


def refusal(order: Order, body: Any) -> Refusal:
    with pytest.raises(Refusal) as refused:
        send(order, body)
    return refused.value


def test_packing_some_units_leaves_the_others_unfulfilled(order: Order) -> None:
    shipment, created = send(order, shipment_body({1: 2}, state="packed"))
    assert created
    assert [(line.line_item.line_item_id, line.quantity) for line in shipment.lines.all()] == [("li_1", 2)]
    assert (cast.line(order, 1).unfulfilled_quantity, cast.line(order, 2).unfulfilled_quantity) == (1, 1)


def test_a_parcel_goes_its_way_by_its_external_id(order: Order) -> None:
    send(order, shipment_body({1: 2}, state="packed"))
    send(order, {"external_id": "s1", "state": "shipped", "carrier": "宅配通", "tracking_number": "T-9"})
    shipment, created = send(order, {"external_id": "s1", "state": "delivered"})
    assert not created
    assert (shipment.state, shipment.carrier, shipment.tracking_number) == ("delivered", "宅配通", "T-9")
    assert shipment.shipped_at is not None
    assert shipment.delivered_at is not None
    assert shipment.packed_at <= shipment.shipped_at <= shipment.delivered_at
    actions = AuditEvent.objects.filter(subject_id=shipment.pk).order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["shipment.packed", "shipment.shipped", "shipment.delivered"]


@pytest.mark.parametrize("state", ["packed", "shipped", "lost", "delivered"])
def test_saying_the_same_again_changes_nothing(order: Order, state: str) -> None:
    body = shipment_body({1: 2}, state=state)
    first, _ = send(order, body)
    events = AuditEvent.objects.count()
    again, created = send(order, body)
    assert (again, created) == (first, False)
    assert again.packed_at == Shipment.objects.get().packed_at
    assert AuditEvent.objects.count() == events
    assert cast.line(order, 1).fulfilled_quantity == 2


@pytest.mark.parametrize(
    ("now", "wanted"),
    [
        ("delivered", "packed"),
        ("delivered", "shipped"),
        ("delivered", "lost"),
        ("shipped", "packed"),
        ("lost", "shipped"),
    ],
)
def test_a_parcel_does_not_go_back(order: Order, now: str, wanted: str) -> None:
    send(order, shipment_body({1: 1}, state=now))
    refused = refusal(order, {"external_id": "s1", "state": wanted})
    assert (refused.code, refused.status, refused.field) == ("shipment_moved_on", 409, "state")
    assert cast.shipment(order).state == now


def test_a_parcel_that_was_thought_lost_may_still_arrive(order: Order) -> None:
    send(order, shipment_body({1: 1}, state="lost"))
    assert send(order, {"external_id": "s1", "state": "delivered"})[0].state == "delivered"


def test_more_than_is_left_cannot_be_packed_and_the_line_is_named(order: Order) -> None:
    goods.cancel_units(line=cast.line(order, 1), quantity=1)
    send(order, shipment_body({1: 1}, state="packed"))
    refused = refusal(order, shipment_body({2: 1, 1: 2}, state="packed", external_id="s2"))
    assert (refused.code, refused.status, refused.field) == ("not_enough_units", 409, "lines[1].quantity")
    assert refused.details == {"line_item_id": "li_1", "asked": 2, "left": 1}
    assert "襪子" in refused.message
    assert not Shipment.objects.filter(external_id="s2").exists()
    assert cast.line(order, 2).fulfilled_quantity == 0


def test_what_is_in_a_parcel_may_change_while_it_is_packed(order: Order) -> None:
    send(order, shipment_body({1: 3}, state="packed"))
    shipment, _ = send(order, shipment_body({1: 1, 2: 1}, state="shipped"))
    assert {line.line_item.line_item_id: line.quantity for line in shipment.lines.all()} == {"li_1": 1, "li_2": 1}
    assert (cast.line(order, 1).fulfilled_quantity, cast.line(order, 2).fulfilled_quantity) == (1, 1)


def test_what_is_in_a_parcel_may_not_change_once_it_has_left(order: Order) -> None:
    send(order, shipment_body({1: 1}, state="shipped"))
    assert refusal(order, shipment_body({1: 2}, state="shipped")).code == "shipment_closed"


def test_a_new_parcel_must_say_what_is_in_it(order: Order) -> None:
    assert refusal(order, {"external_id": "s1", "state": "packed"}).field == "lines"


def test_times_that_are_left_out_fit_those_that_are_given(order: Order) -> None:
    body = {"external_id": "s1", "state": "delivered", "delivered_at": ago(days=3).isoformat()}
    shipment, _ = send(order, body | {"lines": [{"line_item_id": "li_2", "quantity": 1}]})
    assert shipment.packed_at == shipment.shipped_at == shipment.delivered_at


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("shipped_at", {"state": "packed", "shipped_at": ago(days=1).isoformat()}),
    ("delivered_at", {"state": "shipped", "delivered_at": ago(days=1).isoformat()}),
    ("delivered_at", {"shipped_at": ago(days=1).isoformat(), "delivered_at": ago(days=2).isoformat()}),
    ("shipped_at", {"packed_at": ago(hours=1).isoformat(), "shipped_at": ago(hours=2).isoformat()}),
    ("delivered_at", {"delivered_at": (timezone.now() + timedelta(hours=8)).isoformat()}),
    ("lines[0].external_id", {"lines": [{"quantity": 1}]}),
    ("lines[0].external_id", {"lines": [{"external_id": "1", "line_item_id": "li_1", "quantity": 1}]}),
    ("lines[0].external_id", {"lines": [{"external_id": "9", "quantity": 1}]}),
    ("lines[0].line_item_id", {"lines": [{"line_item_id": "1", "quantity": 1}]}),
    (
        "lines[1].line_item_id",
        {"lines": [{"external_id": "1", "quantity": 1}, {"line_item_id": "li_1", "quantity": 1}]},
    ),
    ("lines[0].quantity", {"lines": [{"external_id": "1", "quantity": 0}]}),
    ("lines[0].quantity", {"lines": [{"external_id": "1", "quantity": "1"}]}),
    ("lines", {"lines": []}),
    ("state", {"state": None}),
    ("carrier", {"carrier": 5}),
    ("note", {"note": "leave at the door"}),
]


@pytest.mark.parametrize(("field", "changes"), WRONG, ids=[f"{n}-{field}" for n, (field, _) in enumerate(WRONG)])
def test_what_cannot_be_used_is_refused_and_the_field_is_named(
    order: Order, field: str, changes: dict[str, Any]
) -> None:
    body = {"external_id": "s1", "state": "delivered", "lines": [{"external_id": "1", "quantity": 1}]}
    with pytest.raises(InvalidInput) as refused:
        send(order, body | changes)
    assert refused.value.field == field
    assert not Shipment.objects.exists()


def test_a_carriers_name_may_be_put_right_later_and_that_is_written_down(order: Order) -> None:
    send(order, shipment_body({1: 1}, state="shipped"))
    send(order, {"external_id": "s1", "state": "shipped", "carrier": "郵局"})
    event = AuditEvent.objects.get(action="shipment.corrected")
    assert event.outcome == {"before": {"carrier": "黑貓宅急便"}, "after": {"carrier": "郵局"}}


def test_the_warehouse_button_packs_what_is_left_ships_and_delivers(order: Order) -> None:
    warehouse = cast.staff("warehouse")
    send(order, shipment_body({1: 1}, state="packed"))
    shipment = pack_order(order=order, actor=warehouse)
    assert {line.line_item.line_item_id: line.quantity for line in shipment.lines.all()} == {"li_1": 2, "li_2": 1}
    ship(shipment=shipment, actor=warehouse, carrier="黑貓宅急便", tracking_number="T-1")
    deliver(shipment=shipment, actor=warehouse)
    assert deliver(shipment=shipment, actor=warehouse).state == "delivered"
    with pytest.raises(Refusal) as refused:
        pack_order(order=order, actor=warehouse)
    assert refused.value.code == "nothing_to_pack"


@pytest.mark.parametrize("role", ["staff", "auditor"])
def test_only_who_handles_shipments_moves_them(order: Order, role: str) -> None:
    with pytest.raises(NotAllowed):
        send(order, shipment_body({1: 1}), role)
    with pytest.raises(NotAllowed):
        pack_order(order=order, actor=cast.staff(role))


@pytest.mark.django_db(transaction=True)
def test_units_are_packed_once_however_many_pack_them(order: Order) -> None:
    warehouse = cast.staff("warehouse")
    bodies = [shipment_body({1: 2}, state="packed", external_id=f"s{n}") for n in range(6)]
    answers = at_once([partial(upsert_shipment, order=order, body=body, actor=warehouse) for body in bodies])
    refused = [answer for answer in answers if isinstance(answer, Exception)]
    assert [answer for answer in refused if not isinstance(answer, Refusal)] == []
    assert len(refused) == 5
    assert cast.line(order, 1).fulfilled_quantity == 2


@pytest.mark.django_db(transaction=True)
def test_one_parcel_sent_many_times_at_once_is_one_parcel(order: Order) -> None:
    warehouse = cast.staff("warehouse")
    body = shipment_body({1: 2}, state="packed")
    answers = at_once([partial(upsert_shipment, order=order, body=body, actor=warehouse)] * 6)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert Shipment.objects.count() == 1
    assert cast.line(order, 1).fulfilled_quantity == 2
