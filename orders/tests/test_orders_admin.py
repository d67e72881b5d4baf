"""Auditors see all records of orders in admin, linked to each other; nobody changes anything there."""

from html import unescape
from typing import Any, Final

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from orders.admin_pages import ReadOnlyAdmin
from orders.announce import announce
from orders.links import issue_link
from orders.models import (
    AuditEvent,
    CarrierFault,
    Customer,
    CustomerLink,
    LineItem,
    Order,
    OrderAnnouncement,
    Payment,
    Product,
    Shipment,
    StoreCreditAccount,
    StoreCreditEntry,
)
from orders.shipments import write_replacement
from orders.store_credit import post
from orders.tests import cast
from orders.tests.factories import PAID_DELIVERY, shipment_body

pytestmark = pytest.mark.django_db
MODELS: Final[list[type[Model]]] = [
    Customer,
    Product,
    Order,
    LineItem,
    Payment,
    Shipment,
    CustomerLink,
    OrderAnnouncement,
    StoreCreditAccount,
    StoreCreditEntry,
    AuditEvent,
]


@pytest.fixture
def order(settings: Settings) -> Order:
    settings.ORDER_WEBHOOK_URL = "http://127.0.0.1:9/"
    order = cast.order_5531()
    issue_link(order=order, actor=cast.staff())
    announce(order=order, event="goods.cancelled", payload={"名稱": "耳機殼"})
    give_credit(order, "g-5531")
    return order


def give_credit(order: Order, reference: str) -> StoreCreditEntry:
    facts: dict[str, Any] = {"currency": "TWD", "amount": 500, "kind": "granted", "order": order, "actor": cast.SHOP}
    return post(customer=order.customer, reference=reference, **facts)


def client_of(role: str) -> Client:
    client = Client()
    client.force_login(cast.staff_user(role))
    return client


def address(model: type[Model], page: str, *args: int | str) -> str:
    keys = [quote(key) for key in args]
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=keys)


def shown(client: Client, where: str) -> str:
    answer = client.get(where)
    assert answer.status_code == 200, where
    return unescape(answer.content.decode())


@pytest.mark.parametrize("role", ["auditor", "admin"])
@pytest.mark.parametrize("model", MODELS)
def test_every_record_can_be_looked_at_and_not_changed(order: Order, model: type[Model], role: str) -> None:
    client = client_of(role)
    record = model._default_manager.first()
    assert record is not None
    assert str(record.pk) in shown(client, address(model, "changelist"))
    page = address(model, "change", record.pk)
    assert 'name="_save"' not in shown(client, page)
    assert client.get(address(model, "add")).status_code == 403
    assert client.post(page, {"name": "else"}).status_code == 403
    assert client.post(address(model, "delete", record.pk), {"post": "yes"}).status_code == 403
    assert client.get(address(model, "changelist"), {"q": "5531"}).status_code == 200


@pytest.mark.parametrize("who", ["ming", "staff", "warehouse"])
def test_admin_is_closed_to_other_roles(order: Order, who: str) -> None:
    client = Client()
    client.force_login(cast.customer_user(who) if who == "ming" else cast.staff_user(who))
    assert client.get(address(Order, "changelist")).status_code in {302, 403}


def test_an_order_and_its_customer_lead_to_each_other(order: Order) -> None:
    client = client_of("auditor")
    assert address(Customer, "change", order.customer_id) in shown(client, address(Order, "change", order.pk))
    orders_of_customer = f"{address(Order, 'changelist')}?customer__id__exact={order.customer_id}"
    assert orders_of_customer in shown(client, address(Customer, "change", order.customer_id))
    assert "5531" in shown(client, orders_of_customer)


def test_an_order_leads_to_its_history_and_the_history_to_what_it_is_about(order: Order) -> None:
    client = client_of("auditor")
    history = f"{address(AuditEvent, 'changelist')}?order__id__exact={order.pk}"
    assert history in shown(client, address(Order, "change", order.pk))
    page = shown(client, history)
    assert address(Shipment, "change", cast.shipment(order).pk) in page
    assert address(Order, "change", order.pk) in page
    assert address(CustomerLink, "change", CustomerLink.objects.get().pk) in page


