"""What the shop sells now: taken in from the shop, searched and read. Orders keep their own snapshot of it."""

from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet
from rest_framework import serializers

from orders import audit
from orders.actors import Actor, NotAllowed
from orders.models import Product
from orders.money import DECIMALS, format_money
from orders.stock import available
from orders.strict import Amount, StrictBody, StrictInteger, StrictText, validated

PERMISSION: Final = "orders.change_product"
VIEW: Final = "orders.view_product"
MAX_STOCK: Final = 10**9
MAX_WORDS: Final = 200
_MAY_CHANGE: Final = frozenset({"staff", "system"})
_SEARCHED: Final = ("name", "sku", "category", "description")


class ProductBody(StrictBody):
    """A product as the shop sells it. What is left out is left as it is known; `stock` null: not counted here."""

    name = StrictText(max_length=200)
    category = StrictText(max_length=64, required=False, allow_blank=True)
    price = Amount()
    currency = serializers.ChoiceField(choices=sorted(DECIMALS))
    stock = StrictInteger(min_value=0, max_value=MAX_STOCK, required=False, allow_null=True)
    description = StrictText(max_length=2000, required=False, allow_blank=True)


class ProductWithSku(ProductBody):
    sku = StrictText(max_length=64)


def take_in_product(*, body: object, actor: Actor) -> tuple[Product, bool]:
    """The product of a `ProductWithSku`, and True if it is new. The same again changes nothing.

    Orders keep the name and price they were placed with, and what is reserved stays. Raises NotAllowed, InvalidInput.
    """
    actor.require(PERMISSION)
    if actor.kind not in _MAY_CHANGE:
        raise NotAllowed(PERMISSION)
    facts = validated(ProductWithSku, body)
    with transaction.atomic():
        _, created = Product.objects.get_or_create(sku=facts["sku"], defaults=facts)
        product = Product.objects.select_for_update(no_key=True).get(sku=facts["sku"])
        before = {name: getattr(product, name) for name in facts}
        changed = [name for name, value in facts.items() if before[name] != value]
        if created:
            _record("product.added", product, facts, actor, {})
        elif changed:
            for name in changed:
                setattr(product, name, facts[name])
            product.save(update_fields=changed)
            outcome = {
                "before": {name: before[name] for name in changed},
                "after": {name: facts[name] for name in changed},
            }
            _record("product.changed", product, facts, actor, outcome)
    return product, created


def matching_products(
    *, words: str = "", category: str = "", price_max: int | None = None, currency: str = ""
) -> QuerySet[Product]:
    """Products in which all `words` stand, somewhere in name, sku, category or description; capitals do not count.

    `price_max` is in smallest units of the product's currency. Empty and None mean any. By name.
    """
    products = Product.objects.order_by("name", "sku")
    for word in _clean(words).split():
        found = Q()
        for field in _SEARCHED:
            found |= Q(**{f"{field}__icontains": word})
        products = products.filter(found)
    if category.strip():
        products = products.filter(category__iexact=_clean(category).strip())
    if price_max is not None:
        products = products.filter(price__lte=price_max)
    return products.filter(currency=currency) if currency else products


def search_products(
    *,
    words: str = "",
    category: str = "",
    price_max: int | None = None,
    currency: str = "",
    limit: int = 10,
) -> list[Product]:
    """The first `limit` of `matching_products`."""
    return list(matching_products(words=words, category=category, price_max=price_max, currency=currency)[:limit])


def product_by_id(product_id: str) -> Product | None:
    """The product with this sku; None for one that does not exist, whatever was written."""
    return Product.objects.filter(sku=_clean(product_id)).first()


def product_as_dict(product: Product) -> dict[str, Any]:
    """As every door shows it. `in_stock` and `available` are null where the shop does not count pieces here."""
    left = available(product)
    return {
        "product_id": product.sku,
        "name": product.name,
        "category": product.category,
        "price": product.price,
        "display": format_money(product.price, product.currency),
        "currency": product.currency,
        "in_stock": None if left is None else left > 0,
        "available": left,
        "description": product.description,
    }


def _clean(text: str) -> str:
    """PostgreSQL cannot hold a NUL, so nothing is called that."""
    return text.replace("\x00", "\ufffd")


def _record(action: str, product: Product, facts: Mapping[str, Any], actor: Actor, outcome: Mapping[str, Any]) -> None:
    audit.record(
        action=action,
        actor=actor,
        subject_type="product",
        subject_id=str(product.pk),
        chosen=facts,
        outcome=outcome,
    )
