"""The goods of a return have been looked at and are taken back: the amount is worked out anew, and paid.

Between the promise and the acceptance the order may have changed, a claimed defect may not be one, and not everything
may have come back as it should: only accepted units are settled or replaced, the others are the customer's again. More
than was promised is paid as it is; less is not paid before a second person has approved it, nor is anything for goods
that were taken back for a defect alone and show none.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from orders.actors import Actor, system_actor
from orders.errors import InvalidInput
from orders.models import Order
from refunds import exchange_errors, findings, payout, quotes, replacements, return_states, returns
from refunds.choices import clean_note
from refunds.ending import spend
from refunds.history import policy_for
from refunds.models import RefundQuote, Replacement, Return, ReturnLine
from refunds.overrides import EXCLUDED
from refunds.selection import CLAIMS, Picked, is_kept_back, is_shop_fault
from refunds.settling import work_out
from refunds.states import ApprovalKind, Asker, QuoteAction, Reason, RefundState, ReturnKind, ReturnState

# What whoever looks at the goods may put in the place of the customer's reason.
_REASONS = CLAIMS | {Reason.CHANGED_MIND, Reason.OTHER}
RETURNS = system_actor("returns")


@transaction.atomic
def accept(*, return_id: str, actor: Actor, note: str = "", found: Mapping[str, str] | None = None) -> Return:
    """Take back what was received in order: a return is refunded, an exchange waits for its replacement.

    `found`: line_item_id to the reason that the goods show, where it differs from the customer's. By staff with
    `orders.handle_shipments`. Raises NotAllowed, NotFound, InvalidInput, and Refusal wrong_state, nothing_accepted, or
    for an exchange claim_refuted: goods that only a fault lets come back, and they show none. Of a return a second
    person is asked then (docs/money.md, What may be asked for).
    """
    text = clean_note(note)
    request = returns.locked(return_id, actor)
    returns.require_state(request, ReturnState.RECEIVED)
    reasons = _checked(request, found or {})
    accepted = findings.accepted_lines(request)
    if not accepted:
        raise exchange_errors.nothing_accepted(request.pk)
    if request.kind == ReturnKind.EXCHANGE:
        _refuse_refuted(request, accepted, reasons)
    seen = {"found": findings.as_json(findings.known(request)), "reasons": reasons}
    return_states.move(request=request, to=ReturnState.ACCEPTED, actor=actor, note=text, seen=seen)
    if request.kind == ReturnKind.REFUND:
        _refund(request.order, request, actor, text, _Goods(accepted, reasons))
    else:
        _replace_only(request, accepted, actor)
    return request


@dataclass(frozen=True, slots=True)
class _Goods:
    """The accepted units by line of the return, and the reasons that they show instead of the customer's."""

    accepted: list[tuple[ReturnLine, int]]
    reasons: Mapping[str, str]


def _refuse_refuted(request: Return, accepted: list[tuple[ReturnLine, int]], reasons: Mapping[str, str]) -> None:
    """An exchange pays nothing, so no refund waits in which a second person could say yes to it."""
    rules = policy_for(request.order)
    for line, _quantity in accepted:
        shown = reasons.get(line.line_item.line_item_id, line.reason)
        if is_kept_back(line.shipment_line.category, shown, rules):
            raise exchange_errors.claim_refuted(line)


def _replace_only(request: Return, accepted: list[tuple[ReturnLine, int]], actor: Actor) -> None:
    units: Counter[tuple[int, int | None]] = Counter()
    for line, quantity in accepted:
        units[line.shipment_line_id, line.product_id] += quantity
    replacement = replacements.of_locked_order(request.order, Replacement.objects.get(return_request=request).pk)
    replacements.reduce_to(replacement, units, actor)


def _checked(request: Return, found: Mapping[str, str]) -> dict[str, str]:
    lines = set(request.lines.values_list("line_item__line_item_id", flat=True))
    for line_item_id, reason in found.items():
        if line_item_id not in lines or reason not in _REASONS:
            raise InvalidInput(
                f"reasons.{line_item_id}"[:64],
                _("Name a line of this return, and one of: %(reasons)s.") % {"reasons": ", ".join(sorted(_REASONS))},
            )
    return dict(found)


def _refund(order: Order, request: Return, actor: Actor, note: str, back: _Goods) -> None:
    promised = request.quote
    assert promised is not None, "the database demands a quote of a return for a refund"
    quote = _fresh_quote(order, request, promised, back)
    spend(quote=quote, actor=RETURNS, note=note)
    returns.release_units(request, actor=RETURNS)
    refund = payout.create_refund(
        order=order,
        quote=quote,
        rules=promised.policy,
        actor=actor,
        note=note,
        settles=request,
        because=_why_asked(quote, promised),
    )
    Return.objects.filter(pk=request.pk).update(refund=refund)
    if refund.state != RefundState.PENDING_APPROVAL:
        return_states.move(request=request, to=ReturnState.REFUNDED, actor=RETURNS)


def _why_asked(quote: RefundQuote, promised: RefundQuote) -> ApprovalKind | None:
    """Why a second person decides, whatever the amount is; the exception before the sum, because it says more."""
    if quote.overrides:
        return ApprovalKind.OVERRIDE
    return ApprovalKind.LESS_THAN_PROMISED if quote.amount < promised.amount else None


def _is_exception(line: ReturnLine, reason: str, promised: RefundQuote) -> bool:
    """Whether goods of a category that is not taken back were let in for a claim, and the claim does not hold."""
    rules = promised.policy
    if not is_kept_back(line.shipment_line.category, reason, rules):
        return False
    agreed = EXCLUDED in promised.overrides and not is_shop_fault(line.reason, "return", rules)
    return not agreed


def _fresh_quote(order: Order, request: Return, promised: RefundQuote, back: _Goods) -> RefundQuote:
    """What the goods that came back come to today, by the policy that the promise was made under."""
    rules = promised.policy
    picked = [
        Picked(
            line=line.line_item,
            shipment_line=line.shipment_line,
            quantity=quantity,
            reason=(reason := back.reasons.get(line.line_item.line_item_id, line.reason)),
            shop_fault=is_shop_fault(reason, "return", rules),
            state="returning",
        )
        for line, quantity in back.accepted
    ]
    exception = any(
        _is_exception(line, item.reason, promised) for (line, _), item in zip(back.accepted, picked, strict=True)
    )
    worked = work_out(order=order, action=QuoteAction.RETURN, picked=picked, rules=rules, without=request)
    who: dict[str, Any] = {
        "asker": Asker.SYSTEM,
        "asker_ref": f"return:{request.pk}",
        "asked_by": promised.asked_by,
        "conversation_ref": promised.conversation_ref,
        "overrides": [EXCLUDED] if exception else [],
    }
    return quotes.write_quote(
        order=order,
        action=QuoteAction.RETURN,
        picked=picked,
        worked=worked,
        rules=rules,
        actor=RETURNS,
        chosen={"return_id": request.pk, "found": dict(back.reasons)},
        beside={"promised": promised.amount},
        **who,
    )
