"""A replacement is a parcel like any other, except that its units were packed once already."""

import pytest

from orders.actors import NotAllowed
from orders.errors import Refusal
from orders.goods import lock_order
from orders.models import AuditEvent, LineItem, Order, Product, Shipment
from orders.selectors import order_as_dict
from orders.shipments import upsert_shipment, write_replacement
from orders.tests import cast
from orders.tests.factories import shipment_body

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    return cast.place("7001", lines=[("襪子", 100, 3), ("帽子", 400, 1)], shipments=[shipment_body({1: 3})])


def red_cap() -> Product:
    return Product.objects.create(sku="CAP-RED", name="帽子 紅", price=400, currency="TWD")


def replace(
    order: Order, *lines: tuple[LineItem, Product | None, int], external_id: str = "r1", role: str = "warehouse"
) -> Shipment:
    return write_replacement(
        order=lock_order(order.pk),
        external_id=external_id,
        lines=lines,
        carrier="黑貓宅急便",
        tracking_number="T-9",
        actor=cast.staff(role),
    )


def test_it_has_left_the_house_and_the_counters_of_the_line_stay(order: Order) -> None:
    shipment = replace(order, (cast.line(order, 1), None, 2))
    assert (shipment.state, shipment.is_replacement, shipment.delivered_at) == ("shipped", True, None)
    line = cast.line(order, 1)
    assert (line.fulfilled_quantity, line.unfulfilled_quantity) == (3, 0)
    assert cast.shipment_line(order, 1, "r1").untouched_quantity == 2


def test_what_is_really_in_it_is_shown_and_written_down(order: Order) -> None:
    shipment = replace(order, (cast.line(order, 1), None, 1), (cast.line(order, 2), red_cap(), 1))
    shown = order_as_dict(order)["shipments"][-1]
    assert shown["is_replacement"] is True
    assert [(line["line_item_id"], line["product_id"], line["name"]) for line in shown["lines"]] == [
        ("li_1", cast.line(order, 1).sku, "襪子"),
        ("li_2", "CAP-RED", "帽子 紅"),
    ]
    event = AuditEvent.objects.get(subject_id=shipment.pk)
    assert (event.action, event.outcome) == ("shipment.shipped", {"state": "shipped", "is_replacement": True})
    assert event.chosen["lines"][1] == {"line_item_id": "li_2", "sku": "CAP-RED", "quantity": 1}


def test_units_of_several_old_parcels_travel_together(order: Order) -> None:
    line = cast.line(order, 1)
    replace(order, (line, None, 1), (line, None, 2))
    assert cast.shipment_line(order, 1, "r1").quantity == 3


def test_one_line_is_not_replaced_by_two_products_in_one_parcel(order: Order) -> None:
    line = cast.line(order, 1)
    with pytest.raises(Refusal) as refused:
        replace(order, (line, None, 1), (line, red_cap(), 1))
    assert refused.value.code == "one_product_per_line"


@pytest.mark.parametrize(("state", "action"), [("delivered", "shipment.delivered"), ("lost", "shipment.lost")])
def test_the_shop_says_by_its_number_what_became_of_it(order: Order, state: str, action: str) -> None:
    replace(order, (cast.line(order, 1), None, 2))
    body = {"external_id": "r1", "state": state, "lines": [{"external_id": "1", "quantity": 2}]}
    shipment, created = upsert_shipment(order=order, body=body, actor=cast.staff("warehouse"))
    assert (created, shipment.state) == (False, state)
    assert AuditEvent.objects.filter(action=action, subject_id=shipment.pk).count() == 1


@pytest.mark.parametrize("packed_again", [False, True])
def test_what_is_in_it_cannot_be_changed(order: Order, packed_again: bool) -> None:
    replace(order, (cast.line(order, 1), None, 2))
    if packed_again:  # nothing leads there; the counters would be wrong if something did
        Shipment.objects.filter(external_id="r1").update(state="packed")
    state = "packed" if packed_again else "shipped"
    body = {"external_id": "r1", "state": state, "lines": [{"external_id": "1", "quantity": 1}]}
    with pytest.raises(Refusal) as refused:
        upsert_shipment(order=order, body=body, actor=cast.staff("warehouse"))
    assert refused.value.code == "shipment_closed"
    assert cast.line(order, 1).fulfilled_quantity == 3


@pytest.mark.parametrize("role", ["staff", "auditor"])
def test_only_who_handles_shipments_sends_one(order: Order, role: str) -> None:
    with pytest.raises(NotAllowed):
        replace(order, (cast.line(order, 1), None, 1), role=role)
