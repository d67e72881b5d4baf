"""Numbers of the reports as people read them, and what has become of them since the period before."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from orders.money import MINUS

NOTHING: Final = "–"
MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR


@dataclass(frozen=True, slots=True)
class Headline:
    """One number: what it is, now and in the period before, and beneath it what it means."""

    label: str
    value: str
    beside: str
    change: str
    definition: str


def span(length: timedelta | None) -> str:
    """“0.8 s”, “12 min”, “5.3 h”, “3.2 days”: in the unit in which the number is easy to read."""
    if length is None:
        return NOTHING
    value = length.total_seconds()
    if value < MINUTE:
        return _("%(number)s s") % {"number": _short(value)}
    if value < HOUR:
        return _("%(number)s min") % {"number": _short(value / MINUTE)}
    if value < 2 * DAY:
        return _("%(number)s h") % {"number": _short(value / HOUR)}
    return _("%(number)s days") % {"number": _short(value / DAY)}


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") if value < 10 else f"{value:.0f}"


def percent(part: int, whole: int) -> str:
    return f"{part * 100 / whole:.0f}%" if whole else NOTHING


def change(now: float | None, before: float | None) -> str:
    """“+12% to the period before”; what was nothing before has no percentage."""
    if now is None or before is None or (not now and not before):
        return ""
    if not before:
        return _("nothing in the period before")
    by = round((now - before) * 100 / before)
    sign = "+" if by > 0 else MINUS if by < 0 else "±"
    return _("%(change)s to the period before") % {"change": f"{sign}{abs(by):,}%"}


def points(now: tuple[int, int], before: tuple[int, int]) -> str:
    """The change of a share, part of whole, in percentage points."""
    if not now[1] or not before[1]:
        return ""
    by = round(now[0] * 100 / now[1] - before[0] * 100 / before[1])
    sign = "+" if by > 0 else MINUS if by < 0 else "±"
    return ngettext("%(change)s point to the period before", "%(change)s points to the period before", abs(by)) % {
        "change": f"{sign}{abs(by)}"
    }


def seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()
