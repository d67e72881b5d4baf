"""When people of the shop answer."""

from datetime import datetime, time
from zoneinfo import ZoneInfo

import pytest
from pytest_django import Settings

from agent import hours

TAIPEI = ZoneInfo("Asia/Taipei")
# The 27th of November 2026 is a Friday.
FRIDAY_NOON = datetime(2026, 11, 27, 12, 0, tzinfo=TAIPEI)


@pytest.fixture(autouse=True)
def weekdays_and_saturday_morning(settings: Settings) -> None:
    spans = [(day, time(9), time(18)) for day in range(5)]
    settings.OFFICE_HOURS = [*spans, (5, time(10), time(12, 30))]


@pytest.mark.parametrize(
    ("moment", "there"),
    [
        (FRIDAY_NOON, True),
        (FRIDAY_NOON.replace(hour=9), True),
        (FRIDAY_NOON.replace(hour=8, minute=59), False),
        (FRIDAY_NOON.replace(hour=18), False),
        (FRIDAY_NOON.replace(day=28, hour=12, minute=29), True),
        (FRIDAY_NOON.replace(day=29), False),
    ],
)
def test_people_are_there_from_opening_until_just_before_closing(moment: datetime, there: bool) -> None:
    assert hours.open_now(moment) is there


def test_hours_are_the_shops_whatever_clock_the_moment_is_read_from() -> None:
    assert hours.open_now(FRIDAY_NOON.astimezone(ZoneInfo("America/New_York")))


@pytest.mark.parametrize(
    ("moment", "opening"),
    [
        (FRIDAY_NOON.replace(hour=8), FRIDAY_NOON.replace(hour=9)),
        (FRIDAY_NOON.replace(hour=20), FRIDAY_NOON.replace(day=28, hour=10)),
        (FRIDAY_NOON.replace(day=28, hour=13), FRIDAY_NOON.replace(day=30, hour=9)),
        (FRIDAY_NOON.replace(day=29), FRIDAY_NOON.replace(day=30, hour=9)),
    ],
)
def test_outside_of_them_the_next_opening_is_known(moment: datetime, opening: datetime) -> None:
    assert hours.next_opening(moment) == opening


def test_there_is_no_next_opening_while_people_are_there() -> None:
    assert hours.next_opening(FRIDAY_NOON) is None


def test_one_day_a_week_is_found_from_the_hour_after_it(settings: Settings) -> None:
    settings.OFFICE_HOURS = [(4, time(9), time(12))]
    assert hours.next_opening(FRIDAY_NOON) == datetime(2026, 12, 4, 9, 0, tzinfo=TAIPEI)


def test_without_hours_people_are_always_there(settings: Settings) -> None:
    settings.OFFICE_HOURS = []
    assert hours.open_now(FRIDAY_NOON.replace(hour=3))
    assert hours.next_opening(FRIDAY_NOON.replace(hour=3)) is None
