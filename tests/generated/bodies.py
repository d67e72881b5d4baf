"""Hypothesis strategies: orders as a checkout would send them, and what people then ask for."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st

from orders.tests.factories import (
    FREE_DELIVERY,
    PAID_DELIVERY,
    PICKUP,
    ago,
    bundle_discount,
    fixed_discount,
    line_body,
    payment_body,
    percent_discount,
)

# Two products of one price, one of another, and one so dear that its refund needs a second person.
PRICES: Final = {
    "TWD": {"A": 100, "B": 100, "C": 250, "D": 30_000},
    "USD": {"A": 1_999, "B": 1_999, "C": 2_390, "D": 70_000},
    "CNY": {"A": 9_900, "B": 9_900, "C": 580, "D": 500_000},
}
CATEGORIES: Final = {"A": "audio", "B": "audio", "C": "underwear", "D": "audio"}
TENDERS: Final = (*("card", "wallet", "store_credit") * 3, "bank_transfer", "cash_on_delivery")
# What is reported over the webhook's door is paid by this provider (`money_stories.py`).
REPORTING: Final = {"wallet": "stripe"}
REASONS: Final = (*("changed_mind", "defective", "wrong_item", "other") * 5, "lost", "shop_cancelled")
numbers = st.integers(0, 11)


class Sold(NamedTuple):
    """What an order is to be. `cuts`: where its price is divided among the tenders, in parts of 100."""

    currency: str
    lines: tuple[tuple[str, int], ...]
    discounts: tuple[dict[str, Any], ...]
    shipping: dict[str, Any]
    tenders: tuple[str, ...]
    cuts: tuple[int, ...]


@st.composite
def discounts(draw: st.DrawFn, unit: int, lines: int) -> dict[str, Any]:
    settlement = draw(st.sampled_from(["reprice", "reprice", "prorate"]))
    only = draw(st.none() | st.lists(st.integers(1, lines).map(str), min_size=1, max_size=lines, unique=True))
    terms = {"settlement": settlement, "lines": only}
    kind = draw(st.sampled_from(["fixed", "percent", "bundle"]))
    if kind == "fixed":
        return fixed_discount(
            draw(st.sampled_from([1, unit // 2, unit, 3 * unit])), draw(st.integers(0, 4)) * unit, **terms
        )
    if kind == "percent":
        return percent_discount(draw(st.sampled_from(["10", "12.5", "33.333", "100"])), **terms)
    return bundle_discount(draw(st.integers(2, 4)), draw(st.sampled_from([1, unit // 5, unit])), **terms)


@st.composite
def orders(draw: st.DrawFn) -> Sold:
    currency = draw(st.sampled_from(["TWD", "TWD", "USD", "CNY"]))
    unit = PRICES[currency]["A"]
    lines = draw(st.lists(st.tuples(st.sampled_from("AABCD"), st.integers(1, 3)), min_size=2, max_size=3))
    shipping = draw(st.sampled_from([PICKUP, PAID_DELIVERY, FREE_DELIVERY]))
    parts, reductions = draw(st.integers(1, 3)), draw(st.sampled_from([0, 1, 1, 2]))
    return Sold(
        currency=currency,
        lines=tuple(lines),
        discounts=tuple(draw(st.lists(discounts(unit, len(lines)), min_size=reductions, max_size=reductions))),
        shipping={**shipping, "standard_fee": unit, "charged": unit if shipping["charged"] else 0, "free_from": unit},
        tenders=tuple(draw(st.lists(st.sampled_from(TENDERS), min_size=parts, max_size=parts))),
        cuts=tuple(draw(st.lists(st.integers(1, 99), min_size=parts - 1, max_size=parts - 1))),
    )


def body_of(sold: Sold, number: str, customer: dict[str, Any], payments: Sequence[dict[str, Any]]) -> dict[str, Any]:
    lines = [
        line_body(
            position,
            name,
            PRICES[sold.currency][name],
            quantity,
            sku=sku(sold.currency, name),
            category=CATEGORIES[name],
        )
        for position, (name, quantity) in enumerate(sold.lines, start=1)
    ]
    return {
        "number": number,
        "placed_at": ago(minutes=1).isoformat(),
        "currency": sold.currency,
        "customer": customer,
        "lines": lines,
        "discounts": list(sold.discounts),
        "shipping": sold.shipping,
        "payments": list(payments),
    }


def payments_of(sold: Sold, price: int) -> list[dict[str, Any]]:
    """Payments that come to the price exactly; tenders that would pay nothing are left out."""
    cuts = [0, *sorted(price * cut // 100 for cut in sold.cuts), price]
    amounts = [upper - lower for lower, upper in pairwise(cuts)]
    return [
        payment_body(amount, external_id=f"p{position}", method=method, last4="", **provider_of(method))
        for position, (method, amount) in enumerate(zip(sold.tenders, amounts, strict=True), start=1)
        if amount
    ]


def provider_of(method: str) -> dict[str, str]:
    return {"provider": REPORTING[method]} if method in REPORTING else {}


def sku(currency: str, name: str) -> str:
    return f"{currency}-{name}"
