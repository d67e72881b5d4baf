"""What every turn asks, in plain SQL: to have it put together by the ORM takes several times as long as to run it."""

from collections.abc import Iterable
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

Row = TypeVar("Row", bound=Model)


def row(sql: str, *values: Any) -> tuple[Any, ...] | None:
    """The first row of the answer; None where there is none, or the statement has no answer."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found: tuple[Any, ...] | None = cursor.fetchone() if cursor.description else None
    return found


def one(model: type[Row], sql: str, *values: Any) -> Row | None:
    """The first row of the answer as an object; None where there is none. The statement selects all columns."""
    return next(iter(every(model, sql, *values)), None)


def every(model: type[Row], sql: str, *values: Any) -> Iterable[Row]:
    """All rows of the answer as objects. The statement selects all columns."""
    return model._default_manager.raw(sql, values)
