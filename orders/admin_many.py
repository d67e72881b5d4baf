"""What keeps a list of records as fast for a million rows as for a thousand: no part of its page reads them all.

Counting stops at `MOST_COUNTED`; the days to choose from, and the values of a filter, are looked up one by one in an
index. Where there is no index that begins with the field, or few rows fit, Django's own way is taken.
"""

from collections.abc import Iterator
from copy import copy
from datetime import datetime, timedelta
from typing import Any, Final, cast

from django.contrib import admin
from django.contrib.admin.templatetags import admin_list
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import DateTimeField, Field, Max, Min, Model, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone
from django.utils.functional import cached_property

MOST_COUNTED: Final = 10_000
# Longer than the days of a month, or the years that a shop is old: with more, reading all is no slower.
MOST_PERIODS: Final = 40


class CountedToALimit(Paginator):
    """Pages of the first `MOST_COUNTED` rows. `is_more`: there are others, which a narrower question leads to."""

    @cached_property
    def _counted(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by().values("pk")[: MOST_COUNTED + 1].count())

    @cached_property
    def count(self) -> int:
        return min(self._counted, MOST_COUNTED)

    @property
    def is_more(self) -> bool:
        return self._counted > MOST_COUNTED

    def page(self, number: Any) -> Page[Any]:
        """Which rows stand on it is found by their keys: to sort thousands, nobody reads all that is in them."""
        page, rows = super().page(number), cast(QuerySet[Any], self.object_list)
        keys = list(cast(QuerySet[Any], page.object_list).values_list("pk", flat=True))
        page.object_list = rows.filter(pk__in=keys)
        return page


def begins_an_index(model: type[Model], name: str) -> bool:
    """Whether the rows can be read in the order of this field, all of them, without sorting."""
    field: Any = model._meta.get_field(name)
    leading = {tuple(index.fields[:1]) for index in model._meta.indexes if index.condition is None}
    return field.unique or field.db_index or bool({(name,), (f"-{name}",)} & leading)


def date_hierarchy(changes: ChangeList) -> Any:
    """The years, months and days that rows can be narrowed to, as Django's tag of this name gives them."""
    name = changes.date_hierarchy
    is_moment = isinstance(get_fields_from_path(changes.model, name)[-1], DateTimeField)
    if is_moment and isinstance(changes.paginator, CountedToALimit):
        by_index = changes.paginator.is_more and "__" not in name and begins_an_index(changes.model, name)
        changes = copy(changes)
        changes.queryset = (PeriodsByIndex if by_index else Periods)(changes.queryset, name)
    return admin_list.date_hierarchy(changes)


class Periods:
    """Stands in for a list's rows where Django asks when they were: their days are read once, in no order.

    Asked for the first and the last day alone, the database would walk all other rows by the index of their days.
    """

    def __init__(self, rows: QuerySet[Any], field: str) -> None:
        self.rows, self.field = rows.filter(**{f"{field}__isnull": False}).order_by(), field

    @cached_property
    def ends(self) -> tuple[datetime, datetime] | None:
        return (self._days[0], self._days[-1]) if self._days else None

    @cached_property
    def _days(self) -> list[datetime]:
        days = self.rows.annotate(day_of_it=TruncDate(self.field)).values_list("day_of_it", flat=True).distinct()
        return sorted(timezone.make_aware(datetime(day.year, day.month, day.day)) for day in days)

    def aggregate(self, first: Min, last: Max) -> dict[str, datetime | None]:
        return dict(zip(("first", "last"), self.ends or (None, None), strict=True))

    def datetimes(self, field: str, kind: str) -> list[datetime]:
        """The beginnings of the years, months or days in which there are rows, in the shop's zone."""
        return sorted({beginning(day, kind) for day in self._days})


class PeriodsByIndex(Periods):
    """Of many rows: one look into the index of their moments for each period that there may be, in one query."""

    @cached_property
    def ends(self) -> tuple[datetime, datetime] | None:
        found = self._moments(self.rows.order_by(self.field), self.rows.order_by(f"-{self.field}"))
        return (min(found), max(found)) if found else None

    def _moments(self, *parts: QuerySet[Any]) -> list[datetime]:
        """The first moment of each part that has any."""
        firsts = [part.values_list(self.field, flat=True)[:1] for part in parts]
        return list(firsts[0].union(*firsts[1:], all=True))

    def datetimes(self, field: str, kind: str) -> list[datetime]:
        if self.ends is None:
            return []
        first, last = (beginning(moment, kind) for moment in self.ends)
        between: list[QuerySet[Any]] = []
        start, end = first, following(first, kind)
        while end < last:
            if len(between) == MOST_PERIODS:
                return super().datetimes(field, kind)
            start, end = end, following(end, kind)
            between.append(self.rows.filter(**{f"{field}__gte": start, f"{field}__lt": end}).order_by(field))
        found = self._moments(*between) if between else []
        return sorted({first, last, *(beginning(moment, kind) for moment in found)})


def beginning(moment: datetime, kind: str) -> datetime:
    """Of the year, month or day that it lies in, in the shop's zone."""
    local = timezone.localtime(moment)
    month, day = (1 if kind == "year" else local.month), (local.day if kind == "day" else 1)
    return timezone.make_aware(datetime(local.year, month, day))


def following(start: datetime, kind: str) -> datetime:
    """The beginning of the next period; `start` is one itself."""
    return beginning(start + timedelta(days={"year": 370, "month": 32, "day": 1.5}[kind]), kind)


class ValuesFilter(admin.AllValuesFieldListFilter):
    """The values that a field has, each found by one look into an index where there is one."""

    def __init__(self, field: Any, request: Any, params: Any, model: Any, model_admin: Any, field_path: str) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        if "__" not in field_path and begins_an_index(model, field_path):
            self.lookup_choices = list(values_of(model, field))  # type: ignore[assignment]


def values_of(model: type[Model], field: "Field[Any, Any]") -> Iterator[Any]:
    """Each value once, in order, None last: from one to the next by the index, in one statement."""
    quote = connection.ops.quote_name
    table, column = quote(model._meta.db_table), quote(str(field.column))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE seen(value) AS ("
            f"(SELECT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY {column} LIMIT 1) UNION ALL "
            f"SELECT (SELECT {column} FROM {table} WHERE {column} > value ORDER BY {column} LIMIT 1) "
            f"FROM seen WHERE value IS NOT NULL) "
            f"SELECT value FROM seen WHERE value IS NOT NULL UNION ALL "
            f"SELECT NULL WHERE EXISTS (SELECT 1 FROM {table} WHERE {column} IS NULL)"
        )
        yield from (row[0] for row in cursor.fetchall())
