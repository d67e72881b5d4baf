"""A payment gateway with a ledger of its own (`SimulatedRefund`) and switches for everything that goes wrong.

It stands for a machine of somebody else: it has its own transactions, it remembers idempotency keys for good, it never
pays back more than the charge, it refuses what it was told it cannot do, and when it is told to be slow it really is.
"""

import time
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from orders import ids
from orders.models import Payment
from refunds.gateways.base import (
    Capabilities,
    Charge,
    ChargeState,
    GatewayAnswer,
    GatewayRefused,
    GatewayTimeout,
    ProviderRefund,
)
from refunds.models import SimulatedAcquirer, SimulatedCharge, SimulatedFault, SimulatedRefund
from refunds.states import AttemptKind, FaultKind


def abilities() -> Capabilities:
    """What its one row says (`manage.py gateway_abilities`); without a row, everything."""
    row = SimulatedAcquirer.objects.first()
    if row is None:
        return Capabilities()
    return Capabilities(
        partial_refunds=row.partial_refunds,
        refund_before_closing=row.refund_before_closing,
        void_before_closing=row.void_before_closing,
        closing_hour=row.closing_hour,
        window_days=row.window_days,
        refunds_per_day=row.refunds_per_day,
    )


class SimulatedGateway:
    """A charge is known by our payment's id."""

    # It pays during the call or not at all.
    nothing_known_is_final_after = timedelta(seconds=30)

    def refund(self, *, charge: Charge, amount: int, idempotency_key: str) -> GatewayAnswer:
        return _with_faults(charge, amount, idempotency_key, AttemptKind.REFUND)

    def void(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer:
        return _with_faults(charge, charge.amount, idempotency_key, AttemptKind.VOID)

    def find(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | None:
        _answer_at_all(charge.payment_id)
        known = SimulatedRefund.objects.filter(idempotency_key=idempotency_key).first()
        return _answer(known) if known else None

    def list_refunds(self, *, since: datetime, until: datetime) -> Iterable[ProviderRefund]:
        _answer_at_all("")
        return _lines(SimulatedRefund.objects.filter(created_at__gte=since, created_at__lt=until))

    def refunds_of(self, *, charge: Charge) -> Iterable[ProviderRefund]:
        _answer_at_all(charge.payment_id)
        return _lines(SimulatedRefund.objects.filter(charge_ref=charge.payment_id))

    def charge_state(self, *, charge: Charge) -> ChargeState:
        _answer_at_all(charge.payment_id)
        known = SimulatedCharge.objects.filter(charge_ref=charge.payment_id).first()
        state: ChargeState = known.state if known else "succeeded"  # type: ignore[assignment]
        return state


def _answer_at_all(charge_ref: str) -> None:
    """Raises GatewayTimeout while it is told to be down: other faults are those of paying."""
    if SimulatedFault.objects.filter(_concerns(charge_ref), kind=FaultKind.DOWN).exists():
        fault = take_fault(charge_ref, kind=FaultKind.DOWN)
        if fault:
            time.sleep(min(fault.seconds, settings.GATEWAY_TIMEOUT_SECONDS))
            raise GatewayTimeout


def _with_faults(charge: Charge, amount: int, idempotency_key: str, call: AttemptKind) -> GatewayAnswer:
    fault = take_fault(charge.payment_id)
    kind = fault.kind if fault else None
    patience = settings.GATEWAY_TIMEOUT_SECONDS
    if fault and kind != FaultKind.REFUSE:
        time.sleep(min(fault.seconds, patience))
    if kind == FaultKind.REFUSE and not SimulatedRefund.objects.filter(idempotency_key=idempotency_key).exists():
        raise GatewayRefused("declined_by_issuer", "The card's issuer refuses the refund.")
    if kind in {FaultKind.TIMEOUT_BEFORE, FaultKind.DOWN}:
        raise GatewayTimeout
    answer = _pay(charge, amount, idempotency_key, call)
    if kind == FaultKind.TIMEOUT_AFTER or (fault and kind == FaultKind.SLOW and fault.seconds >= patience):
        raise GatewayTimeout
    return answer


def _concerns(charge_ref: str) -> Q:
    return Q(remaining__gt=0) & (Q(charge_ref="") | Q(charge_ref=charge_ref))


@transaction.atomic
def take_fault(charge_ref: str, kind: FaultKind | None = None) -> SimulatedFault | None:
    """Use up one of the switched-on faults (of one kind) that concern this charge."""
    concerning = SimulatedFault.objects.filter(_concerns(charge_ref), **({"kind": kind} if kind else {}))
    fault = concerning.select_for_update().order_by("pk").first()
    if fault:
        SimulatedFault.objects.filter(pk=fault.pk).update(remaining=F("remaining") - 1)
    return fault


@transaction.atomic
def _pay(charge: Charge, amount: int, idempotency_key: str, call: AttemptKind) -> GatewayAnswer:
    _lock_charge(charge.payment_id)
    known = SimulatedRefund.objects.filter(idempotency_key=idempotency_key).first()
    if known:
        _require_same(known, charge, amount)
        return _answer(known)
    charged = Payment.objects.filter(pk=charge.payment_id).select_related("order").first()
    if charged is None or charged.order.currency != charge.currency:
        raise GatewayRefused("no_such_charge", "There is no such charge in this currency.")
    paid = SimulatedRefund.objects.filter(charge_ref=charge.payment_id).aggregate(total=Sum("amount"))["total"] or 0
    if amount < 1 or paid + amount > charged.amount:
        raise GatewayRefused("amount_too_large", "The charge has less left than that.")
    _require_ability(charged, amount, call)
    return _answer(
        SimulatedRefund.objects.create(
            provider_refund_id=ids.new_id("sim"),
            idempotency_key=idempotency_key,
            charge_ref=charge.payment_id,
            amount=amount,
            currency=charge.currency,
        )
    )


def _require_ability(charged: Payment, amount: int, call: AttemptKind) -> None:
    """A real acquirer knows its own limits and does not rely on ours."""
    able, now = abilities(), timezone.localtime()
    captured = timezone.localtime(charged.captured_at)
    is_open = _is_open(captured, able.closing_hour, now)
    today = SimulatedRefund.objects.filter(
        charge_ref=charged.pk, created_at__gte=now.replace(hour=0, minute=0, second=0, microsecond=0)
    )
    limits = {
        "already_closed": call == AttemptKind.VOID and not (is_open and able.void_before_closing),
        "not_closed_yet": call == AttemptKind.REFUND and is_open and not able.refund_before_closing,
        "only_whole_charges": not able.partial_refunds and amount != charged.amount,
        "window_over": able.window_days is not None and (now.date() - captured.date()).days > able.window_days,
        "too_many_today": able.refunds_per_day is not None and today.count() >= able.refunds_per_day,
    }
    reached = next((code for code, is_reached in limits.items() if is_reached), None)
    if reached is not None:
        raise GatewayRefused(reached, "The acquirer cannot do that with this charge.")


def _is_open(captured: datetime, closing_hour: int | None, now: datetime) -> bool:
    if closing_hour is None:
        return False
    closing_day = captured.date() + timedelta(days=1 if captured.hour >= closing_hour else 0)
    return (now.date(), now.hour) < (closing_day, closing_hour)


def _lock_charge(charge_ref: str) -> None:
    """Two refunds of one charge wait for each other, so that together they never exceed it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"simulated:{charge_ref}"])


def _require_same(known: SimulatedRefund, charge: Charge, amount: int) -> None:
    if (known.charge_ref, known.amount, known.currency) != (charge.payment_id, amount, charge.currency):
        raise GatewayRefused("key_reused", "This idempotency key was used for another refund.")


def _answer(refund: SimulatedRefund) -> GatewayAnswer:
    return GatewayAnswer(refund.provider_refund_id, refund.amount, refund.currency)


def _lines(refunds: QuerySet[SimulatedRefund]) -> list[ProviderRefund]:
    return [
        ProviderRefund(
            provider_refund_id=refund.provider_refund_id,
            idempotency_key=refund.idempotency_key,
            charge_refs=(refund.charge_ref,),
            amount=refund.amount,
            currency=refund.currency,
            state="succeeded",
            created_at=refund.created_at,
        )
        for refund in refunds.order_by("created_at", "pk")
    ]
