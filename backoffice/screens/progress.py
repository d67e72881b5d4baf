"""How far goods and money are on their way, as a customer reads it: a few stages, each with one word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from refunds.goods import UnitGroup
from refunds.states import RefundKind, RefundState

# How far units are in each state; what is cancelled is on no way any more. What is sent again begins anew.
_GOODS_STAGE: Final = {
    "unfulfilled": 0,
    "resending": 0,
    "packed": 1,
    "shipped": 2,
    "lost": 2,
    "delivered": 3,
    "window_over": 3,
    "returning": 3,
    "exchanging": 3,
    "refunded": 3,
}
_GOODS_WORDS: Final = (
    gettext_lazy("Ordered"),
    gettext_lazy("Packed"),
    gettext_lazy("On its way"),
    gettext_lazy("Delivered"),
)
_MOVING: Final = frozenset({RefundState.PENDING, RefundState.UNKNOWN})
_SUCCEEDED: Final = str(RefundState.SUCCEEDED)


@dataclass(frozen=True, slots=True)
class Stage:
    """`state`: `done` by all, `partly` by some, `now` where it stands, `ahead`."""

    word: str
    state: str


def of_goods(groups: Sequence[UnitGroup]) -> list[Stage]:
    """Ordered → packed → on its way → delivered, for all units that are still to come or have come.

    Nothing where no unit is left on its way: everything was cancelled, or lost and refunded.
    """
    reached = [_GOODS_STAGE[group.state] for group in groups if group.state in _GOODS_STAGE and not _never_came(group)]
    if not reached:
        return []
    least, most = min(reached), max(reached)
    return [Stage(str(word), _goods_state(at, least, most)) for at, word in enumerate(_GOODS_WORDS)]


def _never_came(group: UnitGroup) -> bool:
    """Refunded without having been delivered: the parcel was lost."""
    return group.state == "refunded" and (group.shipment is None or group.shipment.delivered_at is None)


def _goods_state(at: int, least: int, most: int) -> str:
    if at <= least:
        return "done"
    return "partly" if at <= most else "ahead"


def of_refund(refund: dict[str, Any]) -> list[Stage]:
    """Confirmed → with the payment provider → given back, of a refund as `present.refund_as_dict` shows it.

    Nothing where there is no such way: it was made elsewhere, refused by the second person, or the provider.
    """
    state = refund["state"]
    if refund["kind"] == RefundKind.ELSEWHERE or state not in _MOVING | {_SUCCEEDED, RefundState.PENDING_APPROVAL}:
        return []
    words = (_("Confirmed"), _("Being processed"), _("Given back"))
    at = {RefundState.PENDING_APPROVAL: 0, _SUCCEEDED: 2}.get(state, 1)
    return [Stage(word, "done" if number <= at else "ahead") for number, word in enumerate(words)]


def refund_hint(refund: dict[str, Any]) -> str:
    """When the money can be expected; empty where nothing honest can be said of it."""
    if refund["state"] == RefundState.UNKNOWN:
        return _("We have no answer from the payment provider yet and keep asking. It is never paid twice.")
    if refund["state"] == RefundState.FAILED:
        return _("You do not have to do anything: a colleague sees to it and tells you.")
    by_machine = [to for to in refund["to"] if to["by"] == "machine"]
    if refund["state"] not in {RefundState.PENDING, _SUCCEEDED} or not by_machine or refund["waits_until"]:
        return ""
    if all(to["method"] == "store_credit" for to in by_machine):
        return _("Store credit can be used at once.") if refund["state"] == _SUCCEEDED else ""
    if refund["state"] == RefundState.PENDING:
        return _("The refund is being processed. It usually arrives within 7–14 working days.")
    return _("It usually arrives within 7–14 working days; the day is up to your bank.")
