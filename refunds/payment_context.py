"""How an order was paid and what went back, in one answer: our books, what the payment service says, what looks alike.

It shows what speaks for a charge made twice and judges nothing. Where the payment service does not answer, or is not
connected, that is said in place of an answer: silence is no "no". Providers are asked outside any transaction, and only
through the one question of `gateways/base.py` that a charge can be asked without holding its gateway.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import structlog
from django.db.models import Q, prefetch_related_objects

from orders.models import Order, Payment
from orders.moments import moment
from orders.money import format_money
from refunds.charges import BY_HAND, charge_of, provider_of
from refunds.gateways.base import LOOKUPS, ChargeAtProvider, GatewayRefused, GatewayTimeout, ProviderRefund
from refunds.models import GatewayAttempt, RefundAllocation
from refunds.present import payment_label

log = structlog.get_logger(__name__)
# Two charges further apart than this are hardly one press made twice.
NEAR: Final = timedelta(hours=72)
# So many payments that look alike are looked at more closely; the answer says when there are more.
MOST_ALIKE: Final = 10
_READ: Final = ("allocations__refund", "attempts")


@dataclass(frozen=True, slots=True)
class _Looked:
    """What the payment service said of a charge. `why`: not_asked (nobody can be), no_answer, not_connected."""

    found: ChargeAtProvider | None
    why: str = ""

    @property
    def is_blocked(self) -> bool:
        return self.why in {"no_answer", "not_connected"}


def payment_context(order: Order) -> dict[str, Any]:
    """Payments of the order with their refunds, and payments of the same customer that look like them."""
    own = list(order.payments.prefetch_related(*_READ).select_related("order"))
    alike = _alike(order, own)
    shown = alike[:MOST_ALIKE]
    looked = _look_up([*own, *shown])
    return {
        "order_number": order.number,
        "customer_id": order.customer.external_id,
        "placed_at": moment(order.placed_at),
        "currency": order.currency,
        "paid_amount": order.paid_amount,
        "paid_display": format_money(order.paid_amount, order.currency),
        "payments": [_payment(payment, looked[payment.pk]) for payment in own],
        "duplicate_charge_evidence": {
            **_check([*own, *shown], looked),
            "compared": {"same_customer": True, "same_amount": True, "same_method": True, "hours_apart_at_most": 72},
            "pairs": [_pair(one, other, looked) for one in own for other in shown if _look_alike(one, other)]
            + [_pair(one, other, looked) for one, other in _within(own)],
            "more_not_shown": len(alike) > MOST_ALIKE,
        },
    }


def _look_alike(one: Payment, other: Payment) -> bool:
    near = abs(one.captured_at - other.captured_at) <= NEAR
    return near and (one.amount, one.method) == (other.amount, other.method)


def _within(own: Sequence[Payment]) -> list[tuple[Payment, Payment]]:
    """Pairs of the order's own payments: an honest order may be paid in equal parts, and the sums tell."""
    return [(one, other) for place, one in enumerate(own) for other in own[place + 1 :] if _look_alike(one, other)]


def _alike(order: Order, own: Sequence[Payment]) -> list[Payment]:
    """Payments of the customer's other orders that look like one of these, the nearest in time first.

    There may be more of them than are looked at, and a charge made twice is the nearest of all.
    """
    like_one = Q(pk__in=[])
    for each in own:
        near = (each.captured_at - NEAR, each.captured_at + NEAR)
        like_one |= Q(amount=each.amount, method=each.method, captured_at__range=near)
    others = Payment.objects.filter(like_one, order__customer=order.customer_id, order__currency=order.currency)
    found = sorted(others.exclude(order=order).select_related("order"), key=lambda other: _distance(other, own))
    nearest = found[: MOST_ALIKE + 1]
    prefetch_related_objects(nearest, *_READ)
    return nearest


def _distance(other: Payment, own: Iterable[Payment]) -> tuple[timedelta, str]:
    """How far it is from the one of `own` that it looks most like."""
    apart = [abs(each.captured_at - other.captured_at) for each in own if _look_alike(each, other)]
    return min(apart), other.pk


