"""How a moment is written for programs: one shape at every door."""

from datetime import datetime

from django.utils import timezone


def moment(value: datetime | None) -> str | None:
    """ISO 8601 in the shop's zone, to the second."""
    return timezone.localtime(value).isoformat(timespec="seconds") if value else None
