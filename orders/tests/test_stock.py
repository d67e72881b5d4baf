"""Pieces are promised once: what is reserved is not available, and of two who want the last piece one gets it."""

from functools import partial

import pytest

from orders import stock
from orders.goods import GoodsMoved
from orders.models import Product
from orders.tests.race import at_once

pytestmark = pytest.mark.django_db


def product(*, pieces: int | None = 3, sku: str = "EAR-RED") -> Product:
    return Product.objects.create(sku=sku, name="藍牙耳機 紅", price=1200, currency="TWD", stock=pieces)


def counters(item: Product) -> tuple[int | None, int]:
    item.refresh_from_db()
    return item.stock, item.reserved


def test_what_is_promised_is_not_available_to_others() -> None:
    item = product(pieces=3)
    stock.reserve(item, 2)
    assert (stock.available(item), counters(item)) == (1, (3, 2))
    with pytest.raises(stock.OutOfStock) as refused:
        stock.reserve(item, 2)
    assert (refused.value.available, refused.value.product) == (1, item)
    assert counters(item) == (3, 2)


def test_pieces_that_leave_are_neither_in_stock_nor_reserved_and_freed_ones_are_available_again() -> None:
    item = product(pieces=3)
    stock.reserve(item, 3)
    stock.use(item, 1)
    stock.free(item, 2)
    assert (stock.available(item), counters(item)) == (2, (2, 0))


def test_a_product_whose_pieces_are_not_counted_can_always_be_promised() -> None:
    item = product(pieces=None)
    stock.reserve(item, 5)
    stock.use(item, 2)
    assert (stock.available(item), counters(item)) == (None, (None, 3))


@pytest.mark.parametrize("let_go", [stock.use, stock.free])
def test_no_more_is_let_go_than_was_reserved(let_go: partial[None]) -> None:
    item = product(pieces=3)
    stock.reserve(item, 1)
    with pytest.raises(GoodsMoved):
        let_go(item, 2)
    assert counters(item) == (3, 1)


def test_a_stock_that_the_shop_has_lowered_below_what_is_promised_stops_at_nothing() -> None:
    item = product(pieces=3)
    stock.reserve(item, 2)
    Product.objects.filter(pk=item.pk).update(stock=1)
    item.refresh_from_db()
    assert stock.available(item) == 0
    stock.use(item, 2)
    assert counters(item) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_of_many_who_want_the_last_pieces_at_once_only_as_many_get_one_as_there_are() -> None:
    item = product(pieces=2)
    wanting = [partial(stock.reserve, Product.objects.get(pk=item.pk), 1) for _ in range(6)]
    answers = at_once(wanting)
    assert answers.count(None) == 2
    assert sum(isinstance(answer, stock.OutOfStock) for answer in answers) == 4
    assert counters(item) == (2, 2)
