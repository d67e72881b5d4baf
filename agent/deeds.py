"""What has really been done about an order, read from its rows: what the agent's words are held against.

Nothing here looks at words. `agent/claims.py` finds what a text claims; a claim is founded when a deed of its kind has
come as far as it says (`Deed.reach`), and where it names amounts, each of them is such a deed's.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from agent.models import Conversation
from agent.tools.goodwill import PROPOSE_COMPENSATION
from agent.tools.person import HAND_OFF_TO_HUMAN
from orders.models import AuditEvent, Order
from refunds.models import Approval, Refund, Replacement, Return
from refunds.refund_words import waits_until
from refunds.states import (
    AllocationState,
    ApprovalKind,
    ApprovalState,
    QuoteAction,
    RefundKind,
    RefundState,
    ReplacementKind,
    ReplacementState,
    ReturnKind,
    ReturnState,
)

Kind = str
# Kinds of deeds, as the labelled sentences name them; `cancel` is the other half of a refund of goods not yet sent.
REFUND: Final = "refund"
CANCEL: Final = "cancel"
RETURN: Final = "return"
EXCHANGE: Final = "exchange"
RESEND: Final = "resend"
ADDRESS: Final = "address"
HAND_OFF: Final = "handoff"
COMPENSATION: Final = "compensation"
KINDS: Final = (REFUND, CANCEL, RETURN, EXCHANGE, RESEND, ADDRESS, HAND_OFF, COMPENSATION)


class Reach(IntEnum):
    """How far a deed has come. Words that say less are true as well."""

    # Asked for and kept: “your refund has been submitted”, “the return is registered”, “passed on to a colleague”.
    BEGUN = 1
    # Nothing more is needed for it: “on its way to your card”, “your parcel has come in”, “a colleague takes over”.
    UNDER_WAY = 2
    # It has happened: “NT$230 was refunded”, “the new one has been sent”.
    DONE = 3


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing done. `amounts`: those that may be named with it, in the currency's smallest unit."""

    kind: Kind
    reach: Reach
    amounts: frozenset[int] = frozenset()


_REFUNDS: Final[Mapping[str, Reach]] = {
    RefundState.PENDING_APPROVAL: Reach.BEGUN,
    RefundState.UNKNOWN: Reach.BEGUN,
    # Refused by the provider: it stays asked for, and a person sees to it.
    RefundState.FAILED: Reach.BEGUN,
    RefundState.PENDING: Reach.UNDER_WAY,
    RefundState.SUCCEEDED: Reach.DONE,
}
_RETURNS: Final[Mapping[str, Reach]] = {
    ReturnState.REQUESTED: Reach.BEGUN,
    ReturnState.RECEIVED: Reach.UNDER_WAY,
    ReturnState.ACCEPTED: Reach.UNDER_WAY,
    ReturnState.REFUNDED: Reach.DONE,
    ReturnState.EXCHANGED: Reach.DONE,
}
_REPLACEMENTS: Final[Mapping[str, Reach]] = {
    ReplacementState.RESERVED: Reach.UNDER_WAY,
    ReplacementState.SENT: Reach.DONE,
}
_COMPENSATIONS: Final[Mapping[str, Reach]] = {
    ApprovalState.WAITING: Reach.BEGUN,
    # What was not granted has been passed on all the same.
    ApprovalState.REJECTED: Reach.BEGUN,
    ApprovalState.EXPIRED: Reach.BEGUN,
    ApprovalState.APPROVED: Reach.UNDER_WAY,
}
# A tool's name and its arguments.
Call = tuple[str, Any]
# A call of the same reply makes true what the reply says of it, if it is not refused (`retracting.look_again`).
MADE_TRUE_BY_CALL: Final = frozenset({HAND_OFF_TO_HUMAN.name, PROPOSE_COMPENSATION.name})


def deeds(conversation: Conversation, calls: Iterable[Call] = ()) -> list[Deed]:
    """Everything done about the conversation's order. `calls`: what the reply itself calls.

    Also what was done in earlier conversations or by staff: the agent may tell of it.
    """
    order = conversation.order
    found = [deed for read in _READERS for deed in read(order)]
    if conversation.needs_person or conversation.owner_id:
        found.append(Deed(HAND_OFF, Reach.UNDER_WAY))
    return found + [deed for name, arguments in calls for deed in _made_true_by(name, arguments)]


