"""The goods of an order as tick boxes, and the ticked ones as what `refunds.quotes` understands.

One box per line and action: units of a line delivered in two parcels are one row, delivered and unsent ones are two.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.http import QueryDict

from backoffice import words
from orders.models import LineItem
from refunds.eligibility import allowed_actions
from refunds.goods import UnitGroup
from refunds.states import QuoteAction, Reason

REASONS: Final[dict[str, tuple[Reason, ...]]] = {
    QuoteAction.CANCEL: (Reason.CHANGED_MIND, Reason.LATE_DELIVERY, Reason.SHOP_CANCELLED, Reason.OTHER),
    QuoteAction.RETURN: (Reason.CHANGED_MIND, Reason.DEFECTIVE, Reason.WRONG_ITEM, Reason.OTHER),
    QuoteAction.LOST: (Reason.LOST,),
}


@dataclass
class Row:
    """`key` is empty for goods nothing can be asked for; `picked`, `chosen` and `reason` are what the form says now."""

    item: LineItem
    key: str
    action: str
    available: int
    said: words.Said
    picked: bool = False
    chosen: str = ""
    reason: str = ""
    reasons: list[tuple[str, str]] = field(default_factory=list)


def rows_of(groups: Sequence[UnitGroup], form: QueryDict | None = None) -> list[Row]:
    rows: dict[str, Row] = {}
    blocked: list[Row] = []
    for group in groups:
        action = next(iter(allowed_actions(group.state)), "")
        key = f"{group.line.line_item_id}.{action}" if action else ""
        row = Row(group.line, key, action, group.quantity, words.about_units(group))
        if not action:
            blocked.append(row)
        elif key in rows:
            rows[key].available += group.quantity
        else:
            rows[key] = row
    for row in rows.values():
        _fill(row, form)
    return sorted([*rows.values(), *blocked], key=lambda row: (row.item.position, row.key == ""))


def _fill(row: Row, form: QueryDict | None) -> None:
    reasons = REASONS[row.action]
    row.reasons = [(reason.value, str(reason.label)) for reason in reasons]
    row.picked = form is not None and row.key in form.getlist("pick")
    said = form or QueryDict()
    row.chosen = said.get(f"quantity.{row.key}", str(row.available))
    row.reason = said.get(f"reason.{row.key}", reasons[0].value)


def body_of(form: QueryDict) -> dict[str, Any]:
    """The ticked rows as the body of a quote request. What is no whole number stays text, and is refused by name."""
    return {"lines": [_line(key, form) for key in form.getlist("pick")]}


def _line(key: str, form: QueryDict) -> dict[str, Any]:
    line_item_id, _, action = key.partition(".")
    quantity = form.get(f"quantity.{key}", "").strip()
    return {
        "line_item_id": line_item_id,
        "quantity": int(quantity) if quantity.isascii() and quantity.isdigit() and len(quantity) < 10 else quantity,
        "reason": form.get(f"reason.{key}", ""),
        "action": action,
    }
