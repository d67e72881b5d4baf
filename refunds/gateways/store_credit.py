"""Store credit as a gateway: the ledger of `orders.store_credit`, asked and told like anybody else's machine.

The entry's reference is the idempotency key, which is unique there: the same key twice, even at once, credits once.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import QuerySet

from orders import store_credit
from orders.actors import system_actor
from orders.errors import Refusal
from orders.models import Payment, StoreCreditEntry
from orders.states import CreditKind
from refunds.gateways.base import Capabilities, Charge, ChargeState, GatewayAnswer, GatewayRefused, ProviderRefund


def abilities() -> Capabilities:
    return Capabilities()


class StoreCreditGateway:
    # The entry is written during the call or not at all.
    nothing_known_is_final_after = timedelta(seconds=30)

    def refund(self, *, charge: Charge, amount: int, idempotency_key: str) -> GatewayAnswer:
        payment = Payment.objects.select_related("order__customer").get(pk=charge.payment_id)
        try:
            entry = store_credit.post(
                customer=payment.order.customer,
                currency=charge.currency,
                amount=amount,
                kind=CreditKind.REFUNDED,
                reference=idempotency_key,
                order=payment.order,
                actor=system_actor("payments"),
            )
        except Refusal as refusal:
            raise GatewayRefused(refusal.code, refusal.message) from refusal
        return _answer(entry)

    def void(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer:
        return self.refund(charge=charge, amount=charge.amount, idempotency_key=idempotency_key)

    def find(self, *, charge: Charge, idempotency_key: str) -> GatewayAnswer | None:
        entry = _refunds().filter(reference=idempotency_key).first()
        return _answer(entry) if entry else None

    def list_refunds(self, *, since: datetime, until: datetime) -> Iterable[ProviderRefund]:
        return [_line(entry) for entry in _refunds().filter(created_at__gte=since, created_at__lt=until)]

    def refunds_of(self, *, charge: Charge) -> Iterable[ProviderRefund]:
        entries = _refunds().filter(order__payments=charge.payment_id)
        return [_line(entry) for entry in entries]

    def charge_state(self, *, charge: Charge) -> ChargeState:
        """It was taken off the ledger when the order was placed."""
        return "succeeded"


def _refunds() -> QuerySet[StoreCreditEntry]:
    return StoreCreditEntry.objects.filter(kind=CreditKind.REFUNDED).select_related("account").order_by("pk")


def _answer(entry: StoreCreditEntry) -> GatewayAnswer:
    return GatewayAnswer(_number(entry), entry.amount, entry.account.currency)


def _number(entry: StoreCreditEntry) -> str:
    return f"credit-{entry.pk}"


def _line(entry: StoreCreditEntry) -> ProviderRefund:
    return ProviderRefund(
        provider_refund_id=_number(entry),
        idempotency_key=entry.reference,
        charge_refs=(),
        amount=entry.amount,
        currency=entry.account.currency,
        state="succeeded",
        created_at=entry.created_at,
    )
