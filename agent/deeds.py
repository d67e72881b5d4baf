"""What has really been done about an order, read from its rows: what the agent's words are held against.

Only what belongs to the conversation counts: what came to be since it began, and what a tool, the system or a colleague
has named in it. Of the rest the agent cannot know, so words that say it are made up even where they happen to be true.

Nothing here looks at words. `agent/claims.py` finds what a text claims; a claim is founded when a deed of its kind has
come as far as it says (`Deed.reach`), and where it names amounts, each of them is such a deed's.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any, Final

from agent.models import Conversation
from agent.states import Author, CardKind, CardState, ToolCallState
from agent.tools.address import UPDATE_SHIPPING_ADDRESS
from agent.tools.ask import CREATE_RETURN, REFUND_ITEMS
from agent.tools.goodwill import PROPOSE_COMPENSATION
from agent.tools.person import HAND_OFF_TO_HUMAN
from agent.tools.read import GET_ORDER
from agent.tools.resend import RESEND_ITEMS
from orders.models import AuditEvent, Order
from refunds.models import Approval, Refund, RefundQuote, Replacement, Return
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

    # Nothing yet: it comes if the customer presses what is on the page, or when what was asked for has been done.
    AHEAD = 0
    # Asked for and kept: “your refund has been submitted”, “the return is registered”, “passed on to a colleague”.
    BEGUN = 1
    # Nothing more is needed for it: “on its way to your card”, “your parcel has come in”, “a colleague takes over”.
    UNDER_WAY = 2
    # It has happened: “NT$230 was refunded”, “the new one has been sent”.
    DONE = 3


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing done. `amounts`: those that may be named with it, in the currency's smallest unit.

    `goods`: the order's lines that it is about, by their keys; None where it is about none in particular.
    `stuck`: nothing more comes of it by itself.
    """

    kind: Kind
    reach: Reach
    amounts: frozenset[int] = frozenset()
    goods: frozenset[int] | None = None
    stuck: bool = False


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
# What may come by a card's press, and by the tools that put such cards up.
_BY_CARDS: Final[Mapping[str, tuple[Kind, ...]]] = {
    CardKind.REFUND: (REFUND, CANCEL),
    CardKind.RETURN: (RETURN, REFUND),
    CardKind.EXCHANGE: (EXCHANGE,),
    CardKind.RESEND: (RESEND,),
    CardKind.ADDRESS: (ADDRESS,),
}
_BY_CALLS: Final[Mapping[str, CardKind]] = {
    REFUND_ITEMS.name: CardKind.REFUND,
    RESEND_ITEMS.name: CardKind.RESEND,
    UPDATE_SHIPPING_ADDRESS.name: CardKind.ADDRESS,
}
# A tool's name and its arguments.
Call = tuple[str, Any]
_NUMBER: Final = re.compile(r"\b(?:rf|rt|rp|ap)_[0-9a-z]+")
# A call of the same reply makes true what the reply says of it, if it is not refused (`retracting`).
MADE_TRUE_BY_CALL: Final = frozenset({HAND_OFF_TO_HUMAN.name, PROPOSE_COMPENSATION.name})


@dataclass(frozen=True, slots=True)
class Known:
    """What the conversation knows of its order: records since it began, and numbers that were named in it.

    `looked`: the order itself was looked at in it.
    """

    order: Order
    began: datetime
    named: frozenset[str]
    looked: bool

    def knows(self, row: Refund | Return | Replacement | Approval) -> bool:
        return row.created_at >= self.began or row.pk.lower() in self.named


def deeds(conversation: Conversation, calls: Iterable[Call] = ()) -> list[Deed]:
    """Everything done that the conversation knows of. `calls`: what the reply itself calls.

    Also what was done in earlier conversations or by staff, once the model has been shown it: it may tell of it.
    """
    known = _known(conversation)
    found = [deed for read in _READERS for deed in read(known)]
    if conversation.needs_person or conversation.owner_id:
        found.append(Deed(HAND_OFF, Reach.UNDER_WAY))
    for card in conversation.cards.filter(state=CardState.OPEN):
        found += [Deed(kind, Reach.AHEAD) for kind in _BY_CARDS[card.kind]]
    return found + [deed for name, arguments in calls for deed in _made_true_by(name, arguments)]


def _known(conversation: Conversation) -> Known:
    answered = conversation.tool_calls.filter(state=ToolCallState.ANSWERED)
    others = conversation.messages.filter(author__in=[Author.SYSTEM, Author.STAFF])
    shown = [*answered.values_list("result", flat=True), *others.values_list("content", flat=True)]
    named = _NUMBER.findall(json.dumps(shown, ensure_ascii=False).lower())
    return Known(
        order=conversation.order,
        began=conversation.created_at,
        named=frozenset(named),
        looked=answered.filter(name=GET_ORDER.name, is_error=False).exists(),
    )


