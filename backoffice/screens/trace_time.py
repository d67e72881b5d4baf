"""Where moments of a turn stand on a bar. Work takes seconds and a press takes minutes: waiting is drawn short."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

# What an SVG's viewBox counts in.
WIDTH: Final = 1000
NARROWEST: Final = 4
# Drawn at most as wide as this share of all the work.
WAIT_SHARE: Final = 0.12
# So that a turn in which nothing took time can be drawn too.
LEAST_SECONDS: Final = 0.001


@dataclass(frozen=True, slots=True)
class Bar:
    """From `x`, `width` wide, in parts of `WIDTH`. `tone` says what was going on."""

    x: int
    width: int
    tone: str


@dataclass(frozen=True, slots=True)
class Piece:
    begin: datetime
    end: datetime
    weight: float


class Scale:
    """The time from `begin` to `end`, in which the agent waited from … to …, laid on a bar."""

    def __init__(self, begin: datetime, end: datetime, waits: Sequence[tuple[datetime, datetime]]) -> None:
        edges = sorted({begin, end, *(min(max(edge, begin), end) for wait in waits for edge in wait)})
        spans = list(pairwise(edges))
        idle = {span for span in spans if any(since <= span[0] and span[1] <= until for since, until in waits)}
        work = sum((stop - start).total_seconds() for start, stop in spans if (start, stop) not in idle)
        longest = {span: max(work * WAIT_SHARE, LEAST_SECONDS) for span in idle}
        lengths = {span: (span[1] - span[0]).total_seconds() for span in spans}
        self._pieces = [Piece(*span, min(lengths[span], longest.get(span, lengths[span]))) for span in spans]
        self._total = sum(piece.weight for piece in self._pieces) or LEAST_SECONDS

    def place(self, moment: datetime) -> int:
        """Where the moment stands, from 0 to `WIDTH`."""
        so_far = 0.0
        for piece in self._pieces:
            if moment >= piece.end:
                so_far += piece.weight
            elif moment > piece.begin:
                share = (moment - piece.begin) / (piece.end - piece.begin)
                so_far += piece.weight * share
        return round(so_far / self._total * WIDTH)

    def bar(self, begin: datetime, end: datetime | None, tone: str) -> Bar:
        """A moment, and what was too quick to see, is as wide as can be seen, and never sticks out."""
        x = self.place(begin)
        width = max(self.place(end) - x if end else 0, NARROWEST)
        return Bar(min(x, WIDTH - width), width, tone)
