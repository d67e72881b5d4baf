"""Where every unit of an order stands, and what may still be asked for it: `unit_groups(order, now=...)`.

The states are those of `refunds/eligibility.py`. The counters are moved by `orders/goods.py`; here they are only read
and put beside the refunds and returns that moved them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime

from django.utils import timezone

from orders.errors import Refusal
from orders.models import LineItem, Order, Shipment, ShipmentLine
from orders.states import ShipmentState
from refunds.eligibility import UnitState, last_return_day, shipped_state
from refunds.history import policy_for
from refunds.models import QuoteLine, RefundPolicy, ReplacementLine, ReturnLine
from refunds.refund_days import made_at
from refunds.states import OPEN_RETURNS, RELEASED, ReplacementKind, ReplacementState, ReturnKind


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """`quantity` units of a line in one state. `since` is when they came into it.

    `until`: the last day on which a return may be asked for. `refund_id`, `return_id`, `replacement_id`: what took the
    units; `refund_state`: how that refund stands. Units that were replaced stand in the parcel of their replacement,
    and nowhere else. `rules`: the policy that `until` comes from.
    """

    line: LineItem
    state: UnitState
    quantity: int
    shipment: Shipment | None = None
    shipment_line: ShipmentLine | None = None
    since: datetime | None = None
    until: date | None = None
    refund_id: str | None = None
    return_id: str | None = None
    replacement_id: str | None = None
    refund_state: str | None = None
    rules: RefundPolicy | None = field(default=None, compare=False, repr=False)

    @property
    def product_name(self) -> str:
        """What is really there: a replacement may be another product than the line's."""
        return self.shipment_line.name if self.shipment_line else self.line.name

    @property
    def category(self) -> str:
        """Of what is really there."""
        return self.shipment_line.category if self.shipment_line else self.line.category


@dataclass(frozen=True, slots=True)
class _Taken:
    """Units that a refund, a return or a replacement took."""

    quantity: int
    since: datetime
    refund_id: str | None = None
    return_id: str | None = None
    replacement_id: str | None = None
    refund_state: str | None = None


# By state, line and parcel (None for units that were never packed).
_TakenBy = dict[tuple[UnitState, int, int | None], list[_Taken]]


def unit_groups(order: Order, *, now: datetime) -> list[UnitGroup]:
    """Every unit of the order exactly once, by line. The number of queries does not grow with the order.

    `now` decides what has been on its way for too long and whose return window is over.
    """
    policy = _policy_or_usual(order)
    taken = _taken_units(order)
    parcels: dict[int, list[ShipmentLine]] = defaultdict(list)
    for shipment in order.shipments.prefetch_related("lines__product"):
        for shipment_line in shipment.lines.all():
            parcels[shipment_line.line_item_id].append(shipment_line)
    groups: list[UnitGroup] = []
    for line in order.lines.all():
        groups += _unpacked(line, taken)
        for shipment_line in parcels[line.pk]:
            shipment_line.line_item = line
            groups += _in_parcel(line, shipment_line, policy, now, taken)
    return groups


def names_of(groups: Iterable[UnitGroup]) -> dict[str, str]:
    """line_item_id to the name of what is there; where a replacement is another product, to both."""
    names: dict[str, list[str]] = defaultdict(list)
    for group in groups:
        if group.product_name not in names[group.line.line_item_id]:
            names[group.line.line_item_id].append(group.product_name)
    return {line_item_id: " / ".join(found) for line_item_id, found in names.items()}


def _policy_or_usual(order: Order) -> RefundPolicy:
    """The usual day counts show an order that has no policy. A quote for it is refused elsewhere."""
    try:
        return policy_for(order)
    except Refusal:
        return RefundPolicy()


