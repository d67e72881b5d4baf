"""Charts of the reports as numbers: where each bar stands in a drawing that is stretched to the page's width.

Nothing is written inside the drawing but titles: labels stand beside it as text, and keep their size on a phone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import Final

from backoffice.words import short_day

HEIGHT: Final = 100
SLOT: Final = 10
WIDTH_OF_BAR: Final = 7
STEPS_OF_A_SCALE: Final = (1, 2, 4, 5, 10)


@dataclass(frozen=True, slots=True)
class Series:
    """What one colour and pattern means; `style` is the class of its bars."""

    label: str
    style: str
    values: Sequence[int]


@dataclass(frozen=True, slots=True)
class Bar:
    x: str
    y: str
    width: str
    height: str
    style: str
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Columns for days. `scale` is written beside it from the top down, `marks` beneath it from left to right."""

    key: str
    title: str
    description: str
    width: int
    bars: list[Bar]
    scale: list[str]
    marks: list[str]
    series: Sequence[Series]


def columns(
    *,
    key: str,
    title: str,
    days: Sequence[date],
    series: Sequence[Series],
    show: Callable[[int], str],
    description: str,
) -> Chart:
    """A column for each day, the series one upon the other. `show` says a value as people read it."""
    sums = [sum(values) for values in zip(*(each.values for each in series), strict=True)]
    top = top_of_scale(max(sums, default=0))
    bars = [bar for place, day in enumerate(days) for bar in _column(place, day, series, top, show)]
    return Chart(
        key=key,
        title=title,
        description=description,
        width=max(len(days), 1) * SLOT,
        bars=bars,
        scale=[show(top), show(top // 2), show(0)] if top % 2 == 0 else [show(top), show(0)],
        marks=[short_day(days[place]) for place in sorted({0, len(days) // 2, len(days) - 1})] if days else [],
        series=series,
    )


def _column(place: int, day: date, series: Sequence[Series], top: int, show: Callable[[int], str]) -> list[Bar]:
    ends = list(accumulate(each.values[place] for each in series))
    several = len(series) > 1
    return [
        Bar(
            x=_number(place * SLOT + (SLOT - WIDTH_OF_BAR) / 2),
            y=_number(HEIGHT - end * HEIGHT / top),
            width=str(WIDTH_OF_BAR),
            height=_number(each.values[place] * HEIGHT / top),
            style=each.style,
            title=" ".join(filter(None, [short_day(day), each.label if several else "", show(each.values[place])])),
        )
        for each, end in zip(series, ends, strict=True)
        if each.values[place]
    ]


def top_of_scale(highest: int) -> int:
    """A round number that is not below the highest value: 7 → 10, 130 → 200."""
    power = 1
    while power * 10 < highest:
        power *= 10
    return next(step * power for step in STEPS_OF_A_SCALE if step * power >= max(highest, 1))


def share(part: int, whole: int) -> str:
    """How long a bar of a table is, in hundredths of the longest."""
    return _number(part * 100 / whole) if whole else "0"


def _number(value: float) -> str:
    """As SVG reads it, whatever the page's language writes for a decimal point."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
