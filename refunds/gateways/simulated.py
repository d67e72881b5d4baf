"""A payment gateway with a ledger of its own (`SimulatedRefund`) and switches for everything that goes wrong.

It stands for a machine of somebody else: it has its own transactions, it remembers idempotency keys for good, it never
pays back more than the charge, and when it is told to be slow it really is.
"""

import time
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, Sum

from orders import ids
from orders.models import Payment
from refunds.gateways.base import GatewayAnswer, GatewayRefused, GatewayTimeout
from refunds.models import SimulatedFault, SimulatedRefund
from refunds.states import FaultKind


class SimulatedGateway:
    """A charge is known by our payment's id."""

    # It pays during the call or not at all.
    nothing_known_is_final_after = timedelta(seconds=30)

    def refund(self, *, charge_ref: str, amount: int, currency: str, idempotency_key: str) -> GatewayAnswer:
        fault = take_fault(charge_ref)
        kind = fault.kind if fault else None
        patience = settings.GATEWAY_TIMEOUT_SECONDS
        if fault and kind != FaultKind.REFUSE:
            time.sleep(min(fault.seconds, patience))
        if kind == FaultKind.REFUSE and self.find(idempotency_key) is None:
            raise GatewayRefused("declined_by_issuer", "The card's issuer refuses the refund.")
        if kind == FaultKind.TIMEOUT_BEFORE:
            raise GatewayTimeout
        answer = _pay(charge_ref, amount, currency, idempotency_key)
        if kind == FaultKind.TIMEOUT_AFTER or (fault and kind == FaultKind.SLOW and fault.seconds >= patience):
            raise GatewayTimeout
        return answer

    def find(self, idempotency_key: str) -> GatewayAnswer | None:
        known = SimulatedRefund.objects.filter(idempotency_key=idempotency_key).first()
        return _answer(known) if known else None


@transaction.atomic
def take_fault(charge_ref: str) -> SimulatedFault | None:
    """Use up one of the switched-on faults that concern this charge."""
    concerning = SimulatedFault.objects.filter(Q(charge_ref="") | Q(charge_ref=charge_ref), remaining__gt=0)
    fault = concerning.select_for_update().order_by("pk").first()
    if fault:
        SimulatedFault.objects.filter(pk=fault.pk).update(remaining=F("remaining") - 1)
    return fault


@transaction.atomic
def _pay(charge_ref: str, amount: int, currency: str, idempotency_key: str) -> GatewayAnswer:
    _lock_charge(charge_ref)
    known = SimulatedRefund.objects.filter(idempotency_key=idempotency_key).first()
    if known:
        _require_same(known, charge_ref, amount, currency)
        return _answer(known)
    charge = Payment.objects.filter(pk=charge_ref).select_related("order").first()
    if charge is None or charge.order.currency != currency:
        raise GatewayRefused("no_such_charge", "There is no such charge in this currency.")
    paid = SimulatedRefund.objects.filter(charge_ref=charge_ref).aggregate(total=Sum("amount"))["total"] or 0
    if amount < 1 or paid + amount > charge.amount:
        raise GatewayRefused("amount_too_large", "The charge has less left than that.")
    return _answer(
        SimulatedRefund.objects.create(
            provider_refund_id=ids.new_id("sim"),
            idempotency_key=idempotency_key,
            charge_ref=charge_ref,
            amount=amount,
            currency=currency,
        )
    )


def _lock_charge(charge_ref: str) -> None:
    """Two refunds of one charge wait for each other, so that together they never exceed it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"simulated:{charge_ref}"])


def _require_same(known: SimulatedRefund, charge_ref: str, amount: int, currency: str) -> None:
    if (known.charge_ref, known.amount, known.currency) != (charge_ref, amount, currency):
        raise GatewayRefused("key_reused", "This idempotency key was used for another refund.")


def _answer(refund: SimulatedRefund) -> GatewayAnswer:
    return GatewayAnswer(refund.provider_refund_id, refund.amount, refund.currency)
