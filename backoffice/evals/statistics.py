"""How sure a share is, and whether two differ: Wilson's interval, pass^k, and the exact sign test over pairs."""

from collections.abc import Sequence
from math import comb, sqrt
from typing import Final

# For 95 %.
Z: Final = 1.959964


def wilson(good: int, of: int) -> tuple[float, float]:
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
