"""From a wish and the state of the goods to what can be done about it.

Nothing here knows a rule of money. What may be asked for stands in `can`, as get_order gives it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.offline.goods import Line
from agent.offline.wishes import Wish
from agent.offline.words import Intent

FAULT = frozenset({Intent.DEFECTIVE, Intent.WRONG_ITEM})
MISSED = frozenset({Intent.NOT_ARRIVED, Intent.LOST})
LATE = MISSED | {Intent.DONT_WAIT}
SENT_ANEW = frozenset({Intent.RESEND, Intent.EXCHANGE})
GIVE_BACK = frozenset({Intent.CANCEL, Intent.RETURN, Intent.REFUND, Intent.CHANGED_MIND})
# Actions that need a quote, in the order in which they are asked for.
QUOTED = ("cancel", "lost", "return")
# Of several states in the way, the one that the customer can do something about is told first.
TOLD_FIRST = (
    "packed",
    "shipped",
    "window_over",
    "returning",
    "exchanging",
    "resending",
    "refunded",
    "cancelled",
    "lost",
    "delivered",
    "unfulfilled",
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about one line.

    kind: cancel, lost, return, exchange, resend; or "track" (tell where it is), "blocked" (`state` says by what),
    "how_many", "what" (goods named, nothing wanted), "arrived" (missed by the customer, delivered according to the
    carrier), "lost_choice" (lost: money, or the goods again?), "no_product", "other_price", "which_product" (of an
    exchange for something else). `product` is what comes instead, as search_products gave it.
    """

    line: Line
    kind: str
    quantity: int = 1
    reason: str = "other"
    state: str = ""
    units: Mapping[str, Any] | None = None
    product: Mapping[str, Any] | None = None
    found: tuple[Mapping[str, Any], ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return self.line.line_item_id, self.kind

    def to_quote(self) -> dict[str, Any]:
        """The line as quote_refund takes it."""
        return {**self.to_resend(), "reason": self.reason, "action": self.kind}

    def to_exchange(self) -> dict[str, Any]:
        """The line as create_return takes it."""
        product_id = self.product["product_id"] if self.product else None
        return {**self.to_resend(), "reason": self.reason, "product_id": product_id}

    def to_resend(self) -> dict[str, Any]:
        """The line as resend_items takes it."""
        return {"line_item_id": self.line.line_item_id, "quantity": self.quantity}


def decide(wish: Wish, line: Line) -> list[Decision]:
    """Usually one decision. Units in several states can need several: what is wanted of all of them, or of so many."""
    found: list[Decision] = []
    left = wish.quantity
    if wish.intents and wish.intents <= LATE and _that_can(line, "resend"):
        return [Decision(line, "lost_choice")]
    for kind in _ways(wish.intents):
        units = _that_can(line, kind, _reason(wish.intents, kind))
        if units is None or (found and not wish.every and left is None):
            continue
        if left == 0:
            break
        found.append(_with_quantity(replace(wish, quantity=left), line, kind, units))
        left = None if left is None else left - found[-1].quantity
    return found or [_no_way(wish, line)]


def _ways(intents: frozenset[Intent]) -> Sequence[str]:
    """What would fulfil the wish, the best first."""
    if not intents:
        return ()
    if intents & SENT_ANEW and intents & (MISSED | {Intent.RESEND}) and not intents & (FAULT | GIVE_BACK):
        return ("resend",)
    if Intent.EXCHANGE in intents and not intents & {Intent.REFUND, Intent.RETURN}:
        return ("exchange",)
    if intents & FAULT:
        return ("return",) if intents & GIVE_BACK else ("exchange",)
    if intents & MISSED:  # whoever misses goods does not send them back
        return ("cancel", "lost") if intents & (GIVE_BACK | {Intent.DONT_WAIT}) else ("lost",)
    if Intent.RETURN in intents and Intent.CANCEL not in intents:
        return ("return", "cancel", "lost")
    return ("cancel", "lost", "return") if intents & GIVE_BACK else ("cancel", "lost")


def _that_can(line: Line, kind: str, reason: str = "") -> Mapping[str, Any] | None:
    """The units for which this may be asked. Some come back only for the reasons in `only_for`."""
    allowed = (units for units in line.units if kind in (units.get("can") or ()))
    return next((units for units in allowed if reason in (units.get("only_for") or [reason])), None)


def _with_quantity(wish: Wish, line: Line, kind: str, units: Mapping[str, Any]) -> Decision:
    available = int(units.get("quantity", 1))
    state = str(units.get("state", ""))
    if wish.quantity is not None:
        quantity = min(wish.quantity, available)
    elif available == 1 or wish.every or kind in {"cancel", "lost", "resend"}:
        quantity = available
    else:
        return Decision(line, "how_many", available, state=state, units=units)
    return Decision(line, kind, quantity, _reason(wish.intents, kind), state, units)


def _reason(intents: frozenset[Intent], kind: str) -> str:
    if kind in {"lost", "resend"}:
        return "lost"
    if kind == "cancel":
        return "late_delivery" if intents & LATE else "changed_mind"
    if Intent.DEFECTIVE in intents:
        return "defective"
    if Intent.WRONG_ITEM in intents:
        return "wrong_item"
    return "other" if kind == "exchange" else "changed_mind"


def _no_way(wish: Wish, line: Line) -> Decision:
    states = {str(units.get("state")): units for units in line.units}
    here = set(states) & {"delivered", "window_over"}
    if not wish.intents or (wish.intents & FAULT and set(states) <= {"unfulfilled"}):
        return Decision(line, "what")
    if wish.intents <= MISSED | SENT_ANEW and wish.intents & (MISSED | {Intent.RESEND}) and not here:
        return Decision(line, "track")
    kept_back = [units for units in line.units if units.get("only_for")]
    if kept_back and here and not wish.intents & (MISSED | {Intent.RESEND}):
        return Decision(line, "blocked", state="kept_back", units=kept_back[0])
    for state in TOLD_FIRST:
        if state in states:
            missed = wish.intents & (MISSED | {Intent.RESEND})
            kind = "arrived" if state in here and missed else "blocked"
            return Decision(line, kind, int(states[state].get("quantity", 1)), state=state, units=states[state])
    return Decision(line, "what")


def groups(decisions: Sequence[Decision]) -> list[list[Decision]]:
    """What needs quotes, one list per quote, in order."""
    by_action = [[one for one in decisions if one.kind == action] for action in QUOTED]
    return [group for group in by_action if group]
