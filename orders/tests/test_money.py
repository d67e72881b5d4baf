"""Money is whole units: how they are rounded, and how people read them."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orders.money import DECIMALS, UnknownCurrency, currency_decimals, format_money, round_half_up


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (230, "TWD", "NT$230"),
        (1430, "TWD", "NT$1,430"),
        (1234567, "TWD", "NT$1,234,567"),
        (0, "TWD", "NT$0"),
        (-80, "TWD", "−NT$80"),
        (600, "USD", "US$6.00"),
        (5, "USD", "US$0.05"),
        (-123456, "USD", "−US$1,234.56"),
        (989900, "CNY", "CN¥9,899.00"),
        (9899, "JPY", "JP¥9,899"),
        (4167, "EUR", "€41.67"),
        (17925, "HKD", "HK$179.25"),
    ],
)
def test_money_as_people_read_it(amount: int, currency: str, text: str) -> None:
    assert format_money(amount, currency) == text


@pytest.mark.parametrize("amount", [1.0, "1", True, None, Decimal(1)])
def test_only_whole_units_can_be_shown(amount: Any) -> None:
    with pytest.raises(TypeError):
        format_money(amount, "TWD")


def test_a_currency_without_a_number_of_decimals_is_refused_by_name() -> None:
    with pytest.raises(UnknownCurrency, match="currency: 'XYZ'"):
        format_money(1, "XYZ")
    with pytest.raises(UnknownCurrency):
        currency_decimals("twd")


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (Decimal("0.5"), 1),
        (Decimal("1.5"), 2),
        (Decimal("2.5"), 3),
        (Decimal("2.4999999999999999999999"), 2),
        (Fraction(1, 3), 0),
        (Fraction(5, 3), 2),
        (Decimal("-0.5"), -1),
        (Fraction(-1, 3), 0),
        (7, 7),
    ],
)
def test_a_half_is_rounded_up(value: Decimal | Fraction | int, rounded: int) -> None:
    assert round_half_up(value) == rounded


@pytest.mark.parametrize("value", [0.5, "0.5", True, None])
def test_only_exact_numbers_are_rounded(value: Any) -> None:
    with pytest.raises(TypeError):
        round_half_up(value)


@given(st.fractions(min_value=-1000, max_value=1000, max_denominator=200))
def test_rounding_moves_by_half_a_unit_at_most_and_mirrors_its_sign(value: Fraction) -> None:
    assert abs(round_half_up(value) - value) <= Fraction(1, 2)
    assert round_half_up(-value) == -round_half_up(value)


@given(st.integers(-(10**12), 10**12), st.sampled_from(sorted(DECIMALS)))
def test_what_is_shown_can_be_read_back(amount: int, currency: str) -> None:
    digits = "".join(character for character in format_money(amount, currency) if character.isdigit())
    assert int(digits) == abs(amount)
    assert format_money(amount, currency).startswith("−") == (amount < 0)
