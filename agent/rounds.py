"""Which rows a repair looks at: of more than it takes at once, every round takes others.

A row that breaks whenever it is looked at stays to be found. It may not hide those behind it.
"""

from typing import Any, Final, TypeVar

from django.db.models import Case, Model, QuerySet, Value, When

AT_ONCE: Final = 200
M = TypeVar("M", bound=Model)
# By what is looked for, the last row of a full round. Of this process: one that has just started begins anew.
_reached: dict[str, Any] = {}


def next_of(name: str, rows: QuerySet[M], *, most: int = AT_ONCE) -> list[M]:
    """So many of them, from behind those of the round before on, and then from the beginning. One query."""
    if name in _reached:
        seen = Case(When(pk__gt=_reached[name], then=Value(0)), default=Value(1))
        rows = rows.order_by(seen, "pk")
    else:
        rows = rows.order_by("pk")
    found = list(rows[:most])
    if len(found) < most:
        _reached.pop(name, None)
    else:
        _reached[name] = found[-1].pk
    return found
