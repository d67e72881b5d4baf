"""Stripe's amounts and refunds in our terms, and back. Plain data: who asks Stripe is `gateways/stripe.py`.

Stripe counts TWD in hundredths and JPY in whole yen; here both are whole. It is converted in this module and nowhere
else. A sum that is no whole unit of ours (TWD must end in 00) is never rounded to one.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal

from orders.money import DECIMALS
from refunds.gateways.base import ChargeState, ProviderRefund

PROVIDER: Final = "stripe"
# In the refund's metadata: the key under which we asked for it.
KEY: Final = "idempotency_key"
# How many decimals Stripe counts with, for the currencies of `orders.money`.
STRIPE_DECIMALS: Final[Mapping[str, int]] = {"TWD": 2, "USD": 2, "CNY": 2, "JPY": 0, "EUR": 2, "HKD": 2}
STATES: Final[Mapping[str, Literal["succeeded", "pending", "failed"]]] = {
    "succeeded": "succeeded",
    "pending": "pending",
    "requires_action": "pending",
    "failed": "failed",
    "canceled": "failed",
}


def to_stripe(amount: int, currency: str) -> int:
    """Raises KeyError for a currency that this table does not hold."""
    return amount * _factor(currency)


def from_stripe(amount: int, currency: str) -> tuple[int, str]:
    """Our amount and currency. What is no whole unit of ours stays as it is, in a currency that equals none of ours."""
    code = currency.upper()
    if code not in STRIPE_DECIMALS:
        return amount, f"{code}?"
    whole, rest = divmod(amount, _factor(code))
    return (whole, code) if rest == 0 else (amount, f"{code}/{_factor(code)}")


def in_parts(amount: int, currency: str) -> tuple[int, str]:
    """An amount of `from_stripe` or of our books in Stripe's own unit, where all of one currency can be compared."""
    code, _slash, parts = currency.partition("/")
    return (amount, code) if parts or code not in STRIPE_DECIMALS else (amount * _factor(code), code)


def _factor(currency: str) -> int:
    return int(10 ** (STRIPE_DECIMALS[currency] - DECIMALS[currency]))


def refund_line(refund: Mapping[str, Any]) -> ProviderRefund:
    """One refund object of Stripe's. A status that is not known yet counts as pending: neither paid nor refused."""
    amount, currency = from_stripe(refund["amount"], refund["currency"])
    metadata = refund.get("metadata") or {}
    status = refund.get("status") or "pending"
    return ProviderRefund(
        provider_refund_id=refund["id"],
        idempotency_key=str(metadata.get(KEY) or ""),
        charge_refs=charge_refs(refund.get("charge"), refund.get("payment_intent")),
        amount=amount,
        currency=currency,
        state=STATES.get(status, "pending"),
        created_at=datetime.fromtimestamp(refund["created"], UTC),
        reason=str(refund.get("failure_reason") or (status if STATES.get(status) == "failed" else "")),
    )


def charge_state(charge: Mapping[str, Any]) -> ChargeState:
    """Whether the money of one charge object of Stripe's has come. What was not captured yet is awaited."""
    if charge.get("status") == "failed":
        return "failed"
    return "succeeded" if charge.get("status") == "succeeded" and charge.get("captured", True) else "pending"


def charge_refs(*found: Any) -> tuple[str, ...]:
    """Ids of a charge and of its payment intent; each may be given as an id or as the whole object."""
    ids = (each.get("id") if isinstance(each, Mapping) else each for each in found)
    return tuple(str(each) for each in ids if each)
