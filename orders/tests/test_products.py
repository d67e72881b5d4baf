"""Products are taken in from the shop, found by words and price, and shown alike at every door."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from orders import stock
from orders.actors import Actor, NotAllowed
from orders.errors import InvalidInput
from orders.models import AuditEvent, Product
from orders.products import product_as_dict, product_by_id, search_products, take_in_product
from orders.tests import cast
from orders.tests.race import at_once

pytestmark = pytest.mark.django_db
RED = {
    "sku": "EAR-RED",
    "name": "藍牙耳機 紅",
    "category": "audio",
    "price": 1200,
    "currency": "TWD",
    "stock": 5,
    "description": "降噪，Bluetooth 5.3",
}


def take(actor: Actor = cast.SHOP, **changes: Any) -> Product:
    return take_in_product(body={**RED, **changes}, actor=actor)[0]


def test_a_product_is_shown_as_the_shop_told_it() -> None:
    assert product_as_dict(take()) == {
        "product_id": "EAR-RED",
        "name": "藍牙耳機 紅",
        "category": "audio",
        "price": 1200,
        "display": "NT$1,200",
        "currency": "TWD",
        "in_stock": True,
        "available": 5,
        "description": "降噪，Bluetooth 5.3",
    }


@pytest.mark.parametrize(("pieces", "in_stock"), [(None, None), (0, False), (1, True)])
def test_whether_there_are_any_is_known_where_pieces_are_counted(pieces: int | None, in_stock: bool | None) -> None:
    shown = product_as_dict(take(stock=pieces))
    assert (shown["in_stock"], shown["available"]) == (in_stock, pieces)


def test_the_same_again_changes_nothing_and_what_changed_is_written_down() -> None:
    first, created = take_in_product(body=RED, actor=cast.SHOP)
    assert (created, take_in_product(body=RED, actor=cast.SHOP)) == (True, (first, False))
    take(price=1100)
    changed = AuditEvent.objects.get(action="product.changed")
    assert (changed.subject_type, changed.subject_id) == ("product", str(first.pk))
    assert changed.outcome == {"before": {"price": 1200}, "after": {"price": 1100}}
    assert AuditEvent.objects.count() == 2


def test_what_is_left_out_stays_and_what_is_promised_stays_promised() -> None:
    stock.reserve(take(), 2)
    body = {"sku": "EAR-RED", "name": "藍牙耳機 紅", "price": 1200, "currency": "TWD"}
    product, _ = take_in_product(body=body, actor=cast.SHOP)
    assert (product.stock, product.reserved, product.description) == (5, 2, RED["description"])
    assert (take(stock=2).reserved, product_as_dict(take(stock=2))["available"]) == (2, 0)


def test_an_order_keeps_the_name_and_price_it_was_placed_with() -> None:
    order = cast.order_5531()
    take(sku="EAR", name="耳機", price=999)
    line = cast.line(order, 1)
    assert (line.name, line.unit_price, line.product.price) == ("藍牙耳機", 1200, 999)


def found(**asked: Any) -> list[str]:
    return [product.sku for product in search_products(**asked)]


@pytest.fixture
def shelf() -> None:
    take()
    take(sku="EAR-BLUE", name="藍牙耳機 藍", price=1200)
    take(sku="CASE_1", name="耳機殼", category="accessory", price=380, description="100% 矽膠")
    take(sku="USD-1", name="Headphones", category="Audio", price=900, currency="USD", description="")


@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize(
    ("asked", "skus"),
    [
        ({"words": "耳機"}, ["CASE_1", "EAR-RED", "EAR-BLUE"]),
        ({"words": "耳機 紅"}, ["EAR-RED"]),
        ({"words": "紅 耳機"}, ["EAR-RED"]),
        ({"words": "牙耳"}, ["EAR-RED", "EAR-BLUE"]),
        ({"words": "ear-"}, ["EAR-RED", "EAR-BLUE"]),
        ({"words": "BLUETOOTH 藍"}, ["EAR-RED", "EAR-BLUE"]),
        ({"words": "audio", "currency": "USD"}, ["USD-1"]),
        ({"words": "耳機", "price_max": 1199}, ["CASE_1"]),
        ({"words": "耳機", "price_max": 1200, "category": "AUDIO"}, ["EAR-RED", "EAR-BLUE"]),
        ({"category": "audio", "currency": "TWD"}, ["EAR-RED", "EAR-BLUE"]),
        ({"words": "%"}, ["CASE_1"]),
        ({"words": "_"}, ["CASE_1"]),
        ({"words": "耳機 綠"}, []),
        ({"words": "\x00"}, []),
        ({"words": "' OR 1=1 --"}, []),
        ({"words": "耳機", "limit": 1}, ["CASE_1"]),
    ],
)
def test_all_words_must_stand_somewhere_and_the_price_may_not_be_above(asked: dict[str, Any], skus: list[str]) -> None:
    assert sorted(found(**asked)) == sorted(skus)


@pytest.mark.usefixtures("shelf")
def test_without_words_everything_is_found_in_a_fixed_order() -> None:
    assert found() == found()
    assert len(found()) == 4


@pytest.mark.parametrize("unknown", ["", "ear-red", "\x00", "x" * 500, "EAR-RED "])
def test_an_id_that_does_not_exist_is_no_product(unknown: str) -> None:
    take()
    assert product_by_id("EAR-RED") == Product.objects.get()
    assert product_by_id(unknown) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sku", ""),
        ("name", None),
        ("price", -1),
        ("price", 1.5),
        ("price", "1200"),
        ("stock", -1),
        ("stock", True),
        ("stock", 10**10),
        ("currency", "ZZZ"),
        ("description", "a\x00b"),
        ("colour", "red"),
    ],
)
def test_what_cannot_be_used_is_refused_and_the_field_is_named(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        take(**{field: value})
    assert refused.value.field == field
    assert not Product.objects.exists()


@pytest.mark.parametrize("actor", ["staff", "warehouse", "auditor", "ming"])
def test_only_who_may_change_products_takes_them_in(actor: str) -> None:
    with pytest.raises(NotAllowed):
        take(cast.shopper("ming") if actor == "ming" else cast.staff(actor))
    assert take(cast.staff("supervisor"))


@pytest.mark.django_db(transaction=True)
def test_a_product_that_is_told_of_many_times_at_once_is_new_once() -> None:
    answers = at_once([partial(take_in_product, body=RED, actor=cast.SHOP)] * 5)
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert sorted(answer[1] for answer in answers if not isinstance(answer, Exception)) == [False] * 4 + [True]
    assert [event.action for event in AuditEvent.objects.all()] == ["product.added"]


@pytest.mark.django_db(transaction=True)
def test_what_is_promised_while_the_shop_tells_its_stock_stays_promised() -> None:
    item = take(stock=5)
    tell: Callable[[], object] = partial(take, stock=4)
    promise: Callable[[], object] = partial(stock.reserve, Product.objects.get(pk=item.pk), 1)
    assert [answer for answer in at_once([tell, promise, promise, tell]) if isinstance(answer, Exception)] == []
    item.refresh_from_db()
    assert (item.stock, item.reserved) == (4, 2)
