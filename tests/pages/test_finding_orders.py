"""Staff find orders by what people remember of them, narrow the list, and turn its pages without counting it."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from orders.models import Customer, LineItem, Order, Payment
from orders.tests import cast
from orders.tests.factories import payment_body, shipment_body
from refunds.models import Refund
from refunds.redeem import redeem
from refunds.tests.ask import ask
from tests.pages.visiting import said, signed_in

pytestmark = pytest.mark.django_db
LIST = "/staff/orders/"


def place(number: str, *, name: str = "王小明", **options: Any) -> Order:
    """An order of a customer of its own."""
    who = {key: options.pop(key) for key in ("email", "phone") if key in options}
    order = cast.place(number, **options)
    order.customer = Customer.objects.create(external_id=f"c-{number}", name=name, **who)
    order.save(update_fields=["customer"])
    return order


def found(browser: Client, search: str = "", **filters: str) -> list[str]:
    """The numbers that the list shows, in its order."""
    answer = browser.get(LIST, {**({"q": search} if search else {}), **filters})
    assert answer.status_code == 200, answer
    return [row["order"].number for row in answer.context["rows"]]


@pytest.mark.parametrize(
    "search",
    ["陳", "陳大", "大文", "陳大文", "chen", "CHEN@exam", "5-678", "345678", "0912345678", "+886912345678", "0-17"],
)
def test_an_order_is_found_by_any_part_of_name_and_e_mail_and_by_the_end_of_the_phone(search: str) -> None:
    place("A-0-17", name="陳大文", email="chen@example.com", phone="+886 912-345-678")
    place("B-0-18", name="林小美", email="lin@example.com", phone="0922-000-111")
    assert found(signed_in("staff"), search) == ["A-0-17"]


@pytest.mark.parametrize("search", ["文大文", "文陳", "陳x", "12345", "chen@exempel", "1", "nobody"])
def test_what_does_not_fit_is_not_found_however_alike_its_pieces(search: str) -> None:
    place("A-0-7", name="陳大文大", email="chen@example.com", phone="0912345678")
    assert found(signed_in("staff"), search) == []


def test_a_name_that_very_many_share_is_found_on_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orders.search.MANY_CUSTOMERS", 2)
    now = timezone.now()
    for index in range(5):
        order = place(f"N{index}", name="王小明" if index != 1 else "林小美")
        Order.objects.filter(pk=order.pk).update(placed_at=now - timedelta(days=index))
    assert found(signed_in("staff"), "小明") == ["N0", "N2", "N3", "N4"]


@pytest.mark.parametrize("search", ["7001", "#7001", "TW-778", "tw-778"])
def test_the_whole_number_of_one_order_or_parcel_leads_straight_to_it(search: str) -> None:
    place("7001", shipments=[shipment_body({1: 1}, tracking_number="TW-778")])
    place("70012")
    answer = signed_in("staff").get(LIST, {"q": search})
    assert answer.headers["Location"] == "/staff/orders/7001/"


def test_the_list_can_be_had_all_the_same() -> None:
    place("7001")
    place("70012")
    assert set(found(signed_in("staff"), "7001", all="1")) == {"7001", "70012"}


def test_a_refunds_and_a_returns_number_lead_to_where_they_are() -> None:
    order = cast.place("7001", shipments=[shipment_body({2: 1})])
    refund = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).refund
    back = redeem(quote_id=ask(order, (2, 1, "changed_mind")).pk, actor=cast.shopper()).return_request
    assert refund
    assert back
    staff = signed_in("staff")
    assert staff.get(LIST, {"q": refund.pk.upper()}).headers["Location"] == f"/staff/orders/7001/#{refund.pk}"
    assert staff.get(LIST, {"q": back.pk}).headers["Location"] == f"/staff/returns/{back.pk}/"
    assert found(staff, "rf_nothing") == []


def test_two_parcels_with_one_tracking_number_are_both_listed() -> None:
    for number in ("7001", "7002"):
        place(number, shipments=[shipment_body({1: 1}, tracking_number="TW-778")])
    assert set(found(signed_in("staff"), "TW-778")) == {"7001", "7002"}


def test_each_state_of_goods_shows_the_orders_that_have_such() -> None:
    place("unsent")
    for state in ("packed", "shipped", "delivered", "lost"):
        place(state, shipments=[shipment_body({1: 1, 2: 1}, state=state)])
    returning = cast.place("returning", shipments=[shipment_body({1: 1, 2: 1})])
    redeem(quote_id=ask(returning, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    refunded = cast.place("refunded", shipments=[shipment_body({1: 1})])
    redeem(quote_id=ask(refunded, (2, 1, "changed_mind")).pk, actor=cast.shopper())
    staff = signed_in("staff")
    for state in ("unsent", "packed", "shipped", "lost", "returning", "refunded"):
        assert found(staff, state=state) == [state]
    assert set(found(staff, state="delivered")) == {"delivered", "returning", "refunded"}
    assert len(found(staff, state="nonsense")) == 7


@pytest.mark.parametrize("few", [1, 100])
def test_unsent_orders_are_named_while_they_are_few(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backoffice.screens.order_filters.FEW_UNSENT", few)
    for number in ("1", "2"):
        place(number)
    place("gone", shipments=[shipment_body({1: 1, 2: 1})])
    staff = signed_in("staff")
    with CaptureQueriesContext(connection) as captured:
        assert set(found(staff, state="unsent")) == {"1", "2"}
    joined = [each["sql"] for each in captured if "EXISTS" in each["sql"] and "cancelled_quantity" in each["sql"]]
    assert bool(joined) == (few == 1)


def test_a_refund_that_was_rejected_does_not_count_as_refunded() -> None:
    order = cast.place("7001")
    redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    Refund.objects.update(state="rejected")
    assert found(signed_in("staff"), state="refunded") == []


def test_orders_are_narrowed_by_day_in_the_shops_zone_by_amount_and_by_talk() -> None:
    early, late = place("early", lines=[("襪子", 100, 1)]), place("late", lines=[("電腦", 30000, 1)])
    moment = datetime(2026, 3, 1, 0, 30, tzinfo=timezone.get_default_timezone())
    Order.objects.filter(pk=early.pk).update(placed_at=moment)
    Order.objects.filter(pk=late.pk).update(placed_at=moment + timedelta(days=1))
    said(late, "在嗎")
    staff = signed_in("staff")
    assert found(staff, **{"from": "2026-03-01", "to": "2026-03-01"}) == ["early"]
    assert found(staff, **{"from": "2026-03-02"}) == ["late"]
    assert found(staff, over="30,000") == ["late"]
    assert found(staff, under="29,999") == ["early"]
    assert found(staff, talk="open") == ["late"]
    assert found(staff, "襪", over="1") == []


def test_what_narrows_the_list_stands_as_chips_that_take_it_away_again() -> None:
    place("7001")
    page = signed_in("staff").get(LIST, {"q": "王", "state": "unsent", "over": "100", "from": "2026-01-01"})
    assert [chip.without for chip in page.context["filters"].chips()] == [
        "q=%E7%8E%8B&state=unsent&over=100",
        "q=%E7%8E%8B&state=unsent&from=2026-01-01",
    ]


def test_a_filter_that_cannot_be_read_says_so_and_the_rest_counts() -> None:
    place("7001")
    answer = signed_in("staff").get(LIST, {"from": "yesterday", "over": "1,00", "state": "unsent"})
    assert answer.content.decode().count("field-error") == 2
    assert len(answer.context["rows"]) == 1


def test_currencies_are_a_filter_only_where_there_are_several() -> None:
    place("7001")
    staff = signed_in("staff")
    assert 'name="currency"' not in staff.get(LIST).content.decode()
    cast.place("7002", currency="USD", payments=[payment_body(1000)], lines=[("Socks", 1000, 1)])
    assert 'name="currency"' in staff.get(LIST).content.decode()
    assert found(staff, currency="USD") == ["7002"]
    assert found(staff, over="1") == ["7001"]
    assert found(staff, over="9.50", currency="USD") == ["7002"]


def many(count: int, *, begin: int = 0) -> None:
    """Orders with a line and a payment each, as fast as the database takes them; the newest has the lowest index."""
    customer = Customer.objects.first() or Customer.objects.create(external_id="many", name="王小明")
    product = cast.place(f"P{begin}").lines.all()[0].product
    now = timezone.now()
    orders = Order.objects.bulk_create(
        Order(
            number=f"K{index:05}",
            customer=customer,
            placed_at=now - timedelta(minutes=index // 3),
            currency="TWD",
            shipping_method="store_pickup",
            shipping_charged=0,
            shipping_standard_fee=0,
            intake_digest="",
        )
        for index in range(begin, begin + count)
    )
    common = {"line_item_id": "li_1", "position": 1, "external_id": "1", "product": product, "sku": product.sku}
    LineItem.objects.bulk_create(
        LineItem(order=order, name=product.name, unit_price=100, quantity=1, **common) for order in orders
    )
    Payment.objects.bulk_create(
        Payment(
            order=order, position=1, external_id="1", method="card", provider="simulated", amount=100, captured_at=now
        )
        for order in orders
    )


@pytest.mark.parametrize("search", ["", "K0", "小明"])
def test_every_row_stands_on_one_page_and_newer_leads_back_the_same_way(search: str) -> None:
    many(60)
    staff = signed_in("staff")
    there: list[list[str]] = []
    answer = staff.get(LIST, {"q": search})
    while True:
        there.append([row["order"].number for row in answer.context["rows"]])
        if not answer.context["older"]:
            break
        answer = staff.get(f"{LIST}?{answer.context['older']}")
    numbers = [number for page in there for number in page]
    newest_first = Order.objects.order_by("-placed_at", "-id").values_list("number", flat=True)
    assert numbers == [number for number in newest_first if not search or number.startswith("K") or search == "小明"]
    assert len(there) == 3
    back = [there[-1]]
    while answer.context["newer"]:
        answer = staff.get(f"{LIST}?{answer.context['newer']}")
        back.append([row["order"].number for row in answer.context["rows"]])
    assert back == there[::-1]


@pytest.mark.parametrize("cursor", ["x", "MTI", "====", "MS4y" * 30, "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5LjE", "5531"])
def test_a_cursor_that_nobody_gave_out_shows_the_first_page(cursor: str) -> None:
    place("7001")
    for name in ("after", "before"):
        assert signed_in("staff").get(LIST, {name: cursor}).status_code == 200


def test_large_numbers_are_not_counted_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backoffice.screens.order_search.COUNTED_UP_TO", 30)
    staff = signed_in("staff", language="en")
    place("7001")
    assert staff.get(LIST).context["count"] == "1 order"
    many(40)
    assert staff.get(LIST).context["count"] == "more than 30 orders"


@pytest.mark.parametrize("address", ["", "?q=小明", "?state=unsent&over=1", "?q=K0"])
def test_a_thousand_orders_ask_the_database_as_often_as_ten(address: str) -> None:
    staff = signed_in("staff")
    many(10)
    staff.get(LIST + address)
    few = queries(staff, address)
    many(1000, begin=100)
    assert queries(staff, address) == few


def queries(browser: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(LIST + address).status_code == 200
    return len(captured)


def test_what_was_paid_follows_the_payments_whatever_happens_to_them() -> None:
    order = cast.place("7001", lines=[("襪子", 500, 1)])

    def paid() -> int:
        return Order.objects.values_list("paid_amount", flat=True).get(pk=order.pk)

    assert paid() == 500
    payment = order.payments.get()
    more = Payment.objects.create(
        order=order,
        position=2,
        external_id="2",
        method="card",
        provider="simulated",
        amount=30,
        captured_at=timezone.now(),
    )
    assert paid() == 530
    Payment.objects.filter(pk=payment.pk).update(amount=510)
    assert paid() == 540
    more.delete()
    assert paid() == 510
