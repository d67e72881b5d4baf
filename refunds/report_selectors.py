"""Numbers about money for the reports: each from its own query, over an index, within the days that are asked for.

What a number means in words stands on the page (`backoffice/screens/report_tables.py`); it says what is said here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from django.db.models import Case, CharField, Count, F, Min, OuterRef, QuerySet, Subquery, Sum, Value, When
from django.utils import timezone

from orders.periods import Period, Spread, local_day, spread
from refunds.models import Approval, QuoteLine, Refund
from refunds.states import ApprovalState, RefundKind, RefundState

# A refund of goods that left for different reasons: its amount cannot be told apart among them.
SEVERAL_REASONS: Final = "several"
# One that has no lines: compensation, and what was made elsewhere and nobody has said for which goods.
BY_KIND: Final = (RefundKind.COMPENSATION, RefundKind.ELSEWHERE)


@dataclass(frozen=True, slots=True)
class Total:
    """How many refunds, and what they come to in the smallest unit of their currency."""

    count: int = 0
    amount: int = 0

    def __add__(self, other: "Total") -> "Total":
        return Total(self.count + other.count, self.amount + other.amount)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Questions that wait for a second person now, and since when the oldest does."""

    count: int
    oldest: datetime | None


def paid_back(period: Period) -> QuerySet[Refund]:
    """Refunds whose money was back in the period, of every kind."""
    return Refund.objects.filter(state=RefundState.SUCCEEDED, **period.within("finished_at")).order_by()


def by_day(period: Period) -> dict[str, dict[date, Total]]:
    """Refunds whose money was back, by currency and day; days without any are left out."""
    rows = paid_back(period).values("currency", day=local_day("finished_at"))
    found: dict[str, dict[date, Total]] = {}
    for row in rows.annotate(count=Count("pk"), sum=Sum("amount")):
        found.setdefault(row["currency"], {})[row["day"]] = Total(row["count"], row["sum"])
    return found


def by_reason(period: Period, currency: str) -> Mapping[str, Total]:
    """The same of one currency by reason: one of `Reason`, `SEVERAL_REASONS`, or a kind of `BY_KIND`."""
    reasons = QuoteLine.objects.filter(quote=OuterRef("quote"))
    first = Subquery(reasons.order_by("reason").values("reason")[:1])
    last = Subquery(reasons.order_by("-reason").values("reason")[:1])
    rows = paid_back(period).filter(currency=currency).annotate(first=first, last=last)
    reason: Case = Case(
        When(first__isnull=True, then=F("kind")),
        When(first=F("last"), then=F("first")),
        default=Value(SEVERAL_REASONS),
        output_field=CharField(),
    )
    found = rows.values(reason=reason).annotate(count=Count("pk"), sum=Sum("amount")).order_by("-sum")
    return {row["reason"]: Total(row["count"], row["sum"]) for row in found}


def time_to_money_back(period: Period) -> Spread:
    """From the confirmation of a refund until its money was back; what was made elsewhere does not count.

    A return's refund is confirmed when its goods are accepted.
    """
    rows = paid_back(period).exclude(kind=RefundKind.ELSEWHERE)
    return spread(rows, F("finished_at") - F("created_at"))


def approvals_waiting() -> Waiting:
    found: dict[str, Any] = Approval.objects.filter(state=ApprovalState.WAITING).aggregate(
        count=Count("pk"), oldest=Min("created_at")
    )
    return Waiting(**found)


def approvals_of_age(ages: Mapping[str, tuple[float, float]]) -> dict[str, int]:
    """How many wait now, by hours since they were asked: name to (at least, less than)."""
    now = timezone.now()
    waiting = Approval.objects.filter(state=ApprovalState.WAITING).values_list("created_at", flat=True)
    hours = [(now - asked).total_seconds() / 3600 for asked in waiting[:MOST_WAITING]]
    return {name: sum(1 for age in hours if low <= age < high) for name, (low, high) in ages.items()}


# More questions than these have never been read one by one.
MOST_WAITING: Final = 5000


def time_to_decide(period: Period) -> Spread:
    """From the question to a second person until the answer, of what was asked in the period and answered since."""
    answered = [ApprovalState.APPROVED, ApprovalState.REJECTED]
    rows = Approval.objects.filter(state__in=answered, **period.within("created_at"))
    return spread(rows, F("decided_at") - F("created_at"))
