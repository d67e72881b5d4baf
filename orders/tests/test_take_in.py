"""An order comes in once, exactly as it was sold, or it is refused with the reason."""

from decimal import Decimal
from typing import Any

import pytest

from orders.actors import NotAllowed
from orders.address import address_as_dict, change_address
from orders.bodies import OrderBody
from orders.errors import InvalidInput, Refusal
from orders.ingest import digest_of, take_in
from orders.models import AuditEvent, Customer, Order, Product
from orders.strict import validated
from orders.tests import cast
from orders.tests.factories import (
    FREE_DELIVERY,
    PAID_DELIVERY,
    bundle_discount,
    fixed_discount,
    line_body,
    order_body,
    payment_body,
    percent_discount,
    shipment_body,
)

pytestmark = pytest.mark.django_db


def take(body: object) -> Order:
    return take_in(body=body, actor=cast.SHOP)[0]


def story_body(**changes: Any) -> dict[str, Any]:
    body = order_body("5531", discounts=[fixed_discount(150, 1500)], payments=[payment_body(1430)])
    return {**body, **changes}


def test_an_order_is_kept_as_it_was_sent() -> None:
    order = take(story_body(shipments=[shipment_body({1: 1})]))
    assert [(line.line_item_id, line.name, line.unfulfilled_quantity) for line in order.lines.all()] == [
        ("li_1", "藍牙耳機", 0),
        ("li_2", "耳機殼", 1),
    ]
    payment = order.payments.get()
    assert (payment.amount, payment.last4, payment.provider) == (1430, "4242", "simulated")
    assert order.discounts.get().amount == 150
    assert order.shipments.get().state == "delivered"


def test_line_ids_follow_the_order_sent_and_not_the_shops_ids() -> None:
    lines = [line_body(9, "後", 100), line_body(1, "前", 200)]
    order = take(order_body(lines=lines))
    assert [(line.external_id, line.line_item_id) for line in order.lines.all()] == [("9", "li_1"), ("1", "li_2")]


def test_a_discounts_lines_are_kept_under_our_ids() -> None:
    bundle = bundle_discount(3, 20, lines=["7"])
    lines = [line_body(5, "書", 500), line_body(7, "襪", 100, 3)]
    order = take(order_body(lines=lines, discounts=[bundle], payments=[payment_body(740)]))
    assert order.discounts.get().lines == ["li_2"]


@pytest.mark.parametrize(("percent", "paid"), [("10", 1422), (10, 1422), (10.0, 1422), ("10.000", 1422), (12.5, 1382)])
def test_a_percentage_may_be_a_string_or_a_number(percent: object, paid: int) -> None:
    order = take(order_body(discounts=[percent_discount(percent)], payments=[payment_body(paid)]))
    assert order.discounts.get().percent == Decimal(str(percent))


def test_the_same_body_again_gives_the_same_order() -> None:
    body = story_body()
    first, created = take_in(body=body, actor=cast.SHOP)
    same = dict(reversed(body.items()))
    assert created
    assert take_in(body=same, actor=cast.SHOP) == (first, False)
    assert Order.objects.count() == 1


def test_another_way_to_write_the_same_body_is_the_same_body() -> None:
    body = story_body(placed_at="2026-11-20T10:00:00+08:00")
    first = take(body)
    body["placed_at"] = "2026-11-20T02:00:00Z"
    body["discounts"][0] |= {"percent": 0, "min_quantity": 0}
    del body["discounts"][0]["lines"], body["shipments"]
    assert take(body) == first


def test_another_body_for_a_known_number_is_refused() -> None:
    take(story_body())
    with pytest.raises(Refusal) as refused:
        take(story_body(customer={"external_id": "c-else", "name": "別人"}))
    assert (refused.value.code, refused.value.status) == ("order_differs", 409)
    assert not Customer.objects.filter(external_id="c-else").exists()


