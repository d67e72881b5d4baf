"""Asking what goods come to: the one door for staff, API, agent and customer. A quote moves nothing.

Flow: choices → units (`selection`) → settlement (`settling`, `policy`) → a `RefundQuote` that holds for some minutes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils import timezone

from orders import audit, goods
from orders.actors import Actor
from orders.errors import Refusal
from orders.models import Order
from refunds import errors, quote_errors, unit_errors
from refunds.choices import LineChoice, describe, parse_choices
from refunds.eligibility import REFUSED, UnitState
from refunds.ending import computed, correlation_of, decline, end, supersede_open
from refunds.goods import UnitGroup, unit_groups
from refunds.history import policy_for
from refunds.models import QuoteLine, RefundPolicy, RefundQuote
from refunds.selection import Picked, select
from refunds.settling import STATE_OF_ACTION, Worked, picked_again, share_out, work_out
from refunds.states import Asker, EndedBecause, QuoteAction, QuoteState

__all__ = [
    "LineChoice",
    "ask",
    "asker_ref",
    "decline",
    "end_if_overtaken",
    "is_the_same",
    "parse_choices",
    "what_changed",
    "why_changed",
    "why_not",
    "write_quote",
]

# Where goods are that were taken for lost and are not.
ARRIVED_OR_COMING: Final[frozenset[UnitState]] = frozenset({"delivered", "window_over", "shipped"})


def ask(
    *,
    order: Order,
    choices: Sequence[LineChoice],
    actor: Actor,
    asker: Asker,
    asker_ref: str,
    conversation_ref: str = "",
    tool_call_ref: str | None = None,
) -> RefundQuote:
    """What the chosen goods come to, as an open quote; the same `tool_call_ref` again gives the same quote.

    `asker_ref`, from the function of that name, owns the quote: its earlier open quotes on the order are superseded.
    Raises InvalidInput with the field, a Refusal that says what to do instead, NotFound, NotAllowed.
    """
    actor.require("refunds.ask_quote")
    if actor.customer is not None and actor.customer.pk != order.customer_id:
        raise errors.no_such_quote()
    refs = {"conversation_ref": conversation_ref, "tool_call_ref": tool_call_ref}
    try:
        with transaction.atomic():
            return _ask(goods.lock_order(order.pk), list(choices), actor, asker, asker_ref, refs)
    except IntegrityError:
        known = _known(tool_call_ref)
        if known is None:
            raise
        return known


def asker_ref(actor: Actor, *, conversation: int | None = None) -> str:
    """Whose quote it is, by whatever door they ask: the agent's conversation, the customer, the member of staff."""
    if actor.kind == "agent":
        assert conversation is not None, "the agent asks in a conversation"
        return f"conversation:{conversation}"
    if actor.customer is not None:
        return f"customer:{actor.customer.pk}"
    assert actor.user is not None, "staff ask under their account"
    return f"staff:{actor.user.pk}"


def _ask(
    order: Order,
    choices: list[LineChoice],
    actor: Actor,
    asker: Asker,
    asker_ref: str,
    refs: dict[str, str | None],
) -> RefundQuote:
    known = _known(refs["tool_call_ref"])
    if known is not None:
        return known
    rules = policy_for(order)
    groups = unit_groups(order, now=timezone.now())
    action, picked = select(order=order, groups=groups, choices=choices, policy=rules, by_staff=actor.kind == "staff")
    if action not in STATE_OF_ACTION:
        raise errors.action_does_not_fit(picked[0].line.name, action, "lines[0].action", list(STATE_OF_ACTION))
    worked = work_out(order=order, action=action, picked=picked, rules=rules)
    share_out(order, worked.settlement.amount, rules, by_staff=actor.kind == "staff")
    supersede_open(order=order, asker_ref=asker_ref, actor=actor)
    who: dict[str, Any] = {"asker": asker, "asker_ref": asker_ref, "asked_by": actor.user, **refs}
    return write_quote(
        order=order,
        action=action,
        picked=picked,
        worked=worked,
        rules=rules,
        actor=actor,
        chosen=describe(choices),
        **who,
    )


def _known(tool_call_ref: str | None) -> RefundQuote | None:
    return RefundQuote.objects.filter(tool_call_ref=tool_call_ref).first() if tool_call_ref else None


