"""When people of the shop answer: `settings.OFFICE_HOURS`, in the shop's time."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

DAYS_LOOKED_AT = 8


def open_now(now: datetime | None = None) -> bool:
    """Is anybody there? Always, where no hours are set."""
    local = timezone.localtime(now)
    spans = settings.OFFICE_HOURS
    return not spans or any(day == local.weekday() and opens <= local.time() < closes for day, opens, closes in spans)


def next_opening(now: datetime | None = None) -> datetime | None:
    """When somebody is there again, in the shop's time; None while somebody is."""
    local = timezone.localtime(now)
    if open_now(local):
        return None
    days = [(local + timedelta(days=ahead)).date() for ahead in range(DAYS_LOOKED_AT)]
    openings = [
        datetime.combine(date, opens, tzinfo=local.tzinfo)
        for date in days
        for day, opens, _closes in settings.OFFICE_HOURS
        if day == date.weekday()
    ]
    return min(opening for opening in openings if opening > local)
