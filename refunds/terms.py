"""What an order was sold under, and what has left it: the inputs of the money rules.

Plain values without Django and without a clock. Every amount is an integer of the currency's smallest unit. Values are
checked when they are made, so that the rules in `pricing` and `policy` never meet a fraction, a float or a gap.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from orders.money import currency_decimals

DiscountKind = Literal["fixed", "percent", "bundle"]
SettlementMode = Literal["reprice", "prorate"]
Waiver = Literal["threshold", "pickup", "promotion"]
ErrorCode = Literal["not_an_integer", "too_small", "too_large", "unknown", "more_than_left", "empty", "invalid"]


class PolicyError(ValueError):
    """An input that the rules refuse.

    `field` names the input as the API does (`quantity`, `line_item_id`, `discounts[0].percent`), `code` says what is
    wrong with it, `params` holds what a sentence about it needs (`left`, `line_item_id`, `minimum`).
    """

    def __init__(self, field: str, message: str, *, code: ErrorCode = "invalid", **params: Any) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.code = code
        self.params: Mapping[str, Any] = params


def whole_number(value: object, field: str, *, minimum: int = 0) -> int:
    """`value` if it is an int of at least `minimum`. True, 1.0 and "1" are not ints here. Raises PolicyError."""
    if type(value) is not int:
        raise PolicyError(field, f"must be a whole number, not {value!r}", code="not_an_integer", value=repr(value))
    if value < minimum:
        raise PolicyError(field, f"must be at least {minimum}, not {value}", code="too_small", minimum=minimum)
    return value


def one_of(value: object, field: str, choices: tuple[str | None, ...]) -> None:
    """Raises PolicyError unless `value` is one of `choices`."""
    if value not in choices:
        raise PolicyError(field, f"must be one of {', '.join(map(str, choices))}, not {value!r}", code="unknown")


@dataclass(frozen=True, slots=True)
class Line:
    """`quantity` units sold at `unit_price` each, before any discount."""

    line_item_id: str
    unit_price: int
    quantity: int


@dataclass(frozen=True, slots=True)
class Discount:
    """A discount as the checkout applied it.

    kind: `fixed` takes `amount` off once; `percent` takes `percent` (0 to 100) off; `bundle` takes `amount_per_unit`
    off each unit, never more than it costs. It is earned from `min_spend` (list prices) and `min_quantity` (pieces) of
    its own goods on.
    settlement: `reprice`, the kept goods earn it again or lose it; `prorate`, each unit keeps its share of it.
    lines: the line item ids it applies to, None for all.
    """

    code: str
    label: str
    kind: DiscountKind
    settlement: SettlementMode
    lines: frozenset[str] | None
    amount: int = 0
    percent: Decimal = Decimal(0)
    min_spend: int = 0
    min_quantity: int = 0
    amount_per_unit: int = 0

    def covers(self, line_item_id: str) -> bool:
        return self.lines is None or line_item_id in self.lines


@dataclass(frozen=True, slots=True)
class Shipping:
    """What delivery cost (`charged`), what it would have cost (`standard_fee`), and why it was free (`waiver`).

    Only the waiver `threshold` can be lost: below `free_from` of goods the standard fee is due.
    """

    charged: int
    standard_fee: int
    free_from: int | None
    waiver: Waiver | None


@dataclass(frozen=True, slots=True)
class Terms:
    """The order's own snapshot: everything that decides what its goods cost. Raises PolicyError naming the field."""

    currency: str
    lines: tuple[Line, ...]
    discounts: tuple[Discount, ...]
    shipping: Shipping

    def __post_init__(self) -> None:
        _check_currency(self.currency)
        _check_lines(self.lines)
        known = {line.line_item_id for line in self.lines}
        for index, discount in enumerate(self.discounts):
            _check_discount(discount, f"discounts[{index}]", known)
        _check_shipping(self.shipping)


@dataclass(frozen=True, slots=True)
class Departure:
    """`quantity` units of a line that are gone, or are asked to go.

    `shop_fault` is the caller's verdict (defective, wrong item, lost, cancelled by the shop); such goods go on counting
    towards every threshold.
    """

    line_item_id: str
    quantity: int
    shop_fault: bool


@dataclass(frozen=True, slots=True)
class Ledger:
    """What has happened to the money of an order so far.

    paid: all that was captured. refunded: given back or promised for goods, open returns included, compensation not.
    fees_taken: return fees kept so far. returns_counted: returns so far that count towards the fee.
    payments_left: what the payments together can still give back (compensation has lowered it).
    """

    paid: int
    refunded: int
    fees_taken: int
    returns_counted: int
    payments_left: int

    def __post_init__(self) -> None:
        for field in ("paid", "refunded", "fees_taken", "returns_counted", "payments_left"):
            whole_number(getattr(self, field), field)


@dataclass(frozen=True, slots=True)
class Rules:
    """The part of a refund policy that touches amounts: the fee for every return after the first counted one."""

    return_fee: int
    return_fee_enabled: bool

    def __post_init__(self) -> None:
        whole_number(self.return_fee, "return_fee")


def _check_currency(currency: str) -> None:
    try:
        currency_decimals(currency)
    except ValueError as error:
        raise PolicyError("currency", str(error).removeprefix("currency: "), code="unknown") from None


def _check_lines(lines: tuple[Line, ...]) -> None:
    seen: set[str] = set()
    for index, line in enumerate(lines):
        whole_number(line.unit_price, f"lines[{index}].unit_price")
        whole_number(line.quantity, f"lines[{index}].quantity", minimum=1)
        if line.line_item_id in seen:
            raise PolicyError(f"lines[{index}].line_item_id", f"{line.line_item_id!r} appears twice")
        seen.add(line.line_item_id)


def _check_discount(discount: Discount, field: str, known: set[str]) -> None:
    one_of(discount.kind, f"{field}.kind", ("fixed", "percent", "bundle"))
    one_of(discount.settlement, f"{field}.settlement", ("reprice", "prorate"))
    for name in ("amount", "min_spend", "min_quantity", "amount_per_unit"):
        whole_number(getattr(discount, name), f"{field}.{name}")
    _check_percent(discount.percent, f"{field}.percent")
    unknown = sorted((discount.lines or frozenset()) - known)
    if unknown:
        raise PolicyError(f"{field}.lines", f"the order has no line {', '.join(unknown)}", code="unknown")


def _check_percent(percent: object, field: str) -> None:
    if not isinstance(percent, Decimal) or not percent.is_finite():
        raise PolicyError(field, f"must be a finite Decimal, not {percent!r}")
    if percent < 0:
        raise PolicyError(field, f"must be at least 0, not {percent}", code="too_small", minimum=0)
    if percent > 100:
        raise PolicyError(field, f"must be at most 100, not {percent}", code="too_large", maximum=100)


def _check_shipping(shipping: Shipping) -> None:
    one_of(shipping.waiver, "shipping.waiver", ("threshold", "pickup", "promotion", None))
    whole_number(shipping.charged, "shipping.charged")
    whole_number(shipping.standard_fee, "shipping.standard_fee")
    if shipping.free_from is not None:
        whole_number(shipping.free_from, "shipping.free_from")
    elif shipping.waiver == "threshold":
        raise PolicyError("shipping.free_from", "must be given when shipping is free because of a threshold")
