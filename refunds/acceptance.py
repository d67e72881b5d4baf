"""The goods of a return have been looked at and are taken back: the amount is worked out anew, and paid.

Between the promise and the acceptance the order may have changed, and a claimed defect may not be one. More than was
promised is paid as it is; less is not paid before a second person has approved it.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from orders import audit
from orders.actors import Actor, system_actor
from orders.errors import InvalidInput
from orders.models import Order
from refunds import payout, quotes, return_states, returns
from refunds.choices import clean_note
from refunds.ending import computed, correlation_of, spend
from refunds.models import RefundQuote, Return
from refunds.selection import CLAIMS, Picked, is_shop_fault
from refunds.settling import work_out
from refunds.states import Asker, QuoteAction, Reason, RefundState, ReturnKind, ReturnState

# What whoever looks at the goods may put in the place of the customer's reason.
_FINDINGS = CLAIMS | {Reason.CHANGED_MIND, Reason.OTHER}
RETURNS = system_actor("returns")


@transaction.atomic
def accept(*, return_id: str, actor: Actor, note: str = "", found: Mapping[str, str] | None = None) -> Return:
    """Take the goods back: a return is refunded, an exchange waits for its replacement.

    `found`: line_item_id to the reason that the goods show, where it differs from the customer's. By staff with
    `orders.handle_shipments`. Raises NotAllowed, NotFound, InvalidInput, and Refusal wrong_state.
    """
    text = clean_note(note)
    request = returns.locked(return_id, actor)
    returns.require_state(request, ReturnState.RECEIVED)
    findings = _checked(request, found or {})
    return_states.move(request=request, to=ReturnState.ACCEPTED, actor=actor, note=text)
    if request.kind == ReturnKind.REFUND:
        _refund(request.order, request, actor, text, findings)
    return request


def _checked(request: Return, found: Mapping[str, str]) -> dict[str, str]:
    lines = set(request.lines.values_list("line_item__line_item_id", flat=True))
    for line_item_id, reason in found.items():
        if line_item_id not in lines or reason not in _FINDINGS:
            raise InvalidInput(
                f"found.{line_item_id}"[:64],
                _("Name a line of this return, and one of: %(reasons)s.") % {"reasons": ", ".join(sorted(_FINDINGS))},
            )
    return dict(found)


def _refund(order: Order, request: Return, actor: Actor, note: str, findings: Mapping[str, str]) -> None:
    promised = request.quote
    assert promised is not None, "the database demands a quote of a return for a refund"
    quote = _fresh_quote(order, request, promised, findings)
    spend(quote=quote, actor=RETURNS, note=note)
    returns.release_units(request)
    refund = payout.create_refund(
        order=order,
        quote=quote,
        rules=promised.policy,
        actor=actor,
        note=note,
        settles=request,
        must_be_approved=quote.amount < promised.amount,
    )
    Return.objects.filter(pk=request.pk).update(refund=refund)
    if refund.state != RefundState.PENDING_APPROVAL:
        return_states.move(request=request, to=ReturnState.REFUNDED, actor=RETURNS)


def _fresh_quote(order: Order, request: Return, promised: RefundQuote, findings: Mapping[str, str]) -> RefundQuote:
    """What the goods that came back come to today, by the policy that the promise was made under."""
    rules = promised.policy
    picked = [
        Picked(
            line=line.line_item,
            shipment_line=line.shipment_line,
            quantity=line.quantity,
            reason=(reason := findings.get(line.line_item.line_item_id, line.reason)),
            shop_fault=is_shop_fault(reason, "return", rules),
            state="returning",
        )
        for line in request.lines.select_related("line_item", "shipment_line__line_item")
    ]
    worked = work_out(order=order, action=QuoteAction.RETURN, picked=picked, rules=rules, without=request)
    who: dict[str, Any] = {
        "asker": Asker.SYSTEM,
        "asker_ref": f"return:{request.pk}",
        "asked_by": promised.asked_by,
        "conversation_ref": promised.conversation_ref,
    }
    quote = quotes.write_quote(order=order, action=QuoteAction.RETURN, picked=picked, worked=worked, rules=rules, **who)
    audit.record(
        action="quote.opened",
        actor=RETURNS,
        subject_type="quote",
        subject_id=quote.pk,
        order=order,
        chosen={"return_id": request.pk, "found": dict(findings)},
        computed={**computed(quote), "promised": promised.amount},
        correlation=correlation_of(quote),
    )
    return quote
