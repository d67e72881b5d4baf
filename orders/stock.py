"""Pieces that are promised to replacements and pieces that have left: the counters of a product, and nothing else.

Each move is one conditional update: of two who want the last piece one gets it and the other hears `OutOfStock`.
Whoever touches several products takes them by primary key (`docs/money.md`, lock order).
"""

from django.db.models import Case, F, Q, When
from django.db.models.expressions import Combinable

from orders.goods import GoodsMoved
from orders.models import Product


class OutOfStock(GoodsMoved):
    """Fewer pieces are free than were wanted; `available` is how many. Nothing was changed."""

    def __init__(self, product: Product, available: int) -> None:
        super().__init__(product.sku)
        self.product, self.available = product, available


def available(product: Product) -> int | None:
    """Pieces that are promised to nobody, as this row says; None where the shop does not count them here."""
    return None if product.stock is None else max(product.stock - product.reserved, 0)


def reserve(product: Product, quantity: int) -> None:
    """Promise pieces to a replacement. What is not counted can always be promised. Raises OutOfStock."""
    enough = Q(stock=None) | Q(stock__gte=F("reserved") + quantity)
    moved = Product.objects.filter(enough, pk=product.pk).update(reserved=F("reserved") + quantity)
    product.refresh_from_db(fields=["stock", "reserved"])
    if moved != 1:
        raise OutOfStock(product, available(product) or 0)


def use(product: Product, quantity: int) -> None:
    """Reserved pieces have left the house. Raises GoodsMoved if so many were not reserved.

    Whoever hands a piece over has it: a stock that says there is none is behind, and stops at 0.
    """
    _let_go(product, quantity, stock=Case(When(stock__lt=quantity, then=0), default=F("stock") - quantity))


def free(product: Product, quantity: int) -> None:
    """Reserved pieces are not needed after all. Raises GoodsMoved if so many were not reserved."""
    _let_go(product, quantity, stock=F("stock"))


def _let_go(product: Product, quantity: int, *, stock: Case | Combinable) -> None:
    moved = Product.objects.filter(pk=product.pk, reserved__gte=quantity).update(
        reserved=F("reserved") - quantity, stock=stock
    )
    if moved != 1:
        raise GoodsMoved(product.sku)
    product.refresh_from_db(fields=["stock", "reserved"])
