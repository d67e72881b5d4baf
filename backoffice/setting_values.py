"""What stands in settings of more than one word. Everything here raises ValueError for what cannot be used."""

import re
from datetime import date, time
from decimal import Decimal, InvalidOperation

MICRO = 1_000_000
KINDS = ("input", "cache_write", "cache_read", "output")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_OF_EVERY_YEAR = re.compile(r"[0-9]{2}-[0-9]{2}")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
A_LEAP_YEAR = "2028"


def price_table(text: str) -> dict[str, dict[str, int]]:
    """`model=3/3.75/0.3/15 *=…`: millionths of a dollar per million tokens, by kind. The entry `*` is every other."""
    table = {}
    for entry in text.split():
        model, _, prices = entry.partition("=")
        four = [_micro(each) for each in prices.split("/")]
        if not model:
            raise ValueError(entry)
        table[model] = dict(zip(KINDS, four, strict=True))
    if "*" not in table:
        raise ValueError("no price for other models")
    return table


def _micro(dollars: str) -> int:
    try:
        amount = Decimal(dollars)
    except InvalidOperation as error:
        raise ValueError(dollars) from error
    if not amount.is_finite() or amount < 0:
        raise ValueError(dollars)
    return int(amount * MICRO)


def weekly_hours(text: str) -> list[tuple[int, time, time]]:
    """`mon-fri 09:00-18:00, sat 10:00-12:00`: (day, Monday is 0; opens; closes), in the shop's time. Empty: always."""
    spans: list[tuple[int, time, time]] = []
    for part in text.lower().split(","):
        if part.strip():
            days, hours = part.split()
            spans += _spans(days, hours)
    return spans


def _spans(days: str, hours: str) -> list[tuple[int, time, time]]:
    first, _, last = days.partition("-")
    opens, closes = (time.fromisoformat(each) for each in hours.split("-"))
    begin, end = DAYS.index(first), DAYS.index(last or first)
    if opens >= closes or begin > end:
        raise ValueError(hours)
    return [(day, opens, closes) for day in range(begin, end + 1)]


def closed_days(text: str) -> frozenset[date | tuple[int, int]]:
    """`2027-02-08, 01-01`: days, and days of every year as (month, day)."""
    return frozenset(_closed_day(part.strip()) for part in text.split(",") if part.strip())


def _closed_day(part: str) -> date | tuple[int, int]:
    if DAY.fullmatch(part):
        return date.fromisoformat(part)
    if not DAY_OF_EVERY_YEAR.fullmatch(part):
        raise ValueError(part)
    day = date.fromisoformat(f"{A_LEAP_YEAR}-{part}")
    return day.month, day.day