def _made_true_by(name: str, arguments: Any) -> Iterator[Deed]:
    """Its arguments have not been checked yet: they are whatever the model wrote."""
    if name == HAND_OFF_TO_HUMAN.name:
        yield Deed(HAND_OFF, Reach.UNDER_WAY)
    elif name == PROPOSE_COMPENSATION.name:
        amount = arguments.get("compensation_ntd") if isinstance(arguments, dict) else None
        yield Deed(COMPENSATION, Reach.BEGUN, frozenset({amount} if isinstance(amount, int) else ()))
        yield Deed(HAND_OFF, Reach.BEGUN)
    elif name == CREATE_RETURN.name:
        by_quote = isinstance(arguments, dict) and arguments.get("quote_id")
        yield from (Deed(kind, Reach.AHEAD) for kind in _BY_CARDS[CardKind.RETURN if by_quote else CardKind.EXCHANGE])
    elif name in _BY_CALLS:
        yield from (Deed(kind, Reach.AHEAD) for kind in _BY_CARDS[_BY_CALLS[name]])


def numbers_of(order: Order) -> frozenset[str]:
    """The number of every record of the order that words may name, whatever has become of it, in lower case."""
    kept = (Refund, Return, Replacement, Approval)
    return frozenset(
        number.lower() for model in kept for number in model.objects.filter(order=order).values_list("pk", flat=True)
    )


def _of_refunds(known: Known) -> Iterator[Deed]:
    """A refund's own amount, its parts, and the sum of all that have come equally far."""
    sums: dict[tuple[Reach, bool], int] = {}
    rows = Refund.objects.filter(order=known.order).select_related("quote")
    for refund in filter(known.knows, rows.prefetch_related("allocations", "quote__lines")):
        goods = _goods_of(refund.quote)
        parts = {part.amount for part in refund.allocations.all()}
        paid = sum(part.amount for part in refund.allocations.all() if part.state == AllocationState.SUCCEEDED)
        reach = _REFUNDS.get(refund.state)
        if reach is not None:
            reach = Reach.BEGUN if waits_until(refund) else reach
            stuck = refund.state == RefundState.FAILED
            sums[reach, stuck] = sums.get((reach, stuck), 0) + refund.amount
            yield Deed(REFUND, reach, frozenset({refund.amount, *parts}), goods, stuck)
            if refund.kind == RefundKind.COMPENSATION:
                yield Deed(COMPENSATION, reach, frozenset({refund.amount, *parts}))
        if paid and reach != Reach.DONE:
            yield Deed(REFUND, Reach.DONE, frozenset({paid, *parts}), goods)
        if refund.state == RefundState.FAILED:
            yield Deed(HAND_OFF, Reach.BEGUN)  # staff were alerted (`refunds/alerts.py`)
        cancels = refund.quote is not None and refund.quote.action == QuoteAction.CANCEL
        if cancels and reach is not None:
            yield Deed(CANCEL, Reach.DONE, goods=goods)
    for (reach, stuck), amount in sums.items():
        # Of no goods: the refunds themselves are there for words that name some.
        yield Deed(REFUND, reach, frozenset({amount}), frozenset(), stuck)


def _goods_of(row: RefundQuote | Return | Replacement | None) -> frozenset[int] | None:
    return frozenset(line.line_item_id for line in row.lines.all()) if row is not None else None


def _of_returns(known: Known) -> Iterator[Deed]:
    for item in filter(known.knows, Return.objects.filter(order=known.order).prefetch_related("lines")):
        if item.state in _RETURNS:
            kind = EXCHANGE if item.kind == ReturnKind.EXCHANGE else RETURN
            yield Deed(kind, _RETURNS[ReturnState(item.state)], goods=_goods_of(item))
            if kind == RETURN:
                yield Deed(REFUND, Reach.AHEAD)  # when the goods have been checked


def _of_replacements(known: Known) -> Iterator[Deed]:
    for item in filter(known.knows, Replacement.objects.filter(order=known.order).prefetch_related("lines")):
        if item.state in _REPLACEMENTS:
            goods = _goods_of(item)
            lost = item.kind == ReplacementKind.LOST
            reach = _REPLACEMENTS[ReplacementState(item.state)]
            # Goods that are set aside for an exchange leave only when the old ones have come back.
            if lost:
                yield Deed(RESEND, reach, goods=goods)
            else:
                yield Deed(EXCHANGE, reach if reach == Reach.DONE else Reach.BEGUN, goods=goods)


def _of_approvals(known: Known) -> Iterator[Deed]:
    """A colleague who has been asked to decide knows of it; that does not bring them into the chat."""
    for item in filter(known.knows, Approval.objects.filter(order=known.order)):
        yield Deed(HAND_OFF, Reach.BEGUN)
        if item.kind == ApprovalKind.COMPENSATION:
            yield Deed(COMPENSATION, _COMPENSATIONS[ApprovalState(item.state)], frozenset({item.amount}))


def _of_the_order(known: Known) -> Iterator[Deed]:
    """Goods can also be cancelled by the shop, and an address be changed by staff."""
    cancelled = frozenset(known.order.lines.filter(cancelled_quantity__gt=0).values_list("pk", flat=True))
    if cancelled and known.looked:
        yield Deed(CANCEL, Reach.DONE, goods=cancelled)
    changed = AuditEvent.objects.filter(order=known.order, action="order.address_changed")
    if (known.looked and changed.exists()) or changed.filter(at__gte=known.began).exists():
        yield Deed(ADDRESS, Reach.DONE)


_READERS: Final[tuple[Callable[[Known], Iterator[Deed]], ...]] = (
    _of_refunds,
    _of_returns,
    _of_replacements,
    _of_approvals,
    _of_the_order,
)
