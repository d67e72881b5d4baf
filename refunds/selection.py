"""Which units a request means: every chosen line becomes units of one state, the oldest first.

What may be asked for is decided by `refunds/eligibility.py`; which reason is the shop's fault, by the policy.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from orders.errors import InvalidInput
from orders.models import LineItem, Order, ShipmentLine
from refunds import eligibility, errors, unit_errors
from refunds.choices import LineChoice
from refunds.eligibility import Action, Ask, Selection, UnitState
from refunds.goods import UnitGroup, names_of
from refunds.models import RefundPolicy
from refunds.policy import Departure, PolicyError
from refunds.states import ONLY_STAFF_SAY, QuoteAction, Reason

# What a customer can claim of goods that they have in their hands; provisional until the goods are received.
CLAIMS = frozenset({Reason.DEFECTIVE, Reason.WRONG_ITEM})
# Actions of goods that never arrived.
_OF_LOST: Final[frozenset[Action]] = frozenset({"lost", "resend"})


@dataclass(frozen=True, slots=True)
class Picked:
    """Units that leave. `state` is where they are, None when they are no longer where a quote had found them."""

    line: LineItem
    shipment_line: ShipmentLine | None
    quantity: int
    reason: str
    shop_fault: bool
    state: UnitState | None

    def as_departure(self) -> Departure:
        return Departure(self.line.line_item_id, self.quantity, self.shop_fault)


def select(
    *,
    order: Order,
    groups: Sequence[UnitGroup],
    choices: Sequence[LineChoice],
    policy: RefundPolicy,
    by_staff: bool,
    only: Action | None = None,
) -> tuple[Action, list[Picked]]:
    """The one action that fits all choices, and the units it takes. Raises InvalidInput or a refusal in words.

    `only`: what the caller's request is for, which then names no action: its refusals speak of goods and quantities.
    """
    choices = [replace(choice, action=only) for choice in choices] if only else choices
    lines, names = {group.line.line_item_id: group.line for group in groups}, names_of(groups)
    for index, choice in enumerate(choices):
        if choice.line_item_id not in lines:
            raise errors.no_such_line(choice.line_item_id, f"lines[{index}].line_item_id")
    asked = [_ask(choice, groups, policy) for choice in choices]
    selection = _choose(order, asked, groups, names, only)
    for index, choice in enumerate(choices):
        _check_reason(choice, selection.action, names[choice.line_item_id], f"lines[{index}].reason", by_staff)
    return selection.action, _pick(asked, choices, groups, selection, policy)


def _ask(choice: LineChoice, groups: Sequence[UnitGroup], policy: RefundPolicy) -> Ask:
    quantity = choice.quantity
    if quantity is None:
        quantity = max(_askable(choice, groups, policy), 1)
    return Ask(choice.line_item_id, quantity, choice.action)  # type: ignore[arg-type]


def _askable(choice: LineChoice, groups: Sequence[UnitGroup], policy: RefundPolicy) -> int:
    """How many units of the line can take the chosen action, or any action where none is chosen."""
    return sum(
        group.quantity
        for group in groups
        if group.line.line_item_id == choice.line_item_id
        and eligibility.allowed_actions(group.state)
        and (choice.action is None or choice.action in eligibility.allowed_actions(group.state))
        and not _stays(group, choice, policy)
    )


def _stays(group: UnitGroup, choice: LineChoice, policy: RefundPolicy) -> bool:
    """Whether these units would have to come back, and do not for this reason."""
    return group.state == "delivered" and is_kept_back(group.category, choice.reason, policy)


def _choose(
    order: Order, asked: Sequence[Ask], groups: Sequence[UnitGroup], names: Mapping[str, str], only: Action | None
) -> Selection:
    units: dict[str, Counter[UnitState]] = defaultdict(Counter)
    for group in groups:
        units[group.line.line_item_id][group.state] += group.quantity
    try:
        chosen = eligibility.choose_action(asked=asked, units=units)
    except PolicyError as error:
        raise _in_words(error, asked, names, only) from error
    if isinstance(chosen, eligibility.Obstacle):
        raise unit_errors.refused(order, groups, chosen, field=_field_of(chosen, asked) if only else "")
    return chosen


def _field_of(obstacle: eligibility.Obstacle, asked: Sequence[Ask]) -> str:
    """The entry that it is about: the last one of its line, as for what is no proper question."""
    index = max((i for i, ask in enumerate(asked) if ask.line_item_id == obstacle.line_item_id), default=0)
    return f"lines[{index}].{'quantity' if obstacle.params.get('available') else 'line_item_id'}"


def _in_words(error: PolicyError, asked: Sequence[Ask], names: Mapping[str, str], only: Action | None) -> InvalidInput:
    line_item_id = error.params.get("line_item_id", "")
    # The last entry of that line is the one that asks too much: the rules go through the entries in order.
    named = [index for index, ask in enumerate(asked) if ask.line_item_id == line_item_id]
    index = max(named, default=0)
    field = f"lines[{index}].{error.field}"
    name = names.get(line_item_id, "")
    if error.code == "more_than_left" and len(named) > 1:
        return errors.named_twice(name, field)
    if error.code == "more_than_left":
        return errors.more_than_ordered(name, error.params["left"], field)
    if error.field == "action" and only:
        available, options = error.params.get("available", 0), error.params.get("options", ())
        field = f"lines[{index}].{'quantity' if available else 'line_item_id'}"
        return unit_errors.not_possible(name, only, available, options, field)
    if error.field == "action":
        options = [option for option in error.params.get("options", ()) if option in QuoteAction.values]
        return errors.action_does_not_fit(name, str(asked[index].action), field, options)
    return InvalidInput(field, error.message)


def _check_reason(choice: LineChoice, action: Action, name: str, field: str, by_staff: bool) -> None:
    """*Lost* follows from shipments and not from words; that the shop cancelled is staff's to say."""
    if choice.reason in ONLY_STAFF_SAY and not (by_staff and action == "cancel"):
        raise errors.reason_is_the_shops(field)
    if choice.reason == Reason.LOST and action not in _OF_LOST:
        raise errors.reason_is_not_lost(name, field)


