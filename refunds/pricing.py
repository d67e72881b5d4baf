"""What the kept goods would have cost: `price(kept)`, as a checkout would work it out from the order's own snapshot.

The rule with its reasons is in docs/money.md, sections "Components", "Thresholds and the shop's fault" and "Prorate".
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from orders.money import round_half_up
from refunds.terms import Departure, Discount, DiscountKind, Line, PolicyError, Terms, whole_number


@dataclass(frozen=True, slots=True)
class DiscountPrice:
    """What one discount takes off the kept goods (`amount`), and what decided it.

    kept_goods, kept_quantity: the goods it applies to that are kept. counted_goods, counted_quantity: what its
    thresholds look at, which is the kept goods and those that left through the shop's fault.
    """

    code: str
    label: str
    kind: DiscountKind
    amount: int
    kept_goods: int
    kept_quantity: int
    counted_goods: int
    counted_quantity: int


@dataclass(frozen=True, slots=True)
class Price:
    """The priced components of what is kept: `total` is goods minus the discounts plus shipping, never below 0.

    counted_goods: the value that the threshold for free shipping looks at. Everything in smallest units.
    """

    goods: int
    discounts: tuple[DiscountPrice, ...]
    shipping: int
    total: int
    kept_quantity: int
    counted_goods: int


@dataclass(frozen=True, slots=True)
class Basket:
    """Quantities by line item id: `kept` by the customer, and `counted` towards thresholds (never less than kept)."""

    kept: Mapping[str, int]
    counted: Mapping[str, int]


def price(terms: Terms, gone: Sequence[Departure]) -> Price:
    """The price of what is left once `gone` has left; `price(terms, ())` is that of the whole order.

    Raises PolicyError for a departure of an unknown line, of more than was ordered, or of a quantity that is no
    positive whole number.
    """
    basket = basket_after(terms, gone)
    goods = _value(terms.lines, basket.kept)
    amounts = _clipped(_discount_amounts(terms, basket), goods)
    shipping = _shipping(terms, basket)
    priced = zip(terms.discounts, amounts, strict=True)
    return Price(
        goods=goods,
        discounts=tuple(_discount_price(discount, amount, terms, basket) for discount, amount in priced),
        shipping=shipping,
        total=goods - sum(amounts) + shipping,
        kept_quantity=sum(basket.kept.values()),
        counted_goods=_value(terms.lines, basket.counted),
    )


def basket_after(terms: Terms, gone: Iterable[Departure]) -> Basket:
    """The quantities that `gone` leaves behind. Raises PolicyError with the field `quantity` or `line_item_id`."""
    kept = Counter({line.line_item_id: line.quantity for line in terms.lines})
    counted = Counter(kept)
    for departure in gone:
        _check_departure(departure, kept)
        kept[departure.line_item_id] -= departure.quantity
        if not departure.shop_fault:
            counted[departure.line_item_id] -= departure.quantity
    return Basket(kept, counted)


def _check_departure(departure: Departure, left: Mapping[str, int]) -> None:
    line = departure.line_item_id
    if line not in left:
        raise PolicyError("line_item_id", f"the order has no line {line!r}", code="unknown", line_item_id=line)
    quantity = whole_number(departure.quantity, "quantity", minimum=1)
    if quantity > left[line]:
        message = f"{quantity} of line {line} is more than the {left[line]} that are left"
        raise PolicyError("quantity", message, code="more_than_left", line_item_id=line, left=left[line])
    if not isinstance(departure.shop_fault, bool):
        raise PolicyError("shop_fault", f"must be true or false, not {departure.shop_fault!r}", line_item_id=line)


def _value(lines: Iterable[Line], quantities: Mapping[str, int]) -> int:
    return sum(line.unit_price * quantities[line.line_item_id] for line in lines)


def _pieces(lines: Iterable[Line], quantities: Mapping[str, int]) -> int:
    return sum(quantities[line.line_item_id] for line in lines)


def _eligible(terms: Terms, discount: Discount) -> list[Line]:
    return [line for line in terms.lines if discount.covers(line.line_item_id)]


def _discount_amounts(terms: Terms, basket: Basket) -> list[int]:
    checkout = _checkout_amounts(terms)
    return [
        _prorated(terms, discount, at_checkout, basket)
        if discount.settlement == "prorate"
        else _earned(terms, discount, basket)
        for discount, at_checkout in zip(terms.discounts, checkout, strict=True)
    ]


def _checkout_amounts(terms: Terms) -> list[int]:
    whole = basket_after(terms, ())
    return _clipped([_earned(terms, discount, whole) for discount in terms.discounts], _value(terms.lines, whole.kept))


def _earned(terms: Terms, discount: Discount, basket: Basket) -> int:
    """What a checkout takes off: worked out from list prices, without looking at the other discounts."""
    lines = _eligible(terms, discount)
    if _value(lines, basket.counted) < discount.min_spend or _pieces(lines, basket.counted) < discount.min_quantity:
        return 0
    goods = _value(lines, basket.kept)
    if discount.kind == "fixed":
        amount = discount.amount
    elif discount.kind == "percent":
        amount = round_half_up(Fraction(discount.percent) * goods / 100)
    else:
        amount = discount.amount_per_unit * _pieces(lines, basket.kept)
    return min(amount, goods)


def _clipped(amounts: Iterable[int], goods: int) -> list[int]:
    """Discounts together never exceed the goods: earlier ones keep theirs, later ones take what is left."""
    clipped = []
    for amount in amounts:
        clipped.append(min(amount, goods))
        goods -= clipped[-1]
    return clipped


def _prorated(terms: Terms, discount: Discount, at_checkout: int, basket: Basket) -> int:
    lines = _eligible(terms, discount)
    weights = [_weight(discount, line) for line in lines]
    counts = [line.quantity for line in lines]
    shares = unit_shares(at_checkout, list(zip(weights, counts, strict=True)))
    kept = 0
    for line, (each, extra) in zip(lines, shares, strict=True):
        quantity = basket.kept[line.line_item_id]
        kept += quantity * each + min(quantity, extra)
    return min(kept, _value(lines, basket.kept))


def _weight(discount: Discount, line: Line) -> int:
    """What a unit's share is measured by: its price; in a bundle, which takes the same off each, no more than that."""
    return min(discount.amount_per_unit, line.unit_price) if discount.kind == "bundle" else line.unit_price


