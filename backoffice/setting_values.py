"""What stands in settings of more than one word. Everything here raises ValueError for what cannot be used."""

from datetime import time
from decimal import Decimal, InvalidOperation

MICRO = 1_000_000
KINDS = ("input", "cache_write", "cache_read", "output")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


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