def test_payments_that_do_not_pay_for_the_order_are_refused_with_both_sums_and_leave_nothing() -> None:
    with pytest.raises(Refusal) as refused:
        take(story_body(payments=[payment_body(1580)]))
    assert refused.value.code == "payments_do_not_match"
    assert "NT$1,580" in refused.value.message
    assert "NT$1,430" in refused.value.message
    assert not Order.objects.exists()
    assert not Product.objects.exists()
    assert not AuditEvent.objects.exists()


def test_a_whole_order_for_nothing_needs_no_payment() -> None:
    order = take(order_body(discounts=[fixed_discount(1580)], payments=[]))
    assert order.payments.count() == 0


def test_several_payments_count_together() -> None:
    payments = [payment_body(1000), payment_body(580, external_id="p2", method="store_credit", last4="")]
    assert [p.amount for p in take(order_body(payments=payments)).payments.all()] == [1000, 580]


def test_shipping_is_part_of_what_must_be_paid() -> None:
    lines = [("書", 500, 1), ("筆", 400, 1)]
    assert take(order_body(lines=lines, shipping=PAID_DELIVERY, payments=[payment_body(980)]))
    with pytest.raises(Refusal) as refused:
        take(order_body("7002", lines=lines, shipping=FREE_DELIVERY, payments=[payment_body(900)]))
    assert refused.value.details == {"paid": 900, "price": 980, "currency": "TWD"}


def test_left_out_parts_have_sensible_values() -> None:
    body = order_body()
    for name in ("discounts", "shipments"):
        del body[name]
    del body["lines"][0]["category"]
    body["shipping"] = {"method": "store_pickup", "charged": 0}
    order = take(body)
    assert order.payments.get().captured_at == order.placed_at
    assert order.shipping_waiver is None


def test_cash_on_delivery_names_no_gateway() -> None:
    order = take(order_body(payments=[payment_body(1580, method="cash_on_delivery", last4="")]))
    assert order.payments.get().provider == "cash"


def test_a_customer_is_known_by_the_shops_id_and_updated_but_their_account_is_not_touched() -> None:
    ming = cast.customer("ming")
    who = {"external_id": ming.external_id, "name": "王曉明", "phone": "0912-345-678"}
    take(order_body(customer=who))
    ming.refresh_from_db()
    assert (ming.name, ming.phone, ming.email) == ("王曉明", "0912-345-678", "ming@example.com")
    assert ming.user == cast.customer_user("ming")


def test_a_known_product_stays_as_it_is() -> None:
    take(order_body("7001", lines=[line_body(1, "書", 500, sku="BOOK")]))
    order = take(order_body("7002", lines=[line_body(1, "舊書", 300, sku="BOOK")]))
    assert Product.objects.get(sku="BOOK").name == "書"
    assert order.lines.get().name == "舊書"


def test_take_in_is_written_to_the_history_without_names_and_addresses() -> None:
    take(story_body())
    event = AuditEvent.objects.get(action="order.taken_in")
    assert event.computed == {"price": 1430, "currency": "TWD"}
    assert event.chosen["customer"] == {"external_id": "c-mei"}
    assert "無帳號顧客" not in str(event.chosen)


