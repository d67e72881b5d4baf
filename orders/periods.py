"""What reports of all apps share: spans of whole days in the shop's zone, and how long something usually takes."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from django.db.models import Aggregate, Count, DateField, DurationField, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

MIDDLE: Final = 0.5
SLOW: Final = 0.9


@dataclass(frozen=True, slots=True)
class Period:
    """From the first day to the last, both whole and both in it."""

    first: date
    last: date

    @property
    def since(self) -> datetime:
        return timezone.make_aware(datetime.combine(self.first, time()))

    @property
    def until(self) -> datetime:
        """The midnight after the last day: not in it any more."""
        return timezone.make_aware(datetime.combine(self.last + timedelta(days=1), time()))

    @property
    def days(self) -> list[date]:
        return [self.first + timedelta(days=count) for count in range(len(self))]

    def __len__(self) -> int:
        return (self.last - self.first).days + 1

    def before(self) -> "Period":
        """As many days, right before."""
        return Period(self.first - timedelta(days=len(self)), self.first - timedelta(days=1))

    def within(self, field: str) -> dict[str, datetime]:
        """As a filter on a moment: `rows.filter(**period.within("created_at"))`."""
        return {f"{field}__gte": self.since, f"{field}__lt": self.until}


@dataclass(frozen=True, slots=True)
class Spread:
    """How long something took, `count` times: half of them at most `middle`, nine of ten at most `slow`."""

    count: int
    middle: timedelta | None
    slow: timedelta | None


class Percentile(Aggregate):
    """The value that this share of the rows does not exceed, between two rows in proportion."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = DurationField()

    def __init__(self, expression: Any, share: float, **extra: Any) -> None:
        super().__init__(expression, share=share, **extra)


def spread(rows: QuerySet[Any], duration: Any) -> Spread:
    """Of an expression that is a span of time. Rows where it is not known (null) do not count."""
    known = rows.order_by().annotate(took=duration).filter(took__isnull=False)
    found = known.aggregate(count=Count("took"), middle=Percentile("took", MIDDLE), slow=Percentile("took", SLOW))
    return Spread(**found)


def local_day(field: str) -> TruncDate:
    """The day of a moment in the shop's zone."""
    return TruncDate(field, output_field=DateField())
