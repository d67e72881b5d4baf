"""Splits an amount over an order's payments, in the order that the policy names.

Pure. Used when somebody asks, when a quote is shown and when a refund is made; the reasons are in docs/money.md,
section "Allocation".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

OTHERS = "*"


class AllocationError(ValueError):
    """The payments cannot give back what is asked of them, or are described wrongly."""


@dataclass(frozen=True, slots=True)
class PaymentLeft:
    """What a payment can still give back, in smallest units; `captured_order` ranks payments of the same method."""

    payment_id: str
    method: str
    left: int
    captured_order: int


def allocate(*, amount: int, payments: Sequence[PaymentLeft], tender_order: Sequence[str]) -> list[tuple[str, int]]:
    """`[(payment_id, amount)]`: every amount positive, none above what its payment has left, summing to `amount`.

    tender_order lists methods, with "*" for all it does not name: `["card", "*", "store_credit"]`. Without a "*" those
    come last. An amount of 0 needs no payment: []. Raises AllocationError if the payments have less left than `amount`.
    """
    _check(amount, payments)
    shares = []
    for payment in sorted(payments, key=lambda payment: (_rank(payment.method, tender_order), payment.captured_order)):
        share = min(amount, payment.left)
        if share:
            shares.append((payment.payment_id, share))
            amount -= share
    return shares


def set_aside(*, amount: int, payments: Sequence[PaymentLeft], tender_order: Sequence[str]) -> list[PaymentLeft]:
    """The payments without what `amount`, promised to others, will take from them; all of it if it takes more."""
    taken = min(amount, sum(payment.left for payment in payments))
    promised = dict(allocate(amount=taken, payments=payments, tender_order=tender_order))
    return [replace(payment, left=payment.left - promised.get(payment.payment_id, 0)) for payment in payments]


def _rank(method: str, tender_order: Sequence[str]) -> int:
    names = [*tender_order, OTHERS]
    return names.index(method if method in tender_order else OTHERS)


def _check(amount: int, payments: Sequence[PaymentLeft]) -> None:
    for name, value in (("amount", amount), *((payment.payment_id, payment.left) for payment in payments)):
        if type(value) is not int or value < 0:
            raise AllocationError(f"{name}: must be a whole number of at least 0, not {value!r}")
    if len({payment.payment_id for payment in payments}) < len(payments):
        raise AllocationError("payments: the same payment appears twice")
    left = sum(payment.left for payment in payments)
    if amount > left:
        raise AllocationError(f"amount: {amount} is more than the {left} that the payments have left")
