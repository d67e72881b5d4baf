"""A payment as its gateway sees it: who pays it back, and whether and when a machine can.

For whoever asks, quotes or sends. Nothing here gets hold of a gateway.
"""

from datetime import datetime
from typing import Final

from django.db.models import Case, F, Value, When
from django.utils import timezone

from orders.models import Payment
from orders.states import PaymentMethod
from refunds.gateways.base import CONNECTED, Charge
from refunds.gateways.plan import Step, Wanted, plan
from refunds.models import GatewayAttempt
from refunds.states import AttemptOutcome

# Payments that no gateway holds: a person has to pay these back.
BY_HAND: Final = frozenset({PaymentMethod.CASH_ON_DELIVERY})
# Store credit is a ledger of our own, whatever name its provider was taken in with.
STORE_CREDIT: Final = "store_credit"


def provider_of(payment: Payment) -> str:
    """Whose gateway pays back to it: store credit always goes to our own ledger."""
    return STORE_CREDIT if payment.method == PaymentMethod.STORE_CREDIT else payment.provider


def provider_name() -> Case:
    """`provider_of` as an expression, for allocations."""
    is_ours = When(payment__method=PaymentMethod.STORE_CREDIT, then=Value(STORE_CREDIT))
    return Case(is_ours, default=F("payment__provider"))


def by_machine(payment: Payment) -> bool:
    """Whether a gateway that is connected here pays back to it: taking in an order accepts any provider."""
    return payment.method not in BY_HAND and provider_of(payment) in CONNECTED


def charge_of(payment: Payment) -> Charge:
    """Without a charge number of the provider's, the shop's payment number is what the provider knows it by."""
    return Charge(
        payment_id=payment.pk,
        provider_ref=payment.provider_ref or payment.external_id,
        amount=payment.amount,
        currency=payment.order.currency,
        captured_at=payment.captured_at,
    )


def step_for(payment: Payment, amount: int, *, held: bool, now: datetime) -> Step:
    """What can be done now to give `amount` back to a payment whose gateway is connected.

    `held`: the payment counts the amount as given back already (a refund that is being sent); else somebody asks.
    """
    able = CONNECTED[provider_of(payment)]()
    given_back = payment.refunded_amount - amount if held else payment.refunded_amount
    today = _made_on_the_day_of(payment, now) if able.refunds_per_day is not None else 0
    wanted = Wanted(amount, payment.amount, payment.captured_at, given_back, today)
    return plan(wanted, able, timezone.localtime(now))


def _made_on_the_day_of(payment: Payment, now: datetime) -> int:
    """Calls of that day (shop's zone) that have paid or may have."""
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    attempts = GatewayAttempt.objects.filter(payment=payment, started_at__gte=midnight, started_at__lte=now)
    return attempts.exclude(outcome=AttemptOutcome.REFUSED).count()
