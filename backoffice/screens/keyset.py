"""Pages of the list of orders: from a place in it on, by an index, instead of by counting rows."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db.models import Q, QuerySet
from django.http import QueryDict

from orders.models import Order

PER_PAGE: Final = 25
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Place = tuple[datetime, int]
# The first `limit` of some orders, newest first; with `oldest`, of those at the other end.
Fetch = Callable[[QuerySet[Order], int, bool], list[Place]]


@dataclass(frozen=True, slots=True)
class Slice:
    """The keys of a page's rows, newest first, and the addresses' cursors of its neighbours; empty where none is."""

    keys: list[int]
    newer: str
    older: str


def page_of(orders: QuerySet[Order], query: QueryDict, fetch: Fetch) -> Slice:
    """The page that `?after=` or `?before=` asks for; the first for neither, and for a cursor nobody has given out."""
    after, before = _read(query.get("after", "")), _read(query.get("before", ""))
    if before is not None and after is None:
        rows = fetch(orders.filter(_beyond(before, "gt")), PER_PAGE + 1, True)
        if len(rows) > PER_PAGE:
            rows = rows[1:]
            return Slice(_keys(rows), _written(rows[0]), _written(rows[-1]))
        after = None  # that is the first page, and it may have room for more by now
    if after is not None:
        orders = orders.filter(_beyond(after, "lt"))
    rows = fetch(orders, PER_PAGE + 1, False)
    shown = rows[:PER_PAGE]
    return Slice(
        keys=_keys(shown),
        newer=_written(shown[0]) if shown and after is not None else "",
        older=_written(shown[-1]) if len(rows) > PER_PAGE else "",
    )


def newest(orders: QuerySet[Order], limit: int, oldest: bool) -> list[Place]:
    """`Fetch` without a search."""
    ordered = orders.order_by("placed_at", "pk") if oldest else orders.order_by("-placed_at", "-pk")
    return sorted(ordered.values_list("placed_at", "pk")[:limit], reverse=True)


def _beyond(place: Place, way: str) -> Q:
    """Both parts: the first lets the index begin at the place, the second sets apart what was placed at once."""
    moment, key = place
    return Q(**{f"placed_at__{way}e": moment}) & (Q(**{f"placed_at__{way}": moment}) | Q(**{f"pk__{way}": key}))


def _keys(rows: list[Place]) -> list[int]:
    return [key for _moment, key in rows]


def _written(place: Place) -> str:
    moment = (place[0] - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(f"{moment}.{place[1]}".encode()).decode().rstrip("=")


def _read(text: str) -> Place | None:
    try:
        moment, key = base64.urlsafe_b64decode(f"{text}{'=' * (-len(text) % 4)}").decode().split(".")
        return _EPOCH + timedelta(microseconds=int(moment[:20])), min(int(key[:18]), 2**62)
    except (ValueError, OverflowError):
        return None
