"""The goods of an order as tick boxes, and the ticked ones as what the services understand.

One box per line and action: units of a line delivered in two parcels are one row, delivered and unsent ones are two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.http import QueryDict
from django.utils.translation import gettext as _

from backoffice import words
from backoffice.screens.forms import whole_number
from orders.errors import InvalidInput, Refusal
from orders.models import LineItem, Order
from refunds.eligibility import allowed_actions
from refunds.goods import UnitGroup
from refunds.history import policy_for
from refunds.models import RefundPolicy
from refunds.states import QuoteAction, Reason

# The usual first: it is what a row says before anybody has chosen.
REASONS: Final[dict[str, tuple[Reason, ...]]] = {
    QuoteAction.CANCEL: (Reason.CHANGED_MIND, Reason.LATE_DELIVERY, Reason.SHOP_CANCELLED, Reason.OTHER),
    QuoteAction.RETURN: (Reason.CHANGED_MIND, Reason.DEFECTIVE, Reason.WRONG_ITEM, Reason.OTHER),
    QuoteAction.LOST: (Reason.LOST,),
    "exchange": (Reason.DEFECTIVE, Reason.WRONG_ITEM, Reason.CHANGED_MIND, Reason.OTHER),
    "resend": (Reason.LOST,),
    "elsewhere": (Reason.CHANGED_MIND, Reason.DEFECTIVE, Reason.WRONG_ITEM, Reason.SHOP_CANCELLED, Reason.OTHER),
}


@dataclass
class Row:
    """`key` is empty for goods nothing can be asked for; `picked`, `chosen` and `reason` are what the form says now."""

    item: LineItem
    name: str
    key: str
    action: str
    available: int
    said: words.Said
    picked: bool = False
    chosen: str = ""
    reason: str = ""
    reasons: list[tuple[str, str]] = field(default_factory=list)


def rows_of(groups: Sequence[UnitGroup], form: QueryDict | None = None) -> list[Row]:
    """Every unit of the order: with a box where a refund can be asked for, without one where it cannot."""
    return _rows(groups, lambda group: next(iter(allowed_actions(group.state)), ""), form)


def rows_for(
    action: str, groups: Sequence[UnitGroup], form: QueryDict | None, *, fits: Callable[[UnitGroup], bool]
) -> list[Row]:
    """Only the units that this action is for, each with a box."""
    return _rows([group for group in groups if fits(group)], lambda _group: action, form)


def may_be_exchanged(group: UnitGroup) -> bool:
    return group.state == "delivered"


def is_lost(group: UnitGroup) -> bool:
    return group.state == "lost"


def rules_of(order: Order) -> RefundPolicy | None:
    """The order's policy, None if there is none in its currency: the services say so when they are asked."""
    try:
        return policy_for(order)
    except Refusal:
        return None


def could_be_an_exception(group: UnitGroup, rules: RefundPolicy | None) -> bool:
    """Units whose refusal a second person may set aside: too late, or of a kind that is not taken back."""
    excluded = rules is not None and rules.excludes(group.category)
    return group.state == "window_over" or (group.state == "delivered" and excluded)


def _rows(groups: Sequence[UnitGroup], action_of: Callable[[UnitGroup], str], form: QueryDict | None) -> list[Row]:
    rows: dict[str, Row] = {}
    blocked: list[Row] = []
    for group in groups:
        action = action_of(group)
        key = f"{group.line.line_item_id}.{action}" if action else ""
        row = Row(group.line, group.product_name, key, action, group.quantity, words.about_units(group))
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
    """The ticked rows as the body of a quote request. Raises InvalidInput where a row says no number of pieces."""
    return {"lines": [{**line_of(key, form), "action": key.partition(".")[2]} for key in form.getlist("pick")]}


def picked(form: QueryDict) -> list[str]:
    """The keys of the ticked rows. Raises InvalidInput if there are none."""
    keys = [key for key in form.getlist("pick") if key]
    if not keys:
        raise InvalidInput("pick", _("No goods are ticked."), hint=_("Tick the goods that this is about."))
    return keys


def line_of(key: str, form: QueryDict) -> dict[str, Any]:
    """One ticked row: line, pieces and reason. Raises InvalidInput for unknown rows and pieces that are no number."""
    if f"quantity.{key}" not in form:
        raise InvalidInput(
            "pick", _("These goods are not among those of the form."), hint=_("Reload the page and choose again.")
        )
    quantity = whole_number(form.get(f"quantity.{key}", ""))
    if isinstance(quantity, str):
        raise InvalidInput(f"quantity.{key}", _("Write how many pieces, as a whole number like 1."))
    return {
        "line_item_id": key.partition(".")[0],
        "quantity": quantity,
        "reason": form.get(f"reason.{key}", ""),
    }
