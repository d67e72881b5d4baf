"""Pages of a list: from a place in it on, by an index, instead of by counting rows."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

from orders.models import Order

PER_PAGE: Final = 25
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Row = TypeVar("Row", bound=Model)
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


@dataclass(frozen=True, slots=True)
class Sheet(Generic[Row]):
    """A page's rows in the list's order, and the queries of its neighbours' addresses; empty where none is."""

    rows: list[Row]
    oldest_first: bool
    earlier: str
    later: str
    first: str


def sheet_of(
    rows: QuerySet[Row],
    query: QueryDict,
    *,
    per_page: int,
    moment: str = "created_at",
    oldest_first: bool = False,
    kept: dict[str, str] | None = None,
) -> Sheet[Row]:
    """The page of rows sorted by `moment` and key that `?after=` or `?before=` asks for, in one query for the rows.

    `kept`: what of the address the neighbours' addresses say too.
    """
    after, before = _read_key(rows, query.get("after", "")), _read_key(rows, query.get("before", ""))
    onward, back = ("gt", "lt") if oldest_first else ("lt", "gt")
    sign, against = ("", "-") if oldest_first else ("-", "")
    if before is not None and after is None:
        nearest = rows.filter(_beyond(before, back, moment)).order_by(f"{against}{moment}", f"{against}pk")
        found = list(nearest[: per_page + 1])
        if len(found) > per_page:
            return _sheet(found[per_page - 1 :: -1], oldest_first, moment, kept, is_first=False, is_last=False)
    if after is not None:
        rows = rows.filter(_beyond(after, onward, moment))
    found = list(rows.order_by(f"{sign}{moment}", f"{sign}pk")[: per_page + 1])
    is_last = len(found) <= per_page
    return _sheet(found[:per_page], oldest_first, moment, kept, is_first=after is None, is_last=is_last)


def _sheet(
    rows: list[Row], oldest_first: bool, moment: str, kept: dict[str, str] | None, *, is_first: bool, is_last: bool
) -> Sheet[Row]:
    def address(**cursor: str) -> str:
        return urlencode({**(kept or {}), **cursor})

    return Sheet(
        rows=rows,
        oldest_first=oldest_first,
        earlier="" if is_first or not rows else address(before=_written(_place(rows[0], moment))),
        later="" if is_last or not rows else address(after=_written(_place(rows[-1], moment))),
        first=address(),
    )


def _place(row: Model, moment: str) -> tuple[datetime, Any]:
    return getattr(row, moment), row.pk


def _read_key(rows: QuerySet[Row], text: str) -> tuple[datetime, Any] | None:
    """A cursor of a list whose keys are numbers, or public numbers in letters; None for what nobody has given out."""
    parts = _parts(text)
    if parts is None:
        return None
    moment, key = parts
    if rows.model._meta.pk.get_internal_type() == "CharField":
        return (moment, key) if key.isascii() and key.replace("_", "").isalnum() else None
    return (moment, min(int(key), 2**62)) if key.isascii() and key.isdigit() and len(key) < 20 else None


def _beyond(place: tuple[datetime, Any], way: str, field: str = "placed_at") -> Q:
    """Both parts: the first lets the index begin at the place, the second sets apart what came at once."""
    moment, key = place
    return Q(**{f"{field}__{way}e": moment}) & (Q(**{f"{field}__{way}": moment}) | Q(**{f"pk__{way}": key}))


def _keys(rows: list[Place]) -> list[int]:
    return [key for _moment, key in rows]


def _written(place: tuple[datetime, Any]) -> str:
    moment = (place[0] - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(f"{moment}.{place[1]}".encode()).decode().rstrip("=")


def _read(text: str) -> Place | None:
    moment, key = _parts(text) or (None, "")
    try:
        return (moment, min(int(key[:18]), 2**62)) if moment else None
    except ValueError:
        return None


def _parts(text: str) -> tuple[datetime, str] | None:
    try:
        moment, key = base64.urlsafe_b64decode(f"{text}{'=' * (-len(text) % 4)}").decode().split(".")
        return _EPOCH + timedelta(microseconds=int(moment[:20])), key
    except (ValueError, OverflowError):
        return None
