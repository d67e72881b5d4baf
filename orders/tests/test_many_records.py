"""A list of records reads no more of very many rows than its page shows."""

from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.templatetags import admin_list
from django.db import connection
from django.db.models import Field, Model, Q
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from orders import search
from orders.admin_many import ValuesFilter, begins_an_index, date_hierarchy, values_of
from orders.admin_pages import ReadOnlyAdmin
from orders.models import AuditEvent, Customer, LineItem, Order, Payment, Shipment
from orders.tests import cast
from orders.tests.factories import shipment_body

pytestmark = pytest.mark.django_db
# Of these there are as many as orders, or more.
BIG: list[type[Model]] = [Order, LineItem, Payment, Shipment, AuditEvent]
# In the shop's zone: the last moment of a year, the first of the next, months and days apart.
MOMENTS = [
    "2023-12-31T15:59:59",
    "2023-12-31T16:00:00",
    "2025-03-01T02:00:00",
    "2025-03-31T15:30:00",
    "2025-06-09T16:30",
]
LEVELS = ["", "placed_at__year=2023", "placed_at__year=2025", "placed_at__year=2025&placed_at__month=3"]
DAY = "placed_at__year=2025&placed_at__month=6&placed_at__day=10"


def address(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def reader(language: str = "en") -> Client:
    client = Client(headers={"accept-language": language})
    client.force_login(cast.staff_user("auditor"))
    return client


def place_at(*moments: str) -> None:
    for index, moment in enumerate(moments):
        order = cast.place(f"M{index}", shipments=[shipment_body({1: 1}, external_id=f"s{index}")])
        Order.objects.filter(pk=order.pk).update(placed_at=datetime.fromisoformat(moment).replace(tzinfo=UTC))


@pytest.fixture
def counts_to_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orders.admin_many.MOST_COUNTED", 3)


def text_of(answer: Any) -> str:
    assert answer.status_code == 200
    return " ".join(unescape(answer.content.decode()).split())


def test_counting_stops_and_says_so(counts_to_three: None) -> None:
    place_at(*MOMENTS)
    browser = reader()
    with CaptureQueriesContext(connection) as captured:
        page = text_of(browser.get(address(Order)))
    assert "more than 3 orders" in page
    assert "more than 3 results" in page
    assert "5 orders" not in page
    counts = [each["sql"] for each in captured if "COUNT(" in each["sql"] and "orders_order" in each["sql"]]
    assert counts
    assert all("LIMIT 4" in sql for sql in counts)


def test_counting_that_stops_is_said_in_chinese_too(counts_to_three: None) -> None:
    place_at(*MOMENTS)
    page = text_of(reader("zh-hant").get(address(Order)))
    assert "超過 3 筆訂單" in page
    assert "超過 3 筆結果" in page


def test_what_can_be_counted_is_counted_exactly(counts_to_three: None) -> None:
    place_at(*MOMENTS[:3])
    page = text_of(reader().get(address(Order)))
    assert "3 orders" in page
    assert "more than" not in page


def test_rows_are_paged_up_to_the_limit_and_no_further(counts_to_three: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin.site._registry[Order], "list_per_page", 2)
    place_at(*MOMENTS)
    browser = reader()
    pages = [browser.get(f"{address(Order)}?p={page}") for page in (1, 2)]
    assert [[order.number for order in page.context["cl"].result_list] for page in pages] == [["M4", "M3"], ["M2"]]
    assert browser.get(f"{address(Order)}?p=3").status_code == 302


def test_nobody_is_offered_all_of_what_was_not_counted(counts_to_three: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin.site._registry[Order], "list_per_page", 2)
    place_at(*MOMENTS[:3])
    assert "Select all 3 orders" in text_of(reader().get(address(Order)))
    cast.place("one-more")
    page = text_of(reader().get(address(Order)))
    assert "Select all 3" not in page
    assert "0 of 2 selected" in page


@pytest.mark.parametrize("counted", [1, 100], ids=["by index", "read once"])
@pytest.mark.parametrize("level", [*LEVELS, DAY])
def test_the_days_to_choose_from_are_those_that_django_finds(
    level: str, counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orders.admin_many.MOST_COUNTED", counted)
    place_at(*MOMENTS)
    answer = reader().get(f"{address(Order)}?{level}")
    changes = answer.context["cl"]
    ours, djangos = date_hierarchy(changes), admin_list.date_hierarchy(changes)
    assert ours == djangos
    assert ours["choices"]
    for choice in ours["choices"]:
        assert choice["title"] in text_of(answer)


def test_very_old_rows_do_not_ask_for_each_year_since(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orders.admin_many.MOST_COUNTED", 1)
    monkeypatch.setattr("orders.admin_many.MOST_PERIODS", 1)
    place_at("1901-05-05T00:00:00", *MOMENTS)
    changes = reader().get(address(Order)).context["cl"]
    with CaptureQueriesContext(connection) as captured:
        assert [each["title"] for each in date_hierarchy(changes)["choices"]] == ["1901", "2023", "2024", "2025"]
    assert max(each["sql"].count("UNION") for each in captured) == 1


@pytest.mark.parametrize("counted", [-1, 100], ids=["by index", "read once"])
def test_a_list_without_rows_has_no_days(counted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orders.admin_many.MOST_COUNTED", counted)
    changes = reader().get(address(Order)).context["cl"]
    assert date_hierarchy(changes)["choices"] == []


def test_no_list_of_many_rows_reads_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orders.admin_many.MOST_COUNTED", 2)
    place_at(*MOMENTS)
    browser = reader()
    for model in BIG:
        monkeypatch.setattr(admin.site._registry[model], "list_per_page", 1)
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(address(model)).status_code == 200
        asked = [each["sql"] for each in captured if model._meta.db_table in each["sql"]]
        assert asked
        by_key = f'WHERE "{model._meta.db_table}"."{model._meta.pk.column}" IN ('
        assert [sql for sql in asked if "DISTINCT" in sql or not ("LIMIT" in sql or by_key in sql)] == []
        (page,) = (sql for sql in asked if by_key in sql)
        assert "SELECT" not in page.partition(by_key)[2]


def test_filters_offer_the_values_that_there_are() -> None:
    place_at(*MOMENTS)
    for index, method in enumerate(["home_delivery", "by_boat", "home_delivery", "aerial"]):
        Order.objects.filter(number=f"M{index}").update(shipping_method=method)
    LineItem.objects.filter(order__number="M1").update(category="boats")
    for model in BIG:
        fields = [each[0] for each in filters_by_value(model)]
        changes = reader().get(address(model)).context["cl"]
        offered = {spec.field_path: list(spec.lookup_choices) for spec in changes.filter_specs if by_value(type(spec))}
        assert offered == {name: distinct(model, name) for name in fields}


def test_a_missing_value_is_offered_last() -> None:
    place_at(*MOMENTS[:2])
    Order.objects.filter(number="M1").update(shipping_waiver="promotion")
    Order.objects.filter(number="M0").update(shipping_waiver=None)
    field = Order._meta.get_field("shipping_waiver")
    assert isinstance(field, Field)
    assert list(values_of(Order, field)) == distinct(Order, "shipping_waiver") == ["promotion", None]
    Order.objects.update(shipping_waiver=None)
    assert list(values_of(Order, field)) == [None]


def by_value(kind: Any) -> bool:
    return issubclass(kind, admin.AllValuesFieldListFilter)


def filters_by_value(model: type[Model]) -> list[Any]:
    page = admin.site._registry[model]
    return [each for each in page.get_list_filter(None) if isinstance(each, tuple) and by_value(each[1])]  # type: ignore[arg-type]


def distinct(model: type[Model], name: str) -> list[Any]:
    return list(model._default_manager.order_by(name).values_list(name, flat=True).distinct())


def test_what_big_lists_are_narrowed_by_has_an_index() -> None:
    for model in BIG:
        page = admin.site._registry[model]
        assert isinstance(page, ReadOnlyAdmin)
        for name, kind in filters_by_value(model):
            assert issubclass(kind, ValuesFilter), (model, name)
            assert begins_an_index(model, name), (model, name)
        assert page.date_hierarchy is None or begins_an_index(model, page.date_hierarchy), model
    assert not begins_an_index(Order, "intake_digest")
    assert not begins_an_index(Order, "shipping_waiver"), "an index of some rows does not give all values"


def plan(model: type[Model], fits: Q) -> str:
    """How the database answers where it has so many rows that reading them all is out of the question."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    return model._default_manager.filter(fits).order_by().explain()


PARTS = [
    (Customer, "name", "小明", "orders_customer_name_pieces"),
    (Customer, "email", "ming@", "orders_customer_email_pieces"),
    (Customer, "phone", "345678", "orders_customer_phone_end"),
    (Order, "number", "553", "orders_order_number_pieces"),
    (LineItem, "name", "耳機", "orders_line_name_pieces"),
    (LineItem, "sku", "SKU-1", "orders_line_sku_pieces"),
    (Shipment, "tracking_number", "TW-778", "orders_shipment_tracking"),
]


@pytest.mark.parametrize(("model", "field", "words", "index"), PARTS, ids=[index for *_, index in PARTS])
def test_parts_of_a_text_are_looked_up_in_their_index(model: type[Model], field: str, words: str, index: str) -> None:
    fits = search.has_part(model, field, words)
    assert fits is not None
    assert index in plan(model, fits)


def test_events_are_looked_up_by_any_number_and_any_name() -> None:
    assert "audit_by_subject" in plan(AuditEvent, Q(subject_id="rf_1"))
    assert "audit_by_any_name" in plan(AuditEvent, Q(actor_name="王小明"))


def test_payments_and_parcels_are_looked_up_by_the_shops_number() -> None:
    assert "payment_by_shops_number" in plan(Payment, Q(external_id="p1"))
    assert "shipment_by_shops_number" in plan(Shipment, Q(external_id="s1"))


@pytest.mark.parametrize("most", [0, 500])
def test_orders_are_searched_by_the_customers_that_were_looked_up(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orders.search.MANY_CUSTOMERS", most)
    monkeypatch.setattr("orders.admin_search.MANY_FOUND", most)
    cast.order_5531()
    cast.place("5600", who="mei")
    browser = reader()
    with CaptureQueriesContext(connection) as captured:
        changes = browser.get(address(Order), {"q": "小明"}).context["cl"]
    assert [order.number for order in changes.result_list] == ["5531"]
    by_part = [each["sql"] for each in captured if " LIKE " in each["sql"]]
    assert by_part
    assert all("orders_pieces" in sql for sql in by_part)


@pytest.mark.parametrize(("typed", "numbers"), [("mei@", []), ("MING@EX", ["5531"]), ("mi", []), ("x小明", [])])
def test_a_customer_is_searched_by_parts_as_at_the_desk(typed: str, numbers: list[str]) -> None:
    Customer.objects.filter(pk=cast.order_5531().customer_id).update(email="ming@example.com", name="王小明")
    changes = reader().get(address(Order), {"q": typed}).context["cl"]
    assert [order.number for order in changes.result_list] == numbers


@pytest.mark.parametrize("typed", ["耳機", "耳機殼", "機"])
def test_lines_are_searched_by_parts_of_their_name(typed: str) -> None:
    order = cast.order_5531()
    changes = reader().get(address(LineItem), {"q": typed}).context["cl"]
    wanted = {line.pk for line in order.lines.all() if typed in line.name}
    assert {line.pk for line in changes.result_list} == wanted
    assert wanted