def _pick(
    asked: Sequence[Ask],
    choices: Sequence[LineChoice],
    groups: Sequence[UnitGroup],
    selection: Selection,
    policy: RefundPolicy,
) -> list[Picked]:
    """Units of the selected state, entry by entry as asked: the earliest parcel first, so that the same question always
    means the same units.

    What does not come back for the reason is taken last, and refused: after an exchange a line's units differ. So the
    entries for such a reason are served first, whatever their place: the others can take what those cannot.
    """
    there = sorted((group for group in groups if group.state == selection.state), key=_age)
    left = {id(group): group.quantity for group in there}
    taken: dict[int, list[Picked]] = {}
    for index in sorted(range(len(asked)), key=lambda index: is_shop_fault(choices[index].reason, "return", policy)):
        of_line = [group for group in there if group.line.line_item_id == asked[index].line_item_id]
        taken[index] = list(_take(asked[index].quantity, choices[index], of_line, left, selection.action, policy))
    return [picked for index in range(len(asked)) for picked in taken[index]]


def _take(
    wanted: int,
    choice: LineChoice,
    of_line: Sequence[UnitGroup],
    left: dict[int, int],
    action: Action,
    policy: RefundPolicy,
) -> Iterator[Picked]:
    """So many units of one line, taken off what is `left` of each group."""
    reason = Reason.LOST if action in _OF_LOST else Reason(choice.reason)
    fault = is_shop_fault(reason, action, policy)
    for group in sorted(of_line, key=partial(_stays, choice=choice, policy=policy)):
        taken = min(wanted, left[id(group)])
        if not taken:
            continue
        if _stays(group, choice, policy):
            raise unit_errors.excluded(group, claims_of(policy))
        wanted -= taken
        left[id(group)] -= taken
        yield Picked(group.line, group.shipment_line, taken, reason, fault, group.state)


def _age(group: UnitGroup) -> tuple[float, int]:
    since = group.since.timestamp() if group.since else 0
    return since, group.shipment_line.pk if group.shipment_line else 0


def is_kept_back(category: str, reason: str, policy: RefundPolicy) -> bool:
    """Whether goods that were delivered stay with the customer: excluded categories, but for the shop's fault."""
    return policy.excludes(category) and not is_shop_fault(reason, "return", policy)


def claims_of(policy: RefundPolicy) -> list[str]:
    """What a customer can say of goods that is the shop's fault by this policy."""
    return [reason for reason in Reason.values if reason in CLAIMS and reason in policy.shop_fault_reasons]


def is_shop_fault(reason: str, action: Action, policy: RefundPolicy) -> bool:
    """Whether goods that leave for `reason` go on counting towards thresholds (docs/money.md).

    Lost goods always do. A claim counts only of goods that come back, where it can be looked at; a cancellation is the
    shop's fault only where staff say that the shop cancelled.
    """
    if action in _OF_LOST:
        return True
    sayable = CLAIMS if action == "return" else ONLY_STAFF_SAY
    return reason in sayable and reason in policy.shop_fault_reasons
