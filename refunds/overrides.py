"""An exception to a rule: goods whose return is refused, because its days are over or their category is excluded.

Staff ask, a second person approves, and the return is opened with the amount that the same rule as ever comes to. The
quote is made when somebody asks, and waits; when it is approved, everything is looked at anew under the order's lock.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from orders import goods
from orders.actors import Actor, staff_actor
from orders.errors import Refusal
from orders.models import Order
from orders.money import format_money
from refunds import approval_states, ending, errors, quotes, returns
from refunds.approval_states import APPROVAL_LIFE
from refunds.choices import LineChoice, clean_note, describe
from refunds.explain import step_lines
from refunds.goods import UnitGroup, unit_groups
from refunds.history import policy_for
from refunds.models import Approval, QuoteLine, RefundPolicy, RefundQuote, Return
from refunds.selection import Picked, select
from refunds.settling import share_out, work_out
from refunds.states import ApprovalKind, ApprovalState, Asker, QuoteAction, QuoteState

ASK: Final = "refunds.ask_override"
WINDOW_OVER: Final = "return_window_over"
EXCLUDED: Final = "excluded_category"
# Which refusals are set aside, tried in this order: no more of them than it needs.
_WAYS: Final[tuple[tuple[str, ...], ...]] = ((), (WINDOW_OVER,), (EXCLUDED,), (WINDOW_OVER, EXCLUDED))


def ask(*, order: Order, choices: Sequence[LineChoice], reason: str, actor: Actor) -> Approval:
    """Ask a second person to let these goods be returned after all. By staff with `refunds.ask_override`.

    Its quote is open for as long as the approval waits, and nobody can redeem it meanwhile. Nothing is held.
    Raises NotAllowed, InvalidInput, and Refusal no_exception_needed, already_asked, or what no exception helps against.
    """
    actor.require_staff(ASK)
    text = clean_note(reason, field="reason", required=True)
    wanted = _to_return(choices)
    with transaction.atomic():
        order = goods.lock_order(order.pk)
        rules = policy_for(order)
        overrides, picked = _pick(order, wanted, rules)
        _refuse_twice(order, picked)
        chosen = {**describe(wanted), "overrides": overrides}
        quote = _write(order, picked, rules, chosen, actor)
        return approval_states.ask(
            kind=ApprovalKind.OVERRIDE,
            order=order,
            amount=quote.amount,
            reason=text,
            actor=actor,
            request_ref=f"quote:{quote.pk}",
            computed={"overrides": overrides},
            quote=quote,
        )


def preview(*, order: Order, choices: Sequence[LineChoice], actor: Actor) -> dict[str, Any]:
    """What an exception for these goods would come to: {amount, currency, display, steps, overrides}. Nothing is kept.

    By whoever may ask for it, and with the same refusals.
    """
    actor.require_staff(ASK)
    rules = policy_for(order)
    overrides, picked = _pick(order, _to_return(choices), rules)
    settlement = work_out(order=order, action=QuoteAction.RETURN, picked=picked, rules=rules).settlement
    names = {item.line.line_item_id: item.line.name for item in picked}
    steps = [step.as_json() for step in settlement.steps]
    return {
        "amount": settlement.amount,
        "currency": order.currency,
        "display": format_money(settlement.amount, order.currency),
        "steps": step_lines(steps, order.currency, names),
        "overrides": overrides,
    }


def _to_return(choices: Sequence[LineChoice]) -> list[LineChoice]:
    return [replace(choice, action=QuoteAction.RETURN.value) for choice in choices]


def what_is_in_the_way(approval: Approval) -> Refusal | None:
    """Why the exception cannot be carried out any more, None if everything is as it was. With everything locked."""
    quote = approval.quote
    assert quote is not None, "the database demands a quote of this kind"
    if quote.state != QuoteState.OPEN:
        return quotes.why_not(quote)
    groups = _set_aside(unit_groups(quote.order, now=quote.created_at), quote.overrides)
    return quotes.what_changed(quote, groups)


def open_return(*, approval: Approval, actor: Actor, note: str) -> Return:
    """Carry it out: the return is opened for whoever asked, with the amount that was approved by `actor`."""
    quote = approval.quote
    assert quote is not None
    assert approval.asked_by is not None, "staff ask under their account"
    ending.spend(quote=quote, actor=actor, note=note)
    asker = staff_actor(approval.asked_by, approval_id=approval.pk)
    return returns.open_return(order=quote.order, quote=quote, actor=asker, note=approval.reason)


def _pick(order: Order, choices: list[LineChoice], rules: RefundPolicy) -> tuple[list[str], list[Picked]]:
    """The refusals that have to be set aside, and the units. Raises what is in the way even so."""
    groups = unit_groups(order, now=timezone.now())
    for way in _WAYS:
        lenient = copy(rules)
        lenient.excluded_categories = [] if EXCLUDED in way else rules.excluded_categories
        seen = _set_aside(groups, way)
        try:
            _action, picked = select(
                order=order, groups=seen, choices=choices, policy=lenient, by_staff=True, only="return"
            )
        except Refusal as refusal:
            refused = refusal
            continue
        if not way:
            raise errors.no_exception_needed()
        return list(way), picked
    raise refused


def _set_aside(groups: Sequence[UnitGroup], overrides: Sequence[str]) -> list[UnitGroup]:
    """The units as they would stand if their days were not over."""
    if WINDOW_OVER not in overrides:
        return list(groups)
    return [replace(group, state="delivered") if group.state == "window_over" else group for group in groups]


def _refuse_twice(order: Order, picked: Sequence[Picked]) -> None:
    """Two waiting exceptions for the same goods would let the second person promise them twice."""
    waiting = QuoteLine.objects.filter(
        quote__approval__order=order,
        quote__approval__state=ApprovalState.WAITING,
        shipment_line__in=[item.shipment_line for item in picked if item.shipment_line],
    )
    first = waiting.select_related("quote__approval").first()
    if first is not None:
        raise errors.already_asked(first.quote.approval.pk)


def _write(
    order: Order, picked: list[Picked], rules: RefundPolicy, chosen: dict[str, Any], actor: Actor
) -> RefundQuote:
    worked = work_out(order=order, action=QuoteAction.RETURN, picked=picked, rules=rules)
    share_out(order, worked.settlement.amount, rules, by_staff=True)
    assert actor.user is not None, "staff ask under their account"
    return quotes.write_quote(
        order=order,
        action=QuoteAction.RETURN,
        picked=picked,
        worked=worked,
        rules=rules,
        actor=actor,
        chosen=chosen,
        expires_at=timezone.now() + APPROVAL_LIFE,
        overrides=chosen["overrides"],
        asker=Asker.STAFF,
        # Not the reference of their ordinary quotes: a new one of those must not supersede this.
        asker_ref=f"override:{actor.user.pk}",
        asked_by=actor.user,
    )