def _made_true_by(name: str, arguments: Any) -> Iterator[Deed]:
    """Its arguments have not been checked yet: they are whatever the model wrote."""
    if name == HAND_OFF_TO_HUMAN.name:
        yield Deed(HAND_OFF, Reach.UNDER_WAY)
    elif name == PROPOSE_COMPENSATION.name:
        amount = arguments.get("compensation_ntd") if isinstance(arguments, dict) else None
        yield Deed(COMPENSATION, Reach.BEGUN, frozenset({amount} if isinstance(amount, int) else ()))
        yield Deed(HAND_OFF, Reach.BEGUN)


def numbers_of(order: Order) -> frozenset[str]:
    """The number of every record of the order that words may name, whatever has become of it, in lower case."""
    kept = (Refund, Return, Replacement, Approval)
    return frozenset(
        number.lower() for model in kept for number in model.objects.filter(order=order).values_list("pk", flat=True)
    )


def _of_refunds(order: Order) -> Iterator[Deed]:
    """A refund's own amount, its parts, and the sum of all that have come equally far."""
    sums: dict[Reach, int] = {}
    for refund in Refund.objects.filter(order=order).select_related("quote").prefetch_related("allocations"):
        parts = {part.amount for part in refund.allocations.all()}
        paid = sum(part.amount for part in refund.allocations.all() if part.state == AllocationState.SUCCEEDED)
        reach = _REFUNDS.get(refund.state)
        if reach is not None:
            reach = Reach.BEGUN if waits_until(refund) else reach
            sums[reach] = sums.get(reach, 0) + refund.amount
            yield Deed(REFUND, reach, frozenset({refund.amount, *parts}))
            if refund.kind == RefundKind.COMPENSATION:
                yield Deed(COMPENSATION, reach, frozenset({refund.amount, *parts}))
        if paid and reach != Reach.DONE:
            yield Deed(REFUND, Reach.DONE, frozenset({paid, *parts}))
        if refund.state == RefundState.FAILED:
            yield Deed(HAND_OFF, Reach.BEGUN)  # staff were alerted (`refunds/alerts.py`)
        cancels = refund.quote is not None and refund.quote.action == QuoteAction.CANCEL
        if cancels and reach is not None:
            yield Deed(CANCEL, Reach.DONE)
    for reach, amount in sums.items():
        yield Deed(REFUND, reach, frozenset({amount}))


def _of_returns(order: Order) -> Iterator[Deed]:
    for item in Return.objects.filter(order=order):
        if item.state in _RETURNS:
            kind = EXCHANGE if item.kind == ReturnKind.EXCHANGE else RETURN
            yield Deed(kind, _RETURNS[ReturnState(item.state)])


def _of_replacements(order: Order) -> Iterator[Deed]:
    for item in Replacement.objects.filter(order=order):
        if item.state in _REPLACEMENTS:
            lost = item.kind == ReplacementKind.LOST
            reach = _REPLACEMENTS[ReplacementState(item.state)]
            # Goods that are set aside for an exchange leave only when the old ones have come back.
            yield Deed(RESEND, reach) if lost else Deed(EXCHANGE, reach if reach == Reach.DONE else Reach.BEGUN)


def _of_approvals(order: Order) -> Iterator[Deed]:
    """A colleague who has been asked to decide knows of it; that does not bring them into the chat."""
    for item in Approval.objects.filter(order=order):
        yield Deed(HAND_OFF, Reach.BEGUN)
        if item.kind == ApprovalKind.COMPENSATION:
            yield Deed(COMPENSATION, _COMPENSATIONS[ApprovalState(item.state)], frozenset({item.amount}))


def _of_the_order(order: Order) -> Iterator[Deed]:
    """Goods can also be cancelled by the shop, and an address be changed by staff."""
    if order.lines.filter(cancelled_quantity__gt=0).exists():
        yield Deed(CANCEL, Reach.DONE)
    if AuditEvent.objects.filter(order=order, action="order.address_changed").exists():
        yield Deed(ADDRESS, Reach.DONE)


_READERS: Final[tuple[Callable[[Order], Iterator[Deed]], ...]] = (
    _of_refunds,
    _of_returns,
    _of_replacements,
    _of_approvals,
    _of_the_order,
)
