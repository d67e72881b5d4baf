"""What JSON can spell and nothing here can keep: nesting without end, half characters, numbers that are none."""

from collections.abc import Iterable
from typing import Any, Final

MAX_DEPTH: Final = 32


def is_shallow(body: Any) -> bool:
    """Whether it is nested at most `MAX_DEPTH` deep. Deeper would end the stack of whoever reads or writes it."""
    level = [body]
    for _depth in range(MAX_DEPTH):
        level = [each for value in level for each in _below(value)]
        if not level:
            return True
    return False


def half_a_character(body: Any, path: str = "") -> str | None:
    """The path of the first text with a lone surrogate, which JSON can spell and UTF-8 cannot; None: all is well.

    For what is shallow.
    """
    if isinstance(body, str):
        return path if any("\ud800" <= character <= "\udfff" for character in body) else None
    for key, value in body.items() if isinstance(body, dict) else enumerate(body if isinstance(body, list) else ()):
        if isinstance(body, dict) and half_a_character(key) is not None:
            return path
        below = f"{path}[{key}]" if isinstance(body, list) else f"{path}.{key}".lstrip(".")
        if (found := half_a_character(value, below)) is not None:
            return found
    return None


def finite(written: str) -> float:
    """For `json.loads(parse_float=…, parse_constant=…)`. Raises ValueError for NaN, Infinity and 1e400."""
    number = float(written)
    if number - number != 0:
        raise ValueError(f"{written[:20]} is no number that can be kept")
    return number


def _below(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
