"""Money: an integer of the currency's smallest unit in use, beside a currency code.

One table of decimals, one rounding rule, one formatter. A New Taiwan dollar has no decimals here; gateways that count
otherwise convert at their own edge. The rules and their reasons are in docs/money.md.
"""

from decimal import Decimal
from fractions import Fraction
from typing import Final

DECIMALS: Final[dict[str, int]] = {"TWD": 0, "USD": 2, "CNY": 2, "JPY": 0, "EUR": 2, "HKD": 2}

_SYMBOLS: Final[dict[str, str]] = {"TWD": "NT$", "USD": "US$", "CNY": "CN¥", "JPY": "JP¥", "EUR": "€", "HKD": "HK$"}

MINUS: Final = "\N{MINUS SIGN}"


class UnknownCurrency(ValueError):
    """A currency code that the table of decimals does not hold."""


def currency_decimals(currency: str) -> int:
    """How many decimals the currency is counted with: 0 for TWD, 2 for USD. Raises UnknownCurrency."""
    try:
        return DECIMALS[currency]
    except KeyError:
        raise UnknownCurrency(f"currency: {currency!r} is not one of {', '.join(DECIMALS)}") from None


def round_half_up(value: Fraction | Decimal | int) -> int:
    """The nearest whole unit; a half goes away from zero, so that a refund mirrors its charge.

    The only rounding of money in this project. Floats are refused (TypeError): 0.1 is not a tenth.
    """
    if isinstance(value, bool) or not isinstance(value, Fraction | Decimal | int):
        raise TypeError(f"money is rounded from a Fraction, a Decimal or an int, not from {type(value).__name__}")
    exact = Fraction(value)
    magnitude = (2 * abs(exact.numerator) + exact.denominator) // (2 * exact.denominator)
    return -magnitude if exact < 0 else magnitude


def format_money(amount: int, currency: str) -> str:
    """`amount`, in smallest units, as people read it: NT$1,430, US$6.00, −NT$80 (with a real minus sign).

    Raises TypeError for anything but an int, UnknownCurrency for a code that is not in the table.
    """
    if type(amount) is not int:
        raise TypeError(f"an amount of money is an int, not {type(amount).__name__}")
    decimals = currency_decimals(currency)
    whole, rest = divmod(abs(amount), 10**decimals)
    digits = f"{whole:,}.{rest:0{decimals}d}" if decimals else f"{whole:,}"
    return f"{MINUS if amount < 0 else ''}{_SYMBOLS[currency]}{digits}"
