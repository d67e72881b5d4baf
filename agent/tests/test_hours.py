"""When people of the shop answer."""

from datetime import date, datetime, time
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
    settings.CLOSED_DAYS = frozenset()


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


# --- closed days ---
CHRISTMAS_NOON = datetime(2026, 12, 25, 12, 0, tzinfo=TAIPEI)  # a Friday


@pytest.mark.parametrize("closed", [date(2026, 11, 27), (11, 27)], ids=["once", "every year"])
def test_on_a_closed_day_nobody_is_there_and_the_next_opening_is_after_it(settings: Settings, closed: object) -> None:
    settings.CLOSED_DAYS = frozenset([closed])
    assert not hours.open_now(FRIDAY_NOON)
    for hour in (8, 12, 20):
        assert hours.next_opening(FRIDAY_NOON.replace(hour=hour)) == FRIDAY_NOON.replace(day=28, hour=10)


@pytest.mark.parametrize("closed", [date(2026, 11, 27), date(2025, 11, 28), (11, 26)])
def test_a_day_that_is_closed_in_another_year_or_beside_it_closes_nothing(settings: Settings, closed: object) -> None:
    settings.CLOSED_DAYS = frozenset([closed])
    assert hours.open_now(FRIDAY_NOON.replace(day=28, hour=11))


def test_closed_days_in_a_row_are_all_passed_over_also_into_the_next_year(settings: Settings) -> None:
    settings.CLOSED_DAYS = frozenset([(12, day) for day in range(25, 32)] + [(1, 1), date(2027, 1, 2)])
    assert hours.next_opening(CHRISTMAS_NOON) == datetime(2027, 1, 4, 9, 0, tzinfo=TAIPEI)


def test_where_no_hours_are_set_a_closed_day_ends_at_midnight(settings: Settings) -> None:
    settings.OFFICE_HOURS = []
    settings.CLOSED_DAYS = frozenset([date(2026, 11, 27)])
    assert not hours.open_now(FRIDAY_NOON)
    assert hours.next_opening(FRIDAY_NOON) == FRIDAY_NOON.replace(day=28, hour=0)
    assert hours.open_now(FRIDAY_NOON.replace(day=28, hour=0))


def test_closed_days_are_the_shops_whatever_clock_the_moment_is_read_from(settings: Settings) -> None:
    settings.CLOSED_DAYS = frozenset([date(2026, 11, 27)])
    assert not hours.open_now(FRIDAY_NOON.replace(hour=9).astimezone(ZoneInfo("America/New_York")))


def test_two_spans_of_a_day_open_in_their_order(settings: Settings) -> None:
    settings.OFFICE_HOURS = [(4, time(14), time(18)), (4, time(9), time(11))]
    assert hours.next_opening(FRIDAY_NOON.replace(hour=8)) == FRIDAY_NOON.replace(hour=9)
    assert hours.next_opening(FRIDAY_NOON) == FRIDAY_NOON.replace(hour=14)


def test_where_every_day_is_closed_there_is_no_next_opening(settings: Settings) -> None:
    settings.OFFICE_HOURS = [(day, time(9), time(18)) for day in range(7)]
    settings.CLOSED_DAYS = frozenset((month, day) for month in range(1, 13) for day in range(1, 32))
    assert hours.next_opening(FRIDAY_NOON) is None
