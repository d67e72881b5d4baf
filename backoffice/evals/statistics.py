"""How sure a share is, and whether two differ: intervals by drawing cases anew, pass^k, and the exact sign test.

What is drawn are cases, each with all its plays and with its twin in another language: plays of one case resemble each
other, and to draw each by itself would make a share look surer than it is.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, sqrt
from random import Random
from typing import Final

# Per case: the sum of what is counted, and how much of it there is (right plays and plays).
Cases = tuple[tuple[float, int], ...]

# For 95 %.
Z: Final = 1.959964
# The same numbers give the same interval in every report.
SEED, DRAWS = 7, 1000
# Fewer cases than these, drawn anew, are too much alike to say how much others could differ.
FEW: Final = 8


def share_interval(cases: Cases) -> tuple[float, float]:
    """Between what and what the share lies, most likely. (0, 1) where nothing was counted."""
    if not _can_be_drawn(cases):
        return wilson(len(cases) * _mean(cases), len(cases)) if cases else (0.0, 1.0)
    return drawn(cases)


def difference_interval(cases: Cases) -> tuple[float, float]:
    """The same for a difference of two shares, between -1 and 1."""
    if not _can_be_drawn(cases):
        # As much may differ as can remain unseen in so many cases.
        unseen, mean = wilson(0, len(cases))[1], _mean(cases)
        return max(mean - unseen, -1.0), min(mean + unseen, 1.0)
    return drawn(cases)


def _can_be_drawn(cases: Cases) -> bool:
    """Cases that are all alike would be the same each time, which does not make them certain."""
    return len(cases) >= FEW and len({total / count for total, count in cases}) > 1


def _mean(cases: Sequence[tuple[float, int]]) -> float:
    return sum(total for total, _ in cases) / (sum(count for _, count in cases) or 1)


@lru_cache(maxsize=512)
def drawn(cases: Cases) -> tuple[float, float]:
    """The middle 95 of 100 means of as many cases, drawn with replacement."""
    draw = Random(SEED)
    means = sorted(_mean(draw.choices(cases, k=len(cases))) for _ in range(DRAWS))
    return means[round(DRAWS * 0.025)], means[round(DRAWS * 0.975) - 1]


def wilson(good: float, of: int) -> tuple[float, float]:
    """Between what and what the true share lies, most likely; (0, 1) where nothing was counted."""
    if not of:
        return 0.0, 1.0
    share, spread = good / of, Z * Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * sqrt(share * (1 - share) / of + Z * Z / (4 * of * of))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def pass_hat(counts: Sequence[tuple[int, int]], k: int) -> float | None:
    """pass^k: how likely all of k plays of a task are right. `counts` are (right, played) per task.

    For each task, the share of choices of k of its plays that are all right; then their mean. None: no task was played
    so often.
    """
    enough = [(right, played) for right, played in counts if played >= k]
    if not enough or k < 1:
        return None
    return sum(comb(right, k) / comb(played, k) for right, played in enough) / len(enough)


def sign_test(better: int, worse: int) -> float:
    """How likely a difference at least as large is by chance, if neither were better; ties say nothing."""
    n, least = better + worse, min(better, worse)
    if not n:
        return 1.0
    return min(1.0, 2 * sum(comb(n, i) for i in range(least + 1)) / float(2**n))
