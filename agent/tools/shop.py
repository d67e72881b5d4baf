"""Tools that look at what the shop sells. They change nothing, and reserve nothing."""

from typing import Any

from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from agent.tools.base import Arguments, Context, Tool, closed, or_null
from orders.errors import InvalidInput, NotFound
from orders.models import Product
from orders.products import product_as_dict, product_by_id, search_products

MOST_FOUND = 10
MAX_WORDS = 100


def search(context: Context, arguments: Arguments) -> dict[str, Any]:
    words, category, highest = arguments["words"], arguments["category"], arguments["price_max"]
    _check_words(words, category)
    if highest is not None and highest < 0:
        raise InvalidInput("price_max", translate("The highest price is a whole number from 0 on, or null."))
    found = search_products(
        words=words,
        category=category or "",
        price_max=highest,
        currency=context.order.currency,
        limit=MOST_FOUND + 1,
    )
    return {"products": [product_as_dict(each) for each in found[:MOST_FOUND]], "note": _note(len(found))}


def _check_words(words: str, category: str | None) -> None:
    for field, text in (("words", words), ("category", category or "")):
        if len(text) > MAX_WORDS:
            raise InvalidInput(field, translate("At most %(count)s characters.") % {"count": MAX_WORDS})
    if not words.strip() and not (category or "").strip():
        raise InvalidInput(
            "words",
            translate("Say what to look for: words, a category, or both."),
            hint=translate("Put one or two words of the product's name into words."),
        )


def _note(found: int) -> str:
    if not found:
        return "No product fits. Try fewer or other words, or null for category and price_max."
    if found > MOST_FOUND:
        return f"The first {MOST_FOUND} of more products. Use more words, a category or price_max to see fewer."
    return "All products that fit."


def get_product(context: Context, arguments: Arguments) -> dict[str, Any]:
    product = product_of(context, arguments["product_id"])
    bought = [line.line_item_id for line in context.order.lines.all() if line.product_id == product.pk]
    return {**product_as_dict(product), "line_item_ids": bought}


def product_of(context: Context, product_id: str) -> Product:
    """The product, if the shop sells it in the order's currency. Raises NotFound."""
    product = product_by_id(product_id)
    if product is None or product.currency != context.order.currency:
        raise no_such_product()
    return product


def no_such_product() -> NotFound:
    return NotFound(
        translate("The shop has no product with this id."),
        hint=translate("Use a product_id that search_products or get_order returned."),
        field="product_id",
    )


PRODUCT_ID = {"type": "string", "description": "The product_id as search_products or get_order gives it."}

SEARCH_PRODUCTS = Tool(
    name="search_products",
    schema=closed(
        words={
            "type": "string",
            "description": "Words that must all stand in the product's name, id, category or description, separated by "
            "spaces; capital letters do not matter. At most 100 characters; empty to see a whole category.",
        },
        category=or_null({"type": "string"}, "Only this category, as products show it; null for all."),
        price_max=or_null(
            {"type": "integer"},
            "Only products up to this price, in whole smallest units of the order's currency (NT$ have no smaller "
            "unit); null for any price.",
        ),
    ),
    handler=search,
    reads=True,
    suspends=False,
    working=_("Looking through our products"),
    examples=({"order_number": "5531", "words": "耳機 黑", "category": None, "price_max": 1200},),
)

GET_PRODUCT = Tool(
    name="get_product",
    schema=closed(product_id=PRODUCT_ID),
    handler=get_product,
    reads=True,
    suspends=False,
    working=_("Looking up the product"),
)