def test_what_an_event_holds_can_be_read(order: Order) -> None:
    event = AuditEvent.objects.get(action="order.taken_in")
    page = shown(client_of("auditor"), address(AuditEvent, "change", event.pk))
    assert '"price": 1430' in page
    assert "藍牙耳機" in page


def test_amounts_are_shown_with_their_currency_and_codes_in_words(order: Order) -> None:
    client = client_of("auditor")
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "zh-TW"
    page = shown(client, address(Order, "change", order.pk))
    for text in ("NT$1,200", "NT$380", "NT$150", "NT$1,500", "門市取貨", "標準運費", "折抵", "已裝箱數量"):
        assert text in page
    assert "NT$380" in shown(client, address(LineItem, "changelist"))
    assert "NT$1,430" in shown(client, address(Payment, "changelist"))
    assert "門市取貨" in shown(client, address(Order, "changelist"))
    assert "以 動作" in shown(client, address(AuditEvent, "changelist"))


def queries(client: Client, model: type[Model]) -> int:
    with CaptureQueriesContext(connection) as context:
        assert client.get(address(model, "changelist")).status_code == 200
    return len(context)


def test_a_list_costs_the_same_however_long_it_is(order: Order) -> None:
    client = client_of("admin")
    more_records(7001, 7002)
    few = {model: queries(client, model) for model in MODELS}
    more_records(7003, 7008)
    assert {model: queries(client, model) for model in MODELS} == few


def more_records(first: int, last: int) -> None:
    for number in range(first, last + 1):
        who = "mei" if number % 2 else "ming2"
        parcel = shipment_body({1: 1}, external_id=f"s{number}")
        order = cast.place(str(number), who=who, shipments=[parcel], placed_at=timezone.now().isoformat())
        issue_link(order=order, actor=cast.staff())
        announce(order=order, event="goods.cancelled", payload={})
        give_credit(order, f"g-{number}")


def test_every_page_of_this_app_is_read_only_but_the_switches_of_the_simulated_carrier() -> None:
    pages = {model: page for model, page in admin.site._registry.items() if model._meta.app_label == "orders"}
    assert {model for model, page in pages.items() if not isinstance(page, ReadOnlyAdmin)} == {CarrierFault}


def test_only_the_superuser_switches_faults_of_the_carrier_on() -> None:
    fault = {"kind": "down", "remaining": 2, "seconds": 3}
    for role in ("auditor", "supervisor"):
        assert client_of(role).post(address(CarrierFault, "add"), fault).status_code == 403
    assert client_of("admin").post(address(CarrierFault, "add"), fault).status_code == 302
    assert CarrierFault.objects.get().remaining == 2


def test_stock_is_shown_with_what_is_promised_and_what_is_left() -> None:
    Product.objects.create(sku="A", name="耳機 紅", price=1200, currency="TWD", stock=9, reserved=2)
    Product.objects.create(sku="B", name="耳機 藍", price=1200, currency="TWD", stock=None)
    client = client_of("auditor")
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    page = shown(client, address(Product, "changelist"))
    for free in ("7", "not counted"):
        assert f'<td class="field-free">{free}</td>' in page


def test_an_order_says_where_it_is_sent_and_a_parcel_what_is_really_in_it(order: Order) -> None:
    home = {
        "recipient": "王小明",
        "phone": "0912345678",
        "postal_code": "106",
        "city": "台北市",
        "district": "大安區",
        "street": "和平東路一段 1 號",
    }
    sent = cast.place("7001", shipping=PAID_DELIVERY, shipping_address=home)
    red = Product.objects.create(sku="CASE-RED", name="耳機殼 紅", price=380, currency="TWD")
    parcel = write_replacement(
        order=order,
        external_id="r1",
        lines=[(cast.line(order, 1), red, 1)],
        carrier="",
        tracking_number="",
        actor=cast.SHOP,
    )
    client = client_of("auditor")
    assert "106 台北市大安區和平東路一段 1 號" in shown(client, address(Order, "change", sent.pk))
    assert "耳機殼 紅" in shown(client, address(Shipment, "change", parcel.pk))
