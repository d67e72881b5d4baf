"""What may be asked for, per unit: where the goods are decides between cancelling, returning and refunding as lost.

Pure: the moment of asking, the shop's time zone and the policy's day counts are handed in. Refusals are codes; their
wording is in `refunds/unit_errors.py`. The rule is in docs/money.md, section "What may be asked for".
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from typing import Any, Final, Literal

from refunds.terms import PolicyError, whole_number

UnitState = Literal[
    "unfulfilled",
    "packed",
    "shipped",
    "lost",
    "delivered",
    "window_over",
    "returning",
    "exchanging",
    "resending",
    "cancelled",
    "refunded",
]
Action = Literal["cancel", "lost", "return", "exchange", "resend"]
RefusalCode = Literal[
    "line_in_fulfilment",
    "line_in_transit",
    "return_window_over",
    "already_cancelled",
    "already_refunded",
    "already_returning",
    "already_exchanging",
    "already_resending",
    "mixed_actions",
    "ambiguous_action",
]

# The first action of a state is the one that a quote takes by itself; the others have to be asked for by name.
ALLOWED: Final[Mapping[UnitState, tuple[Action, ...]]] = {
    "unfulfilled": ("cancel",),
    "lost": ("lost", "resend"),
    "delivered": ("return", "exchange"),
}

# In this order: of several reasons, the one that the customer can do something about is told first.
REFUSED: Final[Mapping[UnitState, RefusalCode]] = {
    "packed": "line_in_fulfilment",
    "shipped": "line_in_transit",
    "window_over": "return_window_over",
    "returning": "already_returning",
    "exchanging": "already_exchanging",
    "resending": "already_resending",
    "cancelled": "already_cancelled",
    "refunded": "already_refunded",
}

# A mixed selection is quoted one action at a time, in this order: what needs no return travels first.
QUOTE_ORDER: Final[tuple[Action, ...]] = ("cancel", "lost", "return")

Units = Mapping[str, Mapping[UnitState, int]]


@dataclass(frozen=True, slots=True)
class Ask:
    """One asked line. `action` is needed only where its units allow several."""

    line_item_id: str
    quantity: int
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """One action that all asked goods allow, and the state of the units it takes."""

    action: Action
    state: UnitState


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why the rules say no.

    params, all JSON values: `available` (units that would be possible) and `blocked` ({state: units} in the way);
    `options` ({action: units}) for ambiguous_action; `split` for mixed_actions, in the order in which to quote:
    [{action, lines: [{line_item_id, quantity}]}].
    """

    code: RefusalCode
    line_item_id: str | None
    params: Mapping[str, Any] = field(default_factory=dict)


