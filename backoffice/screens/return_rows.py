"""Returns as the desk sees them: what was announced, what was found of it, and the form to count it in."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.functional import Promise

from backoffice.screens.forms import whole_number
from orders.models import AuditEvent, LineItem, Order
from refunds import selectors
from refunds.models import Return, ReturnLine
from refunds.states import FoundState

COUNT: Final = "count."
STATES: Final = [(state.value, state.label) for state in FoundState]


@dataclass(frozen=True, slots=True)
class Count:
    """One box of the form: how many pieces were found in this state, as typed, written down before, or expected."""

    name: str
    state: str
    label: str | Promise
    value: str


@dataclass(frozen=True, slots=True)
class Found:
    """So many pieces were found in this state; `tone` colours its badge."""

    label: str
    quantity: int
    tone: str


@dataclass(frozen=True, slots=True)
class Goods:
    """The announced units of one line of the order. `found`: what was written down, in words; empty before that."""

    item: LineItem
    name: str
    quantity: int
    lines: list[ReturnLine]
    found: list[Found]
    counts: list[Count]

    @property
    def reasons(self) -> str:
        return " / ".join(dict.fromkeys(str(line.get_reason_display()) for line in self.lines))

    @property
    def wanted(self) -> str:
        """Exchanges: the other product that the customer wants instead; empty for the same again."""
        return " / ".join(dict.fromkeys(line.product.name for line in self.lines if line.product))


def everything() -> QuerySet[Return]:
    return _with_goods(selectors.returns())


def open_ones() -> QuerySet[Return]:
    return _with_goods(selectors.open_returns())


def of_order(order: Order) -> QuerySet[Return]:
    return _with_goods(selectors.returns_of(order))


def _with_goods(rows: QuerySet[Return]) -> QuerySet[Return]:
    rows = rows.select_related(
        "order__customer",
        "quote",
        "refund",
        "replacement__shipment",
        "replacement__order",
        "replacement__return_request",
    )
    return rows.prefetch_related("lines__product")


def goods_of(item: Return, typed: Mapping[str, str] | None) -> list[Goods]:
    """`typed`: what the receiving form says, if it was refused just now."""
    by_item: dict[int, list[ReturnLine]] = defaultdict(list)
    for line in item.lines.all():
        by_item[line.line_item_id].append(line)
    return [_goods(lines, typed) for lines in by_item.values()]


def _goods(lines: list[ReturnLine], typed: Mapping[str, str] | None) -> Goods:
    found: dict[str, int] = defaultdict(int)
    for line in lines:
        for finding in line.findings.all():
            found[finding.found] += finding.quantity
    quantity = sum(line.quantity for line in lines)
    item = lines[0].line_item
    now: Mapping[str, int] = found or {FoundState.ACCEPTED: quantity}
    return Goods(
        item=item,
        name=" / ".join(dict.fromkeys(line.name for line in lines)),
        quantity=quantity,
        lines=lines,
        found=[_found(state, label, found[state]) for state, label in STATES if found[state]],
        counts=[_count(item, state, label, now, typed) for state, label in STATES],
    )


def _found(state: str, label: str | Promise, quantity: int) -> Found:
    return Found(str(label), quantity, "good" if state == FoundState.ACCEPTED else "bad")


def steps_of(item: Return) -> QuerySet[AuditEvent]:
    """What happened to the return, the first first: by whom, and with which note."""
    return AuditEvent.objects.filter(subject_type="return", subject_id=item.pk).order_by("at", "id")


def _count(
    item: LineItem, state: str, label: str | Promise, now: Mapping[str, int], typed: Mapping[str, str] | None
) -> Count:
    name = f"{COUNT}{item.line_item_id}.{state}"
    value = str(now.get(state, 0)) if typed is None else typed.get(name, "")
    return Count(name, state, label, value)


def counted(form: QueryDict) -> dict[str, dict[str, int]] | None:
    """`count.li_1.damaged` = `1` as `{"li_1": {"damaged": 1}}`; None when the form says nothing of pieces.

    An empty box is a zero. What is no whole number counts as −1, which the service refuses by the field's name.
    """
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for name, value in form.items():
        if name.startswith(COUNT):
            line_item_id, _, state = name.removeprefix(COUNT).rpartition(".")
            count = whole_number(str(value) or "0")
            found[line_item_id][state] = count if isinstance(count, int) else -1
    return dict(found) or None
