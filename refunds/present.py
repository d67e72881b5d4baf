"""Quotes, refunds and returns as every door shows them: page, API, tool and card read the same dictionaries.

Amounts are integers of the currency's smallest unit, `display` is how people read them; texts are in the active
language; moments are ISO 8601 with the shop's offset.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from orders.errors import Refusal
from orders.models import Payment
from orders.moments import moment as moment
from orders.money import format_money
from orders.prose import sentences
from orders.states import PICKUP_METHODS
from refunds.allocation import AllocationError
from refunds.explain import explain, step_lines
from refunds.models import Approval, QuoteLine, Refund, RefundAllocation, RefundQuote, Replacement, Return, ReturnLine
from refunds.refund_days import paid_at
from refunds.refund_words import number_by_hand, paid_by_hand, state_text, waits_until
from refunds.settling import share_out
from refunds.states import NOT_TO_BE_SENT, RELEASED, QuoteState, ReplacementState, ReturnKind, ReturnState

_RETURN_TEXTS: Final = {
    ReturnState.REQUESTED: gettext_lazy("Waiting for the goods to arrive"),
    ReturnState.RECEIVED: gettext_lazy("The goods have arrived and are being looked at"),
    ReturnState.ACCEPTED: gettext_lazy("The goods have been accepted"),
    ReturnState.REFUNDED: gettext_lazy("The goods have been accepted"),
    ReturnState.EXCHANGED: gettext_lazy("The replacement is on its way"),
    ReturnState.REJECTED: gettext_lazy("Not accepted; the goods go back to the customer"),
    ReturnState.WITHDRAWN: gettext_lazy("Withdrawn"),
}
_REPLACEMENT_TEXTS: Final = {
    ReplacementState.RESERVED: gettext_lazy("Set aside, not sent yet"),
    ReplacementState.SENT: gettext_lazy("Sent"),
    ReplacementState.RELEASED: gettext_lazy("Not sent after all"),
}
_PAYMENTS: Final = {
    "card": gettext_lazy("card"),
    "store_credit": gettext_lazy("store credit"),
    "bank_transfer": gettext_lazy("bank transfer"),
    "wallet": gettext_lazy("wallet"),
    "cash_on_delivery": gettext_lazy("cash on delivery"),
}


def payment_label(method: str, last4: str) -> str:
    """“card ending in 4242”, “store credit”."""
    name = str(_PAYMENTS.get(method, method))
    return _("%(method)s ending in %(last4)s") % {"method": name, "last4": last4} if last4 else name


def quote_state(quote: RefundQuote) -> str:
    """The state; a quote whose time is over is shown as expired before the sweeper has marked it."""
    over = quote.state == QuoteState.OPEN and quote.expires_at <= timezone.now()
    return QuoteState.EXPIRED.value if over else quote.state


def quote_as_dict(quote: RefundQuote) -> dict[str, Any]:
    """Everything about a quote, with its refund or return once it has become one."""
    lines = list(quote.lines.all())
    names = names_in(lines)
    refund: Refund | None = getattr(quote, "refund", None)
    request: Return | None = getattr(quote, "return_request", None)
    return {
        "quote_id": quote.pk,
        "order_number": quote.order.number,
        "action": quote.action,
        "state": quote_state(quote),
        "amount": quote.amount,
        "currency": quote.currency,
        "display": format_money(quote.amount, quote.currency),
        "lines": _lines(lines),
        "steps": _steps(quote, names),
        "explanation": explain(quote.steps, quote.currency, names),
        "expires_at": moment(quote.expires_at),
        "policy_version": quote.policy.version,
        "to": _allocated(refund) if refund else _expected(quote),
        "refund": refund_as_dict(refund) if refund else None,
        "return": return_as_dict(request) if request else None,
    }


def refund_as_dict(refund: Refund) -> dict[str, Any]:
    """`quote_id`: null for compensation, and for what was refunded elsewhere until its goods are known.

    `waits_until`: when its payment provider takes it, null unless it waits for that. `paid_at`: null until it is paid.
    """
    return {
        "refund_id": refund.pk,
        "kind": refund.kind,
        "order_number": refund.order.number,
        "state": refund.state,
        "state_text": state_text(refund),
        "waits_until": moment(waits_until(refund)),
        "amount": refund.amount,
        "currency": refund.currency,
        "display": format_money(refund.amount, refund.currency),
        "to": _allocated(refund),
        "created_at": moment(refund.created_at),
        "paid_at": moment(paid_at(refund)),
        "quote_id": refund.quote_id,
    }


def approval_as_dict(approval: Approval) -> dict[str, Any]:
    """A question to a second person, as staff see it. `decided_by`: null while it waits, and if nobody decided.

    `expires_at`: null where it waits until somebody decides, because its goods have come back.
    """
    return {
        "approval_id": approval.pk,
        "kind": approval.kind,
        "kind_text": approval.get_kind_display(),
        "state": approval.state,
        "state_text": approval.get_state_display(),
        "order_number": approval.order.number,
        "amount": approval.amount,
        "display": format_money(approval.amount, approval.currency),
        "currency": approval.currency,
        "reason": approval.reason,
        "asked_by": _named(approval.asked_by) or str(approval.get_asked_by_kind_display()),
        "refund_id": approval.refund_id,
        "quote_id": approval.quote_id,
        "expires_at": moment(approval.expires_at),
        "decided_by": _named(approval.decided_by),
        "decision_reason": approval.decision_reason,
        "created_at": moment(approval.created_at),
    }


def _named(user: User | None) -> str | None:
    """A person, as people call them."""
    return (user.get_full_name() or user.get_username()) if user else None


def refund_that_settles(request: Return) -> Refund | None:
    """The refund of accepted goods, which tells what becomes of the money; None before, and where it was let go of."""
    refund = request.refund
    return None if refund is None or refund.state in RELEASED else refund


def goods_text(request: Return) -> str:
    """What has become of the goods of a return, in one line. Says nothing of money."""
    return str(_RETURN_TEXTS[ReturnState(request.state)])


def return_text(request: Return) -> str:
    """Where a return stands, in one line: once it has its refund, where that stands."""
    refund = refund_that_settles(request)
    return state_text(refund) if refund else goods_text(request)


def return_as_dict(request: Return) -> dict[str, Any]:
    """`amount`: what was promised after receipt, then what its refund comes to; null for an exchange.

    `refund_id`: once the goods were accepted.
    """
    settled = refund_that_settles(request) or request.quote
    lines = list(request.lines.all())
    replacement: Replacement | None = getattr(request, "replacement", None)
    return {
        "return_id": request.pk,
        "order_number": request.order.number,
        "kind": request.kind,
        "state": request.state,
        "state_text": return_text(request),
        "lines": _lines(lines),
        "findings": _findings(lines),
        "amount": settled.amount if settled else None,
        "currency": request.order.currency,
        "display": format_money(settled.amount, settled.currency) if settled else "",
        "instructions": _instructions(request),
        "refund_id": request.refund_id,
        "replacement": replacement_as_dict(replacement) if replacement else None,
        "created_at": moment(request.created_at),
    }


def replacement_as_dict(replacement: Replacement) -> dict[str, Any]:
    """`lines` name what is sent; parcel and carrier are there once it has left."""
    shipment = replacement.shipment
    return {
        "replacement_id": replacement.pk,
        "order_number": replacement.order.number,
        "kind": replacement.kind,
        "state": replacement.state,
        "state_text": str(_REPLACEMENT_TEXTS[ReplacementState(replacement.state)]),
        "lines": [
            {"line_item_id": line.line_item.line_item_id, "name": line.name, "quantity": line.quantity}
            for line in replacement.lines.all()
        ],
        "shipment_id": replacement.shipment_id,
        "carrier": shipment.carrier if shipment else "",
        "tracking_number": shipment.tracking_number if shipment else "",
        "return_id": replacement.return_request_id,
        "created_at": moment(replacement.created_at),
    }


def _lines(lines: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {
            "line_item_id": line.line_item.line_item_id,
            "name": line.name,
            "quantity": line.quantity,
            "reason": line.reason,
            "reason_text": line.get_reason_display(),
        }
        for line in lines
    ]


def names_in(lines: Iterable[QuoteLine]) -> dict[str, str]:
    """line_item_id to the name of what is there; units that were replaced by something else bring a second name."""
    names: dict[str, dict[str, None]] = {}
    for line in lines:
        names.setdefault(line.line_item.line_item_id, {})[line.name] = None
    return {line_item_id: " / ".join(found) for line_item_id, found in names.items()}


def _findings(lines: Iterable[ReturnLine]) -> list[dict[str, Any]]:
    return [
        {
            "line_item_id": line.line_item.line_item_id,
            "name": line.name,
            "found": finding.found,
            "found_text": finding.get_found_display(),
            "quantity": finding.quantity,
        }
        for line in lines
        for finding in line.findings.all()
    ]


def _steps(quote: RefundQuote, names: dict[str, str]) -> list[dict[str, Any]]:
    words = step_lines(quote.steps, quote.currency, names)
    return [
        {**step, "text": said["text"], "display": said["display"]}
        for step, said in zip(quote.steps, words, strict=True)
    ]


def _allocated(refund: Refund) -> list[dict[str, Any]]:
    return [_part(refund, part) for part in refund.allocations.all()]


def _part(refund: Refund, part: RefundAllocation) -> dict[str, Any]:
    """`by`: what a person has paid did not go to the payment that it is held against. `state`: only if it is paid."""
    share = _share(part.payment, part.amount, refund.currency)
    number = number_by_hand(refund, part)
    told = {"by": "hand", "label": paid_by_hand(number)} if number else {}
    return {**share, **told, "state": None if refund.state in NOT_TO_BE_SENT else part.state}


def _expected(quote: RefundQuote) -> list[dict[str, Any]]:
    """Where the money of an open quote would go as things stand; nothing for one that will not be redeemed any more."""
    if quote.state not in {QuoteState.OPEN, QuoteState.REDEEMED}:
        return []
    try:
        promise = getattr(quote, "return_request", None)
        shares = share_out(quote.order, quote.amount, quote.policy, without=promise, only_shown=True)
    except (AllocationError, Refusal):
        return []
    return [_share(payment, amount, quote.currency) for payment, amount in shares]


def _share(payment: Payment, amount: int, currency: str) -> dict[str, Any]:
    return {
        "method": payment.method,
        "last4": payment.last4,
        "by": "machine",
        "label": payment_label(payment.method, payment.last4),
        "amount": amount,
        "display": format_money(amount, currency),
    }


def _instructions(request: Return) -> str:
    """What the customer has to do now."""
    if request.state != ReturnState.REQUESTED:
        return ""
    if request.order.shipping_method in PICKUP_METHODS:
        send_back = _("Pack the goods, write %(number)s on the parcel and hand it in at the pick-up store.")
    elif settings.RETURN_ADDRESS:
        send_back = _("Pack the goods, write %(number)s on the parcel and send it to: %(address)s.")
    else:
        send_back = _("Pack the goods, write %(number)s on the parcel and send it back to the shop.")
    if request.kind == ReturnKind.EXCHANGE:
        afterwards = _("The replacement is sent once they have arrived and been looked at.")
    else:
        afterwards = _("The refund is made once they have arrived and been looked at.")
    return sentences(
        send_back % {"number": _number_on_the_parcel(request), "address": settings.RETURN_ADDRESS}, afterwards
    )


def _number_on_the_parcel(request: Return) -> str:
    words = {"number": request.pk}
    if request.kind == ReturnKind.EXCHANGE:
        return _("the exchange number %(number)s") % words
    return _("the return number %(number)s") % words
