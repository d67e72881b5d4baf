"""What every turn asks, in plain SQL: to have it put together by the ORM takes several times as long as to run it."""

from typing import Any

from django.db import connection


def row(sql: str, *values: Any) -> tuple[Any, ...] | None:
    """The first row of the answer; None where there is none, or the statement has no answer."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found: tuple[Any, ...] | None = cursor.fetchone() if cursor.description else None
    return found
