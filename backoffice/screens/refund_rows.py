"""Refunds as staff see them: what was paid and what was refused, and where else the money could go."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from orders.models import Payment
from orders.money import format_money
from refunds import selectors
from refunds.models import Refund
from refunds.settling import BY_HAND
from refunds.states import AllocationState, RefundState


@dataclass(frozen=True, slots=True)
class RefundRow:
    """`problem` says what has to be looked at, or is empty; `others` are payments that could take what was refused."""

    refund: Refund
    problem: str
    others: list[Payment]

    @property
    def can_be_sent_again(self) -> bool:
        return self.refund.state == RefundState.FAILED


def needing_a_look() -> QuerySet[Refund]:
    """The refunds that wait for a person, with everything that a row shows."""
    return with_attempts(selectors.failed_refunds()).select_related("order__customer")


def with_attempts(refunds: QuerySet[Refund]) -> QuerySet[Refund]:
    return refunds.prefetch_related("allocations__attempts", "order__payments")


def rows_of(refunds: Iterable[Refund]) -> list[RefundRow]:
    return [_row(refund) for refund in refunds]


def _row(refund: Refund) -> RefundRow:
    refused = _sum_of(refund, AllocationState.FAILED)
    others = _others(refund, refused) if refund.state == RefundState.FAILED else []
    return RefundRow(refund, _problem(refund, refused), others)


def _sum_of(refund: Refund, state: AllocationState) -> int:
    return sum(part.amount for part in refund.allocations.all() if part.state == state)


def _problem(refund: Refund, refused: int) -> str:
    if refund.state == RefundState.UNKNOWN:
        return _("No answer from the provider. It is being asked; do not pay by other means before it is clear.")
    if refund.state != RefundState.FAILED:
        return ""
    paid = _sum_of(refund, AllocationState.SUCCEEDED)
    words = {"refused": format_money(refused, refund.currency), "paid": format_money(paid, refund.currency)}
    if paid:
        return _("The provider has refused %(refused)s. The other %(paid)s are paid.") % words
    return _("The provider has refused %(refused)s. Nothing of it is paid.") % words


def _others(refund: Refund, refused: int) -> list[Payment]:
    """As `refunds.retry` allows it: another payment that a machine can refund, with enough left, not used here yet."""
    used = {part.payment_id for part in refund.allocations.all()}
    return [
        payment
        for payment in refund.order.payments.all()
        if payment.pk not in used and payment.method not in BY_HAND and payment.left >= refused
    ]
