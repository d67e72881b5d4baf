"""Everything in the database at once, as plain data: to look at, to compare, to make older, and to clear away."""

import json
from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from django.apps import apps
from django.db import connection, models, transaction

Row = dict[str, Any]
Rows = dict[str, list[Row]]

# Of the histories only what tells one row from another: their payloads are long.
_ONLY: Final = {
    "orders_auditevent": "id, action, subject_type, subject_id",
    "orders_orderannouncement": "id, event",
}
_POLICIES: Final = "refunds_refundpolicy"
_KEPT_POLICIES: Final = "policies_before_the_test"


def tables() -> list[type[models.Model]]:
    return [model for app in ("orders", "refunds") for model in apps.get_app_config(app).get_models()]


def read() -> Rows:
    """All rows of orders and refunds by table, those that were made first before the others."""
    parts = []
    for model in tables():
        table, columns = model._meta.db_table, _ONLY.get(model._meta.db_table, "*")
        rows = f"SELECT {columns} FROM {table}"
        parts.append(f"'{table}', (SELECT coalesce(json_agg(whole), '[]') FROM ({rows}) whole)")
    with connection.cursor() as cursor:
        # A function takes at most 100 arguments.
        cursor.execute(f"SELECT (json_build_object({', '.join(parts)}))::text")
        found: Rows = json.loads(cursor.fetchone()[0], parse_float=Decimal)
    return {table: sorted(rows, key=_age) for table, rows in found.items()}


def _age(row: Row) -> tuple[str, int, Any]:
    """The same life has the same order of rows, however random their numbers are."""
    return row.get("created_at") or row.get("packed_at") or "", row.get("position", 0), row["id"]


def differing(before: Rows, after: Rows) -> dict[str, list[Row]]:
    """By table, the rows that are there afterwards and were not, or not like this; and those that are gone."""
    found = {}
    for table, rows in after.items():
        there, was = by_id(rows), by_id(before[table])
        changed = [row for row in rows if was.get(row["id"]) != row] + [was[key] for key in was.keys() - there.keys()]
        if changed:
            found[table] = changed
    return found


def by_id(rows: Iterable[Row]) -> dict[Any, Row]:
    return {row["id"]: row for row in rows}


def time_passes(seconds: float) -> None:
    """Everything that has happened so far happened this much earlier, in every column that holds a moment."""
    with transaction.atomic(), connection.cursor() as cursor:
        for model in tables():
            moments = [
                str(field.column) for field in model._meta.concrete_fields if isinstance(field, models.DateTimeField)
            ]
            if moments and model._meta.db_table not in _ONLY and model._meta.db_table != "orders_storecreditentry":
                _make_older(cursor, model._meta.db_table, moments, seconds)


def _make_older(cursor: Any, table: str, moments: Iterable[str], seconds: float) -> None:
    """Published policies do not let themselves be changed, so their guard looks away for this moment."""
    changes = ", ".join(f"{moment} = {moment} - %(ago)s" for moment in moments)
    guarded = table == _POLICIES
    if guarded:
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    cursor.execute(f"UPDATE {table} SET {changes}", {"ago": timedelta(seconds=seconds)})
    if guarded:
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def keep_policies() -> None:
    """Remember the policies that the migrations have put there, for `clear`."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {_KEPT_POLICIES}")
        cursor.execute(f"CREATE TABLE {_KEPT_POLICIES} AS SELECT * FROM {_POLICIES}")


def forget_policies() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {_KEPT_POLICIES}")


def clear() -> None:
    """An empty shop with its first policies."""
    names = ", ".join(model._meta.db_table for model in tables())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {names} CASCADE")
        cursor.execute(f"INSERT INTO {_POLICIES} SELECT * FROM {_KEPT_POLICIES}")
