"""Tables as CSV that a spreadsheet opens as they are: in UTF-8 with its mark, and nothing in them is ever run."""

import csv
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from io import StringIO
from typing import Final

from django.utils import timezone

from orders.money import currency_decimals

# Excel takes a file without it for the machine's own old encoding.
MARK: Final = "\ufeff"
# A cell that begins with one of these is a formula to a spreadsheet, whoever wrote it: a customer's name, for one. In
# Chinese and Japanese settings the wide signs are read like the narrow ones.
BEGINS_A_FORMULA: Final = (*"=+-@＝＋－＠", "\t", "\r", "\n")
SPACES: Final = " \u00a0\u3000"
Cell = str | int | bool | date | None


def text_of(rows: Iterable[Sequence[Cell]]) -> str:
    """The rows as lines of CSV. A moment is written in the shop's zone; texts that a spreadsheet would run are marked
    as texts by an apostrophe. Numbers stay numbers, negative ones too."""
    lines = StringIO()
    csv.writer(lines).writerows([_written(cell) for cell in row] for row in rows)
    return lines.getvalue()


def _written(cell: Cell) -> str | int:
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return f"{timezone.localtime(cell):%Y-%m-%d %H:%M:%S}"
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    text = str(cell).replace("\x00", "")
    # Spreadsheets look past spaces before the sign.
    return f"'{text}" if text.lstrip(SPACES).startswith(BEGINS_A_FORMULA) else text


def plain_amount(amount: int, currency: str) -> str | int:
    """An amount in whole units of its currency, without a sign of it: 230, or 12.50."""
    decimals = currency_decimals(currency)
    if not decimals:
        return amount
    whole, rest = divmod(abs(amount), 10**decimals)
    return f"{'-' if amount < 0 else ''}{whole}.{rest:0{decimals}d}"