def _taken_units(order: Order) -> _TakenBy:
    taken: _TakenBy = defaultdict(list)
    quoted = QuoteLine.objects.filter(quote__refund__order=order).exclude(quote__refund__state__in=RELEASED)
    for line in quoted.select_related("quote__refund").order_by("pk"):
        state: UnitState = "cancelled" if line.shipment_line_id is None else "refunded"
        refund = line.quote.refund
        record = _Taken(line.quantity, since=made_at(refund), refund_id=refund.pk, refund_state=refund.state)
        taken[state, line.line_item_id, line.shipment_line_id].append(record)
    coming_back = ReturnLine.objects.filter(
        return_request__order=order,
        return_request__kind=ReturnKind.REFUND,
        return_request__state__in=OPEN_RETURNS,
        return_request__refund=None,
    )
    for item in coming_back.select_related("return_request").order_by("pk"):
        request = item.return_request
        record = _Taken(item.quantity, since=request.created_at, return_id=request.pk)
        taken["returning", item.line_item_id, item.shipment_line_id].append(record)
    _add_replaced(order, taken)
    return taken


def _add_replaced(order: Order, taken: _TakenBy) -> None:
    """Units that wait for their replacement: of an exchange only those that it still means, not all announced ones."""
    waiting = ReplacementLine.objects.filter(replacement__order=order, replacement__state=ReplacementState.RESERVED)
    for item in waiting.select_related("replacement").order_by("pk"):
        made = item.replacement
        held: UnitState = "exchanging" if made.kind == ReplacementKind.EXCHANGE else "resending"
        record = _Taken(item.quantity, since=made.created_at, return_id=made.return_request_id, replacement_id=made.pk)
        taken[held, item.line_item_id, item.shipment_line_id].append(record)


def _unpacked(line: LineItem, taken: _TakenBy) -> Iterator[UnitGroup]:
    if line.unfulfilled_quantity:
        yield UnitGroup(line=line, state="unfulfilled", quantity=line.unfulfilled_quantity)
    yield from _gone(line, None, "cancelled", line.cancelled_quantity, taken)


def _in_parcel(
    line: LineItem, shipment_line: ShipmentLine, policy: RefundPolicy, now: datetime, taken: _TakenBy
) -> Iterator[UnitGroup]:
    if shipment_line.untouched_quantity:
        yield _travelling(line, shipment_line, policy, now)
    yield from _gone(line, shipment_line, "returning", shipment_line.returning_quantity, taken)
    yield from _gone(line, shipment_line, "exchanging", shipment_line.exchanging_quantity, taken)
    yield from _gone(line, shipment_line, "resending", shipment_line.resending_quantity, taken)
    yield from _gone(line, shipment_line, "refunded", shipment_line.refunded_quantity, taken)


def _travelling(line: LineItem, shipment_line: ShipmentLine, policy: RefundPolicy, now: datetime) -> UnitGroup:
    """Units that nobody has asked about: where they are follows from their parcel and the calendar."""
    shipment, zone = shipment_line.shipment, timezone.get_default_timezone()
    state = shipped_state(
        shipped_at=shipment.shipped_at,
        delivered_at=shipment.delivered_at,
        now=now,
        zone=zone,
        lost_after_days=policy.lost_after_days,
        return_window_days=policy.return_window_days,
        marked_lost=shipment.state == ShipmentState.LOST,
    )
    until = None
    if shipment.delivered_at is not None:
        until = last_return_day(shipment.delivered_at, zone=zone, return_window_days=policy.return_window_days)
    return UnitGroup(
        line=line,
        state=state,
        quantity=shipment_line.untouched_quantity,
        shipment=shipment,
        shipment_line=shipment_line,
        since=shipment.delivered_at or shipment.shipped_at or shipment.packed_at,
        until=until,
        rules=policy,
    )


def _gone(
    line: LineItem, shipment_line: ShipmentLine | None, state: UnitState, quantity: int, taken: _TakenBy
) -> Iterator[UnitGroup]:
    """`quantity` units in `state`, one group per refund or return that took them, one for what nothing explains."""
    shipment = shipment_line.shipment if shipment_line else None
    for record in taken.get((state, line.pk, shipment_line.pk if shipment_line else None), ()):
        quantity -= record.quantity
        yield UnitGroup(
            line=line,
            state=state,
            quantity=record.quantity,
            shipment=shipment,
            shipment_line=shipment_line,
            since=record.since,
            refund_id=record.refund_id,
            return_id=record.return_id,
            replacement_id=record.replacement_id,
            refund_state=record.refund_state,
        )
    if quantity > 0:
        yield UnitGroup(line=line, state=state, quantity=quantity, shipment=shipment, shipment_line=shipment_line)
