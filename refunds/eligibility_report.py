"""What may be asked for every unit of an order, and why not the rest: the rules told before anybody asks."""

from datetime import datetime
from typing import Any

from orders.models import Order
from refunds import unit_errors
from refunds.eligibility import allowed_actions
from refunds.goods import UnitGroup, unit_groups
from refunds.history import policy_for
from refunds.models import RefundPolicy
from refunds.selection import claims_of


def what_may_be_asked(order: Order, now: datetime, *, by_staff: bool = False) -> list[dict[str, Any]]:
    """Each line with its units by state, in the order of the lines.

    `[{line_item_id, name, quantity, units: [{state, name, quantity, can, only_for, until, refusal}]}]`. `can` are
    actions; `only_for` the reasons that they need, empty: any; `until` the last day on which a return may be asked for,
    ISO; `refusal` is {code, message, hint}, or null where anything may be asked. `by_staff`: they read it. Raises the
    refusal `no_policy`.
    """
    rules = policy_for(order)
    lines: dict[str, dict[str, Any]] = {}
    for group in unit_groups(order, now=now):
        line = group.line
        told = {"line_item_id": line.line_item_id, "name": line.name, "quantity": line.quantity, "units": []}
        lines.setdefault(line.line_item_id, told)["units"].append(_units(order, group, rules, by_staff))
    return list(lines.values())


def _units(order: Order, group: UnitGroup, rules: RefundPolicy, by_staff: bool) -> dict[str, Any]:
    kept_back = group.state == "delivered" and rules.excludes(group.category)
    only_for = claims_of(rules) if kept_back else []
    refusal = unit_errors.excluded(group, only_for) if kept_back else unit_errors.why_nothing(order, group)
    refusal = refusal and refusal.told_to(staff=by_staff)
    return {
        "state": group.state,
        "name": group.product_name,
        "quantity": group.quantity,
        "can": list(allowed_actions(group.state)) if only_for or not kept_back else [],
        "only_for": only_for,
        "until": group.until.isoformat() if group.until else None,
        "refusal": {"code": refusal.code, "message": refusal.message, "hint": refusal.hint} if refusal else None,
    }