def unit_shares(amount: int, units: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Splits `amount` over groups of like units, `(weight, count)`, by largest remainder.

    Returns `(each, extra)` per group: every unit gets `each`, the first `extra` units of it one more. Ties go to
    earlier groups, then to earlier units. The shares sum to `amount`, unless every weight is 0: then there are none.
    """
    total = sum(weight * count for weight, count in units)
    if not total:
        return [(0, 0) for _ in units]
    each = [amount * weight // total for weight, _ in units]
    left = amount - sum(share * count for share, (_, count) in zip(each, units, strict=True))
    extra = [0] * len(units)
    for index in sorted(range(len(units)), key=lambda index: -(amount * units[index][0] % total)):
        extra[index] = min(left, units[index][1])
        left -= extra[index]
    return list(zip(each, extra, strict=True))


def _shipping(terms: Terms, basket: Basket) -> int:
    shipping = terms.shipping
    if not any(basket.kept.values()):
        return 0
    below = shipping.free_from is not None and _value(terms.lines, basket.counted) < shipping.free_from
    if shipping.waiver == "threshold" and below:
        return max(shipping.charged, shipping.standard_fee)
    return shipping.charged


def _discount_price(discount: Discount, amount: int, terms: Terms, basket: Basket) -> DiscountPrice:
    lines = _eligible(terms, discount)
    return DiscountPrice(
        code=discount.code,
        label=discount.label,
        kind=discount.kind,
        amount=amount,
        kept_goods=_value(lines, basket.kept),
        kept_quantity=_pieces(lines, basket.kept),
        counted_goods=_value(lines, basket.counted),
        counted_quantity=_pieces(lines, basket.counted),
    )
