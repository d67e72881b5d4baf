"""When people of the shop answer: `settings.OFFICE_HOURS` but `settings.CLOSED_DAYS`, in the shop's time."""

from datetime import date, datetime, time, timedelta

from django.conf import settings
from django.utils import timezone

# A day of every year that is closed comes again after a year, and hours after a week.
DAYS_LOOKED_AT = 366 + 8


def open_now(now: datetime | None = None) -> bool:
    """Is anybody there? Where no hours are set: always, but on closed days."""
    local = timezone.localtime(now)
    if _is_closed(local.date()):
        return False
    spans = settings.OFFICE_HOURS
    return not spans or any(day == local.weekday() and opens <= local.time() < closes for day, opens, closes in spans)


def next_opening(now: datetime | None = None) -> datetime | None:
    """When somebody is there again, in the shop's time; None while somebody is, and where no day is left to open."""
    local = timezone.localtime(now)
    if open_now(local):
        return None
    days = ((local + timedelta(days=ahead)).date() for ahead in range(DAYS_LOOKED_AT))
    openings = (
        datetime.combine(day, opens, tzinfo=local.tzinfo)
        for day in days
        if not _is_closed(day)
        for opens in _opens(day)
    )
    return next((opening for opening in openings if opening > local), None)


def _opens(day: date) -> list[time]:
    """From when on people are there, earliest first."""
    spans = settings.OFFICE_HOURS
    return sorted(opens for weekday, opens, _closes in spans if weekday == day.weekday()) if spans else [time.min]


def _is_closed(day: date) -> bool:
    closed = settings.CLOSED_DAYS
    return day in closed or (day.month, day.day) in closed
