"""Which units a refund that was made elsewhere was for. What the rules allow is no question here: it has happened."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.utils import timezone

from orders.models import Order
from refunds import errors, unit_errors
from refunds.eligibility import REFUSED, Action, Obstacle, UnitState
from refunds.goods import UnitGroup, unit_groups
from refunds.history import policy_for
from refunds.models import RefundPolicy
from refunds.selection import Picked, is_shop_fault
from refunds.states import QuoteAction, Reason

# Where units can have been, and as what they leave; those first that the customer does not have. Packed units have to
# leave the house or be unpacked first, and what is being returned or replaced has its own way to end.
LEAVES_AS: Final[dict[UnitState, Action]] = {
    "unfulfilled": "cancel",
    "lost": "lost",
    "delivered": "return",
    "window_over": "return",
    "shipped": "return",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Units of a line, and why they left."""

    line_item_id: str
    quantity: int
    reason: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def pick(order: Order, asked: Sequence[Asked]) -> list[Picked]:
    """The units, in the order of `LEAVES_AS` and of their parcels. With the order locked.

    Raises InvalidInput for a line or a quantity that the order does not have, and a Refusal for units that are
    refunded already or held by something else.
    """
    rules = policy_for(order)
    groups = unit_groups(order, now=timezone.now())
    left = {id(group): group.quantity for group in groups if group.state in LEAVES_AS}
    picked: list[Picked] = []
    for index, line in enumerate(asked):
        _check(order, groups, left, line, index)
        picked += _take(groups, left, line, rules)
    return picked


def action_of(picked: Sequence[Picked]) -> QuoteAction:
    """The one word for what became of all of them: units of several kinds are told as returned."""
    kinds = {LEAVES_AS[item.state] for item in picked if item.state}
    return QuoteAction(kinds.pop()) if len(kinds) == 1 else QuoteAction.RETURN


def _check(order: Order, groups: Sequence[UnitGroup], left: dict[int, int], asked: Asked, index: int) -> None:
    of_line = [group for group in groups if group.line.line_item_id == asked.line_item_id]
    if not of_line:
        raise errors.no_such_line(asked.line_item_id, f"lines[{index}].line_item_id")
    available = sum(left.get(id(group), 0) for group in of_line)
    if available >= asked.quantity:
        return
    in_the_way = [state for state in REFUSED if state not in LEAVES_AS and any(g.state == state for g in of_line)]
    if not in_the_way or asked.quantity > of_line[0].line.quantity:
        raise errors.more_than_ordered(of_line[0].line.name, available, f"lines[{index}].quantity")
    raise unit_errors.refused(
        order, groups, Obstacle(REFUSED[in_the_way[0]], asked.line_item_id, {"available": available})
    )


def _take(groups: Sequence[UnitGroup], left: dict[int, int], asked: Asked, rules: RefundPolicy) -> Iterator[Picked]:
    wanted = asked.quantity
    for state, action in LEAVES_AS.items():
        for group in groups:
            fits = group.state == state and group.line.line_item_id == asked.line_item_id
            taken = min(wanted, left[id(group)]) if fits else 0
            if not taken:
                continue
            wanted -= taken
            left[id(group)] -= taken
            reason = Reason.LOST if state == "lost" else Reason(asked.reason)
            fault = is_shop_fault(reason, action, rules)
            yield Picked(group.line, group.shipment_line, taken, reason, fault, state)
