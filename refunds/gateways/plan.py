"""What can be done with a charge now: refund it, void it, wait, or call a person. Pure; the clock is an argument.

Days and hours are those of `now`'s zone, which is the shop's. Reasons: docs/money.md, section "States".
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from refunds.gateways.base import Capabilities

# Why a person has to pay it back; each is also the code of the attempt that is refused because of it.
CANNOT_PARTIAL: Final = "cannot_partial"
WINDOW_OVER: Final = "window_over"


@dataclass(frozen=True, slots=True)
class Refund:
    """Ask for a refund now."""


@dataclass(frozen=True, slots=True)
class Void:
    """Take the whole charge back now."""


@dataclass(frozen=True, slots=True)
class Wait:
    """The gateway can take it from `until` on; asked earlier it would refuse."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Person:
    """No machine can ever pay this back to the charge; `code` says why."""

    code: str


Step = Refund | Void | Wait | Person


@dataclass(frozen=True, slots=True)
class Wanted:
    """`amount` of a charge of `charged`. `given_back`: what other refunds have taken of it; `today`: how many did so on
    the day of `now`."""

    amount: int
    charged: int
    captured_at: datetime
    given_back: int = 0
    today: int = 0

    @property
    def is_whole(self) -> bool:
        return self.amount == self.charged and self.given_back == 0


def plan(wanted: Wanted, able: Capabilities, now: datetime) -> Step:
    """The one thing to do now. A wait that would outlast the window is a person's matter at once."""
    if _window_is_over(wanted, able, now):
        return Person(WINDOW_OVER)
    closes_at = _closes_at(wanted, able, now)
    if closes_at is not None and now < closes_at and not able.refund_before_closing:
        if able.void_before_closing and wanted.is_whole:
            return Void()
        return _later(wanted, able, closes_at)
    if not able.partial_refunds and not wanted.is_whole:
        return Person(CANNOT_PARTIAL)
    if able.refunds_per_day is not None and wanted.today >= able.refunds_per_day:
        return _later(wanted, able, _midnight(now))
    return Refund()


def _later(wanted: Wanted, able: Capabilities, moment: datetime) -> Step:
    """Wait for `moment`, unless a person has to do it then anyway."""
    if not able.partial_refunds and not wanted.is_whole:
        return Person(CANNOT_PARTIAL)
    return Person(WINDOW_OVER) if _window_is_over(wanted, able, moment) else Wait(moment)


def _window_is_over(wanted: Wanted, able: Capabilities, moment: datetime) -> bool:
    if able.window_days is None:
        return False
    captured = wanted.captured_at.astimezone(moment.tzinfo)
    return moment.date() > captured.date() + timedelta(days=able.window_days)


def _closes_at(wanted: Wanted, able: Capabilities, now: datetime) -> datetime | None:
    """The first closing hour after the capture; None where charges are closed at once."""
    if able.closing_hour is None:
        return None
    captured = wanted.captured_at.astimezone(now.tzinfo)
    closing = captured.replace(hour=able.closing_hour, minute=0, second=0, microsecond=0)
    return closing if closing > captured else closing + timedelta(days=1)


def _midnight(now: datetime) -> datetime:
    return (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