def write_quote(
    *,
    order: Order,
    action: str,
    picked: Sequence[Picked],
    worked: Worked,
    rules: RefundPolicy,
    actor: Actor,
    chosen: Mapping[str, Any],
    beside: Mapping[str, Any] | None = None,
    expires_at: datetime | None = None,
    **who: Any,
) -> RefundQuote:
    """The rows of an open quote, and its line in the history: what `actor` chose, what it came to, `beside` what.

    `who`: the fields of `RefundQuote` that say who asked, and through what.
    """
    settlement = worked.settlement
    quote = RefundQuote.objects.create(
        order=order,
        action=action,
        amount=settlement.amount,
        fee=settlement.fee,
        counts_as_return=settlement.counts_as_return,
        currency=order.currency,
        steps=[step.as_json() for step in settlement.steps],
        policy=rules,
        fingerprint=worked.fingerprint,
        customer_id=order.customer_id,
        expires_at=expires_at or timezone.now() + timedelta(minutes=rules.quote_minutes),
        **who,
    )
    _write_lines(quote, picked)
    audit.record(
        action="quote.opened",
        actor=actor,
        subject_type="quote",
        subject_id=quote.pk,
        order=order,
        chosen=dict(chosen),
        computed={**computed(quote), **(beside or {})},
        correlation=correlation_of(quote),
    )
    return quote


def _write_lines(quote: RefundQuote, picked: Sequence[Picked]) -> None:
    QuoteLine.objects.bulk_create(
        QuoteLine(
            quote=quote,
            line_item=item.line,
            shipment_line=item.shipment_line,
            quantity=item.quantity,
            reason=item.reason,
            shop_fault=item.shop_fault,
        )
        for item in picked
    )


def is_the_same(quote: RefundQuote, other: RefundQuote) -> bool:
    """Whether two quotes that are open stand for the same goods for the same reasons, and come to the same."""
    if {quote.state, other.state} != {QuoteState.OPEN}:
        return False
    # The fingerprint covers the order as it was, the kind and the goods, but not the reasons that were given.
    return quote.fingerprint == other.fingerprint and _wish(quote) == _wish(other)


def _wish(quote: RefundQuote) -> Counter[tuple[Any, ...]]:
    return Counter(quote.lines.values_list("line_item_id", "shipment_line_id", "quantity", "reason", "shop_fault"))


@transaction.atomic
def end_if_overtaken(*, quote_id: str, actor: Actor) -> bool:
    """End an open quote of whose goods some have gone meanwhile. False, and nothing changes, where none have.

    It could not be redeemed any more; whoever still sees its button is spared a press in vain.
    """
    order = goods.lock_order(RefundQuote.objects.values_list("order_id", flat=True).get(pk=quote_id))
    quote = RefundQuote.objects.get(pk=quote_id)
    groups = unit_groups(order, now=quote.created_at)
    if all(item.state is not None for item in picked_again(quote, groups)):
        return False
    return end(quote=quote, to=QuoteState.SUPERSEDED, actor=actor, because=EndedBecause.ORDER_CHANGED)


def why_not(quote: RefundQuote) -> Refusal:
    """Why a quote that is not open, or whose time is over, cannot be redeemed, and what to do instead."""
    if quote.state == QuoteState.DECLINED:
        because = quote.ended_because
        return quote_errors.quote_taken_back(because) if quote.was_taken_back else quote_errors.quote_declined()
    if quote.state == QuoteState.REDEEMED:
        return quote_errors.quote_redeemed()
    if quote.state != QuoteState.SUPERSEDED:
        return quote_errors.quote_expired()
    if quote.ended_because == EndedBecause.ORDER_CHANGED:
        groups = unit_groups(quote.order, now=quote.created_at)
        return why_changed(quote, groups, picked_again(quote, groups))
    return quote_errors.quote_replaced()


def what_changed(quote: RefundQuote, groups: Sequence[UnitGroup]) -> Refusal | None:
    """Why an open quote no longer holds, None if everything is as it was. With the order locked.

    `groups`: the order's units by the windows and time limits of the moment of asking, so that a quote asked for on the
    last day holds for its minutes. Raises the refusal needs_assignment.
    """
    picked = picked_again(quote, groups)
    if any(item.state is None for item in picked):
        return why_changed(quote, groups, picked)
    worked = work_out(order=quote.order, action=quote.action, picked=picked, rules=quote.policy)
    same = worked.fingerprint == quote.fingerprint and worked.settlement.amount == quote.amount
    return None if same else errors.amount_changed()


def why_changed(quote: RefundQuote, groups: Sequence[UnitGroup], picked: Sequence[Picked]) -> Refusal:
    """What has happened to the quote's goods, or to others of the order, and what can be done now."""
    gone = next((item for item in picked if item.state is None), None)
    if gone is None:
        return errors.amount_changed()
    of_line = [group for group in groups if group.line.pk == gone.line.pk]
    found = [group for group in of_line if gone.shipment_line is not None and group.shipment_line == gone.shipment_line]
    after_all = [group for group in found if group.state in ARRIVED_OR_COMING]
    if quote.action == QuoteAction.LOST and after_all:
        return unit_errors.not_lost_after_all(after_all[0])
    order_of_states = [*REFUSED]
    elsewhere = [group for group in found or of_line if group.state in REFUSED]
    if not elsewhere:
        return errors.amount_changed()
    return unit_errors.changed_since(quote.order, min(elsewhere, key=lambda group: order_of_states.index(group.state)))
