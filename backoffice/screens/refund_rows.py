"""Refunds as staff see them: what was paid, what was refused, and what a person can do about it."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from orders.models import Payment
from orders.money import format_money
from refunds import selectors
from refunds.attention import number_by_hand
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.settling import by_machine
from refunds.states import MAY_HAVE_FAILED, NOT_TO_BE_SENT, RELEASED, AllocationState, AttemptOutcome, RefundState


@dataclass(frozen=True, slots=True)
class RefundRow:
    """`problem` says what has to be looked at, or is empty; `others` are payments that could take what was refused.

    `paid_by_hand`: numbers under which a person has paid what the provider reports to have paid as well.
    `let_go`: nothing of it is paid any more, and how its parts had stood says nothing.
    """

    refund: Refund
    problem: str
    can_be_sent_again: bool
    others: list[Payment]
    has_to_be_settled: bool
    paid_by_hand: str
    may_have_failed: bool
    has_to_be_assigned: bool
    let_go: bool


def needing_a_look() -> QuerySet[Refund]:
    """The refunds that wait for a person, with everything that a row shows."""
    return with_attempts(selectors.needs_a_look()).select_related("order__customer")


def with_attempts(refunds: QuerySet[Refund]) -> QuerySet[Refund]:
    """With everything that a row shows; `refunds` comes with order and quote."""
    shown = ("allocations__attempts", "order__payments", "quote__lines__line_item")
    return refunds.select_related("decided_by").prefetch_related(*shown)


def rows_of(refunds: Iterable[Refund]) -> list[RefundRow]:
    return [_row(refund) for refund in refunds]


def _row(refund: Refund) -> RefundRow:
    parts = list(refund.allocations.all())
    troubled = [attempt for part in parts for attempt in part.attempts.all() if attempt.trouble]
    unsettled = [attempt for attempt in troubled if attempt.settled_at is None]
    refused = [part for part in parts if _is_refused(part)]
    sendable = bool(refused) and refund.state not in NOT_TO_BE_SENT
    return RefundRow(
        refund=refund,
        problem=_trouble(unsettled) or _problem(refund, parts),
        can_be_sent_again=sendable,
        others=_others(refund, _sum(refused)) if sendable else [],
        has_to_be_settled=bool(unsettled),
        paid_by_hand=_by_hand(parts),
        may_have_failed=any(attempt.trouble in MAY_HAVE_FAILED for attempt in unsettled),
        has_to_be_assigned=refund.needs_assignment,
        let_go=refund.state in RELEASED,
    )


def _is_refused(part: RefundAllocation) -> bool:
    """As `refunds.retry` sees it: refused, and no attempt of it is reported to have paid."""
    plain = all(not each.trouble and each.outcome == AttemptOutcome.REFUSED for each in part.attempts.all())
    return part.state == AllocationState.FAILED and plain


def _by_hand(parts: Iterable[RefundAllocation]) -> str:
    """Of the parts of which an attempt has to be settled."""
    unsettled = [(each, part) for part in parts for each in part.attempts.all() if each.trouble and not each.settled_at]
    return ", ".join(dict.fromkeys(filter(None, [number_by_hand(attempt, part) for attempt, part in unsettled])))


def _sum(parts: Iterable[RefundAllocation]) -> int:
    return sum(part.amount for part in parts)


def _in(parts: Iterable[RefundAllocation], state: AllocationState) -> int:
    return _sum(part for part in parts if part.state == state)


def _trouble(attempts: list[GatewayAttempt]) -> str:
    if not attempts:
        return ""
    said = ", ".join(sorted({str(attempt.get_trouble_display()) for attempt in attempts}))
    return _("The provider reports: %(trouble)s. Settle it with the provider before anything else is paid.") % {
        "trouble": said
    }


def _problem(refund: Refund, parts: list[RefundAllocation]) -> str:
    refused, paid = _in(parts, AllocationState.FAILED), _in(parts, AllocationState.SUCCEEDED)
    if not refused and refund.state == RefundState.UNKNOWN:
        return _("No answer from the provider. It is being asked; do not pay by other means before it is clear.")
    if not refused or refund.state in RELEASED:
        return ""
    rest = refund.amount - refused - paid
    named = {"refused": refused, "paid": paid, "rest": rest}
    words = {name: format_money(amount, refund.currency) for name, amount in named.items()}
    if rest:
        return (
            _("The provider has refused %(refused)s. %(rest)s are on their way or being checked: leave those alone.")
            % words
        )
    if paid:
        return _("The provider has refused %(refused)s. The other %(paid)s are paid.") % words
    return _("The provider has refused %(refused)s. Nothing of it is paid.") % words


def _others(refund: Refund, refused: int) -> list[Payment]:
    """As `refunds.retry` allows it: another payment that a machine can refund, with enough left, not used here yet."""
    used = {part.payment_id for part in refund.allocations.all()}
    return [
        payment
        for payment in refund.order.payments.all()
        if payment.pk not in used and by_machine(payment) and payment.left >= refused
    ]