def _look_up(payments: Iterable[Payment]) -> dict[str, _Looked]:
    """Each charge asked about once. A service that has not answered once is not asked again in the same look."""
    silent: set[str] = set()
    looked: dict[str, _Looked] = {}
    for payment in payments:
        provider = provider_of(payment)
        if payment.method in BY_HAND:
            looked[payment.pk] = _Looked(None, "not_asked")
        elif provider not in LOOKUPS:
            looked[payment.pk] = _Looked(None, "not_connected")
        elif provider in silent:
            looked[payment.pk] = _Looked(None, "no_answer")
        else:
            looked[payment.pk] = _ask(provider, payment)
            silent |= {provider} if looked[payment.pk].found is None else set()
    return looked


def _ask(provider: str, payment: Payment) -> _Looked:
    try:
        return _Looked(LOOKUPS[provider](charge_of(payment)))
    except (GatewayTimeout, GatewayRefused) as error:
        log.warning("payment_context.no_answer", provider=provider, payment=payment.pk, why=type(error).__name__)
        return _Looked(None, "no_answer")


def _check(payments: Iterable[Payment], looked: Mapping[str, _Looked]) -> dict[str, Any]:
    blocked = [payment.pk for payment in payments if looked[payment.pk].is_blocked]
    if not blocked:
        return {
            "check": "done",
            "note": "Every charge shown was looked up at its payment service. These are facts and no verdict: say what "
            "speaks for a charge made twice and what against it.",
        }
    return {
        "check": "check_blocked",
        "blocked_payments": blocked,
        "note": "The payment service did not answer for blocked_payments: whether their money came, and what was given "
        "back there, is not known. Say that the check was blocked and for which orders. Never say that there are no "
        "duplicates. It can be asked again later.",
    }


def _pair(one: Payment, other: Payment, looked: Mapping[str, _Looked]) -> dict[str, Any]:
    apart = abs(one.captured_at - other.captured_at)
    return {
        "payment_id": one.pk,
        "looks_like": _payment(other, looked[other.pk]),
        "same_order": one.order_id == other.order_id,
        "same_card": one.last4 == other.last4 if one.last4 and other.last4 else None,
        "minutes_apart": int(apart.total_seconds() // 60),
    }


def _payment(payment: Payment, looked: _Looked) -> dict[str, Any]:
    currency = payment.order.currency
    return {
        "payment_id": payment.pk,
        "order_number": payment.order.number,
        "method": payment.method,
        "last4": payment.last4,
        "label": payment_label(payment.method, payment.last4),
        "amount": payment.amount,
        "currency": currency,
        "display": format_money(payment.amount, currency),
        "captured_at": moment(payment.captured_at),
        "charge_state": looked.found.state if looked.found else looked.why,
        "given_back": payment.refunded_amount,
        "given_back_display": format_money(payment.refunded_amount, currency),
        "left": payment.left,
        "refunds": [_part(part, currency) for part in payment.allocations.all()],
        "refunds_only_at_provider": [_line(line) for line in _not_ours(payment, looked)],
    }


def _part(part: RefundAllocation, currency: str) -> dict[str, Any]:
    """What of a refund goes to this payment. `state` is the refund's, `part_state` this part's."""
    return {
        "refund_id": part.refund_id,
        "kind": part.refund.kind,
        "state": part.refund.state,
        "part_state": part.state,
        "amount": part.amount,
        "display": format_money(part.amount, currency),
        "created_at": moment(part.refund.created_at),
        "finished_at": moment(part.refund.finished_at),
    }


def _not_ours(payment: Payment, looked: _Looked) -> list[ProviderRefund]:
    """Refunds that the payment service has and our books have not: made at its own desk, for example."""
    if looked.found is None:
        return []
    attempts: list[GatewayAttempt] = list(payment.attempts.all())
    known = {attempt.provider_refund_id for attempt in attempts} | {attempt.idempotency_key for attempt in attempts}
    for part in payment.allocations.all():
        known |= {part.external_ref, part.refund.external_ref}
    known -= {None, ""}
    return [line for line in looked.found.refunds if not {line.provider_refund_id, line.idempotency_key} & known]


def _line(line: ProviderRefund) -> dict[str, Any]:
    return {
        "provider_refund_id": line.provider_refund_id,
        "amount": line.amount,
        "currency": line.currency,
        "state": line.state,
        "created_at": moment(line.created_at),
    }
