"""Which days a report is about, as its address says it: `?days=30`, or `?from=2026-11-01&to=2026-11-30`."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from django.http import QueryDict
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from orders.periods import Period

USUAL: Final = (7, 30, 90)
DEFAULT: Final = 30
# A report over more days than these would no longer answer at once.
LONGEST: Final = 366
FIRST_YEAR: Final = 2000


@dataclass(frozen=True, slots=True)
class Asked:
    """`days` is 0 where two days were given. `wrong` says why what the address asks for was not taken."""

    period: Period
    days: int
    currency: str
    wrong: str = ""

    def address(self, **changed: str) -> str:
        """The query of the same report with these changes."""
        ends = {"from": self.period.first.isoformat(), "to": self.period.last.isoformat()}
        days = {"days": str(self.days)} if self.days else ends
        asked = {**days, "currency": self.currency, **changed}
        return urlencode({name: value for name, value in asked.items() if value})


def read(query: QueryDict) -> Asked:
    """The days up to today, or between two days; 30 days where the address says nothing that can be used."""
    currency = query.get("currency", "")[:3]
    if not (query.get("from") or query.get("to")):
        wanted = query.get("days", "")
        days = int(wanted) if wanted in {str(each) for each in USUAL} else DEFAULT
        return Asked(_last(days), days, currency)
    first, last = _day(query.get("from", "")), _day(query.get("to", "")) or timezone.localdate()
    wrong = _what_is_wrong(first, last)
    if wrong or first is None:
        return Asked(_last(DEFAULT), DEFAULT, currency, wrong)
    return Asked(Period(first, last), 0, currency)


def _last(days: int) -> Period:
    today = timezone.localdate()
    return Period(today - timedelta(days=days - 1), today)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def _what_is_wrong(first: date | None, last: date) -> str:
    if first is None or not FIRST_YEAR <= first.year <= last.year < 3000:
        return _("Write dates like %(example)s. Shown are the last 30 days.") % {
            "example": timezone.localdate().isoformat()
        }
    if first > last:
        return _("The first day is after the last. Shown are the last 30 days.")
    if (last - first).days >= LONGEST:
        return _("A report is about at most %(count)s days. Shown are the last 30 days.") % {"count": LONGEST}
    return ""