def test_a_shipment_of_more_than_was_ordered_refuses_the_whole_order() -> None:
    with pytest.raises(Refusal) as refused:
        take(story_body(shipments=[shipment_body({1: 2})]))
    assert refused.value.code == "invalid_argument"
    assert refused.value.field == "shipments[0].lines[0].quantity"
    assert not Order.objects.exists()


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("number", {"number": 7001}),
    ("number", {"number": "7001/2"}),
    ("number", {"number": "7001\n2"}),
    ("number", {"number": "n" * 41}),
    ("number", {"number": ""}),
    ("placed_at", {"placed_at": "2026-11-20T10:00:00"}),
    ("placed_at", {"placed_at": "2026-02-30T10:00:00+08:00"}),
    ("placed_at", {"placed_at": "9999-12-31T23:59:59-12:00"}),
    ("placed_at", {"placed_at": "0001-01-01T00:00:00+14:00"}),
    ("placed_at", {"placed_at": 1700000000}),
    ("placed_at", {"placed_at": None}),
    ("currency", {"currency": "ZZZ"}),
    ("currency", {"currency": ["TWD"]}),
    ("customer", {"customer": None}),
    ("customer", {"customer": "c-7"}),
    ("customer.name", {"customer": {"external_id": "c", "name": 5}}),
    ("customer.name", {"customer": {"external_id": "c", "name": "王\u202e明"}}),
    ("customer.email", {"customer": {"external_id": "c", "name": "王", "email": "nobody"}}),
    ("lines", {"lines": []}),
    ("lines", {"lines": {}}),
    ("lines", {"lines": [line_body(n, "書", 1) for n in range(201)]}),
    ("lines[1].external_id", {"lines": [line_body(1, "書", 1), line_body(1, "筆", 1)]}),
    ("shipping.method", {"shipping": {"charged": 0}}),
    ("shipping.waiver", {"shipping": {"method": "m", "charged": 0, "waiver": "mercy"}}),
    ("shipping.waiver", {"shipping": {"method": "m", "charged": 80, "waiver": "pickup"}}),
    ("shipping.free_from", {"shipping": {"method": "m", "charged": 0, "waiver": "threshold"}}),
    ("payments[0].method", {"payments": [payment_body(1, method="gold")]}),
    ("payments[0].amount", {"payments": [payment_body(0)]}),
    ("payments[0].last4", {"payments": [payment_body(1, last4="12345")]}),
    ("payments[0].last4", {"payments": [payment_body(1, last4=4242)]}),
    ("payments[1].external_id", {"payments": [payment_body(1), payment_body(1)]}),
    ("payments", {"payments": None}),
    ("payments[0].provider_ref", {"payments": [payment_body(1, provider_ref=7)]}),
    ("shipping_address", {"shipping_address": "台北市"}),
    (
        "shipping_address.street",
        {
            "shipping_address": {
                "recipient": "王",
                "phone": "0912345678",
                "postal_code": "106",
                "city": "台北市",
                "district": "",
            }
        },
    ),
    ("discounts[0].kind", {"discounts": [fixed_discount(1, kind="gift")]}),
    ("discounts[0].amount", {"discounts": [fixed_discount(0)]}),
    ("discounts[0].percent", {"discounts": [fixed_discount(5, percent="10")]}),
    ("discounts[0].percent", {"discounts": [percent_discount("100.001")]}),
    ("discounts[0].percent", {"discounts": [percent_discount("1.2345")]}),
    ("discounts[0].percent", {"discounts": [percent_discount(True)]}),
    ("discounts[0].percent", {"discounts": [percent_discount("1e1")]}),
    ("discounts[0].amount_per_unit", {"discounts": [bundle_discount(3, 0)]}),
    ("discounts[0].lines", {"discounts": [fixed_discount(5, lines=["99"])]}),
    ("discounts[0].lines", {"discounts": [fixed_discount(5, lines=[])]}),
    ("discounts[0].label", {"discounts": [fixed_discount(5, code="", label="")]}),
    ("shipments[0].lines", {"shipments": [{"external_id": "s", "state": "packed"}]}),
    ("shipments[0].state", {"shipments": [shipment_body({1: 1}) | {"state": "teleported"}]}),
    ("surprise", {"surprise": 1}),
    ("sur?prise", {"sur\ud800prise": 1}),
]


