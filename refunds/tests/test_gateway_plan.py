"""What an acquirer can do with a charge, as a table: refund, void, wait, or a person."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from refunds.gateways.base import Capabilities
from refunds.gateways.plan import Person, Refund, Step, Void, Wait, Wanted, plan

TAIPEI = ZoneInfo("Asia/Taipei")
VOIDS_ONLY = Capabilities(refund_before_closing=False, void_before_closing=True, closing_hour=22)
WAITS = Capabilities(refund_before_closing=False, closing_hour=22)
WHOLE_ONLY = Capabilities(partial_refunds=False)
ONCE_A_DAY = Capabilities(refunds_per_day=1)


def at(day: int, hour: int, minute: int = 0, month: int = 3) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=TAIPEI)


CAPTURED = at(10, 9)


def wanted(amount: int, *, captured: datetime = CAPTURED, given_back: int = 0, today: int = 0) -> Wanted:
    return Wanted(amount, 1430, captured, given_back, today)


@pytest.mark.parametrize(
    ("what", "able", "now", "step"),
    [
        # An acquirer that can do everything, and one that closes late but refunds before.
        (wanted(230), Capabilities(), at(10, 9), Refund()),
        (wanted(230), Capabilities(closing_hour=22), at(10, 9), Refund()),
        # Before closing: the whole charge is voided, a part waits until after closing.
        (wanted(1430), VOIDS_ONLY, at(10, 21, 59), Void()),
        (wanted(1430), VOIDS_ONLY, at(10, 22), Refund()),
        (wanted(230), VOIDS_ONLY, at(10, 9), Wait(at(10, 22))),
        (wanted(1430), WAITS, at(10, 9), Wait(at(10, 22))),
        (wanted(1200, given_back=230), VOIDS_ONLY, at(10, 9), Wait(at(10, 22))),
        # Captured at or after the closing hour: closed on the next day.
        (wanted(230, captured=at(10, 22)), VOIDS_ONLY, at(10, 23), Wait(at(11, 22))),
        (wanted(1430, captured=at(10, 23)), VOIDS_ONLY, at(11, 21), Void()),
        # The same moment told in another zone.
        (wanted(230, captured=at(10, 9).astimezone(ZoneInfo("UTC"))), VOIDS_ONLY, at(10, 9), Wait(at(10, 22))),
        # Only whole charges: a part is a person's, before closing too, for waiting would not help.
        (wanted(1430), WHOLE_ONLY, at(10, 9), Refund()),
        (wanted(230), WHOLE_ONLY, at(10, 9), Person("cannot_partial")),
        (wanted(1200, given_back=230), WHOLE_ONLY, at(10, 9), Person("cannot_partial")),
        (
            wanted(230),
            Capabilities(partial_refunds=False, refund_before_closing=False, closing_hour=22),
            at(10, 9),
            Person("cannot_partial"),
        ),
        # The window counts calendar days; its last day counts whole.
        (wanted(230), Capabilities(window_days=90), at(8, 23, 59, month=6), Refund()),
        (wanted(230), Capabilities(window_days=90), at(9, 0, month=6), Person("window_over")),
        # One refund of a charge a day: the next waits for midnight.
        (wanted(230), ONCE_A_DAY, at(10, 9), Refund()),
        (wanted(230, given_back=100, today=1), ONCE_A_DAY, at(10, 9, 30), Wait(at(11, 0))),
        (wanted(230, given_back=100, today=1), Capabilities(refunds_per_day=2), at(10, 9), Refund()),
        # Waiting past the window would never end.
        (
            wanted(230, today=1),
            Capabilities(refunds_per_day=1, window_days=90),
            at(8, 12, month=6),
            Person("window_over"),
        ),
    ],
)
def test_what_is_done_with_a_charge_now(what: Wanted, able: Capabilities, now: datetime, step: Step) -> None:
    assert plan(what, able, now) == step