def local_day(moment: datetime, zone: tzinfo) -> date:
    """The calendar day of `moment` in the shop's zone. A moment without a zone is refused (ValueError)."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} names no time zone")
    return moment.astimezone(zone).date()


def last_return_day(delivered_at: datetime, *, zone: tzinfo, return_window_days: int) -> date:
    """The last calendar day on which a return may be asked for: the day of receipt itself does not count."""
    return local_day(delivered_at, zone) + timedelta(days=return_window_days)


def lost_on(shipped_at: datetime, *, zone: tzinfo, lost_after_days: int) -> date:
    """The first calendar day on which goods that have not arrived are taken for lost."""
    return local_day(shipped_at, zone) + timedelta(days=lost_after_days)


def shipped_state(
    *,
    shipped_at: datetime | None,
    delivered_at: datetime | None,
    now: datetime,
    zone: tzinfo,
    lost_after_days: int,
    return_window_days: int,
    marked_lost: bool,
) -> UnitState:
    """Where the goods of one shipment are: packed, shipped, lost, delivered or window_over.

    Calendar days in the shop's zone. Goods that arrived after all were not lost: the day of receipt wins over the mark.
    """
    today = local_day(now, zone)
    if delivered_at is not None:
        last_day = last_return_day(delivered_at, zone=zone, return_window_days=return_window_days)
        return "delivered" if today <= last_day else "window_over"
    if marked_lost:
        return "lost"
    if shipped_at is None:
        return "packed"
    return "lost" if today >= lost_on(shipped_at, zone=zone, lost_after_days=lost_after_days) else "shipped"


def allowed_actions(state: UnitState) -> tuple[Action, ...]:
    """What may be asked for a unit in this state, the usual one first; () if nothing."""
    return ALLOWED.get(state, ())


def refusal_code(state: UnitState) -> RefusalCode | None:
    """Why nothing may be asked for a unit in this state; None if something may."""
    return REFUSED.get(state)


def choose_action(*, asked: Sequence[Ask], units: Units) -> Selection | Obstacle:
    """The one action that fits all asked goods, or why there is none.

    units: how many units of each line are in which state, every unit of the order once. The same line may be asked for
    twice (two reasons). Raises PolicyError, naming the field, for what is no proper question: an unknown line, a
    quantity that is not a positive whole number or exceeds the line, an action that its goods never allow.
    """
    if not asked:
        raise PolicyError("lines", "names no goods", code="empty")
    left = {line: Counter(states) for line, states in units.items()}
    taken: dict[Action, list[Ask]] = {}
    for ask in asked:
        chosen = _choose_for_line(ask, _units_of(ask, left))
        if isinstance(chosen, Obstacle):
            return chosen
        left[ask.line_item_id][_state_for(chosen)] -= ask.quantity
        taken.setdefault(chosen, []).append(ask)
    if len(taken) > 1:
        return Obstacle("mixed_actions", None, {"split": _split(taken)})
    (action,) = taken
    return Selection(action, _state_for(action))


def _units_of(ask: Ask, left: Mapping[str, Counter[UnitState]]) -> Counter[UnitState]:
    if ask.line_item_id not in left:
        message = f"the order has no line {ask.line_item_id!r}"
        raise PolicyError("line_item_id", message, code="unknown", line_item_id=ask.line_item_id)
    units = left[ask.line_item_id]
    total = units.total()
    if whole_number(ask.quantity, "quantity", minimum=1) > total:
        message = f"{ask.quantity} of line {ask.line_item_id} is more than the {total} that are left"
        raise PolicyError("quantity", message, code="more_than_left", line_item_id=ask.line_item_id, left=total)
    return units


def _choose_for_line(ask: Ask, units: Counter[UnitState]) -> Action | Obstacle:
    options = {ALLOWED[state][0]: units[state] for state in ALLOWED if units[state]}
    action = ask.action
    if action is None:
        if not options:
            return _blocked(ask, units, available=0)
        if len(options) > 1:
            return _several(ask, options)
        (action,) = options
    available = units[_state_for(action)]
    if available < ask.quantity:
        return _too_few(ask, action, units, available)
    return action


def _several(ask: Ask, options: Mapping[Action, int]) -> Obstacle:
    """More than one action is possible: say which; and if no single one covers the quantity, how to split it."""
    if ask.quantity <= max(options.values()):
        return Obstacle("ambiguous_action", ask.line_item_id, {"options": dict(options)})
    split, wanted = [], ask.quantity
    for action in QUOTE_ORDER:
        quantity = min(options.get(action, 0), wanted)
        if quantity:
            lines = [{"line_item_id": ask.line_item_id, "quantity": quantity}]
            split.append({"action": action, "lines": lines})
            wanted -= quantity
    return Obstacle("mixed_actions", ask.line_item_id, {"split": split})


def _too_few(ask: Ask, action: Action, units: Counter[UnitState], available: int) -> Obstacle:
    if any(units[state] for state in REFUSED):
        return _blocked(ask, units, available=available)
    options = [option for state in ALLOWED if units[state] for option in ALLOWED[state]]
    message = f"{ask.quantity} of line {ask.line_item_id} cannot take the action {action!r}, {available} can"
    raise PolicyError("action", message, line_item_id=ask.line_item_id, available=available, options=options)


def _blocked(ask: Ask, units: Counter[UnitState], *, available: int) -> Obstacle:
    blocked = {state: units[state] for state in REFUSED if units[state]}
    code = REFUSED[next(iter(blocked))]
    return Obstacle(code, ask.line_item_id, {"available": available, "blocked": blocked})


def _state_for(action: Action) -> UnitState:
    for state, actions in ALLOWED.items():
        if action in actions:
            return state
    known = ", ".join(action for actions in ALLOWED.values() for action in actions)
    raise PolicyError("action", f"must be one of {known}, not {action!r}", code="unknown")


def _split(taken: Mapping[Action, Sequence[Ask]]) -> list[dict[str, Any]]:
    order = sorted(taken, key=lambda action: QUOTE_ORDER.index(action) if action in QUOTE_ORDER else len(QUOTE_ORDER))
    return [
        {
            "action": action,
            "lines": [{"line_item_id": ask.line_item_id, "quantity": ask.quantity} for ask in taken[action]],
        }
        for action in order
    ]