@pytest.mark.parametrize(("field", "changes"), WRONG, ids=[f"{n}-{field}" for n, (field, _) in enumerate(WRONG)])
def test_what_cannot_be_used_is_refused_and_the_field_is_named(field: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        take(story_body(**changes))
    assert refused.value.field == field
    assert refused.value.message
    assert not Order.objects.exists()


@pytest.mark.parametrize("value", [1.5, 1.0, "1", True, None, [], -1, 10**13, 10**400])
@pytest.mark.parametrize(
    "path",
    ["lines[0].quantity", "lines[0].unit_price", "payments[0].amount", "shipping.charged", "discounts[0].amount"],
)
def test_a_whole_number_is_a_whole_number(path: str, value: object) -> None:
    body = story_body()
    part, _, name = path.partition(".")
    target = body[part.removesuffix("[0]")]
    (target[0] if isinstance(target, list) else target)[name] = value
    with pytest.raises(InvalidInput) as refused:
        take(body)
    assert refused.value.field == path


@pytest.mark.parametrize("name", ["", "   ", "a\x00b", "a\nb", "\ud800", "x" * 201, 7, None, ["x"]])
def test_a_name_is_readable_text_of_a_bounded_length(name: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        take(order_body(lines=[line_body(1, "書", 500) | {"name": name}]))
    assert refused.value.field == "lines[0].name"


@pytest.mark.parametrize("body", [None, [], "{}", 7])
def test_a_body_that_is_no_object_is_refused(body: object) -> None:
    with pytest.raises(InvalidInput):
        take(body)


@pytest.mark.parametrize("role", ["staff", "warehouse", "auditor"])
def test_only_who_may_add_orders_takes_them_in(role: str) -> None:
    with pytest.raises(NotAllowed):
        take_in(body=story_body(), actor=cast.staff(role))


def test_the_supervisor_may_take_orders_in() -> None:
    assert take_in(body=story_body(shipments=[shipment_body({1: 1})]), actor=cast.staff("supervisor"))[1]


HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "106",
    "city": "台北市",
    "district": "大安區",
    "street": "和平東路一段 1 號",
}


def test_an_address_is_kept_and_the_history_does_not_tell_it() -> None:
    order = take(story_body(shipping=PAID_DELIVERY, shipping_address=HOME, payments=[payment_body(1510)]))
    assert order.shipping_address == HOME
    event = AuditEvent.objects.get(action="order.taken_in")
    assert "shipping_address" not in event.chosen
    assert "和平東路" not in str(event.chosen)


def test_an_address_left_out_is_not_known() -> None:
    assert take(story_body()).shipping_address is None


def test_an_address_is_part_of_the_body_and_leaving_it_out_is_the_same_as_null() -> None:
    body = story_body()
    order = take(body)
    assert take({**body, "shipping_address": None}) == order
    with pytest.raises(Refusal) as refused:
        take({**body, "shipping_address": HOME})
    assert refused.value.code == "order_differs"


def test_an_address_that_was_changed_later_does_not_make_the_body_another_one() -> None:
    body = story_body(shipping=PAID_DELIVERY, shipping_address=HOME, payments=[payment_body(1510)])
    order = take(body)
    change_address(order=order, body={**HOME, "street": "信義路 2 號"}, actor=cast.staff())
    assert take(body) == order
    assert address_as_dict(Order.objects.get()) == {**HOME, "street": "信義路 2 號"}


def test_a_charges_number_at_the_gateway_is_kept_and_part_of_the_body() -> None:
    body = story_body(payments=[payment_body(1430, provider_ref="ch_1")])
    order = take(body)
    assert take(body) == order
    assert order.payments.get().provider_ref == "ch_1"
    with pytest.raises(Refusal):
        take({**body, "payments": [payment_body(1430, provider_ref="ch_2")]})


def test_a_body_from_before_there_were_addresses_has_the_same_digest() -> None:
    facts = validated(OrderBody, story_body())
    before = {name: value for name, value in facts.items() if name != "shipping_address"}
    before["payments"] = [
        {name: value for name, value in payment.items() if name != "provider_ref"} for payment in facts["payments"]
    ]
    assert digest_of(before) == digest_of(facts)
