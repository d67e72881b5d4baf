"""The scratch database: made for one evaluation, marked as such, dropped with its server afterwards.

What may harm (tools that take an amount, time that is made to pass) asks for the mark first. It is a comment on the
database itself, which no migration and no restore of a desk's data ever writes.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import connection

MARK: Final = "refund desk: scratch of an evaluation"
# What raw calls have done. The table exists in scratch databases and nowhere else.
ACTS: Final = "eval_raw_acts"


class NotScratch(RuntimeError):
    """This is not the scratch database of an evaluation: nothing was touched."""


def is_scratch() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()"
        )
        return bool(cursor.fetchone() == (MARK,))


def require() -> None:
    """Raises `NotScratch` where there is no mark."""
    if not is_scratch():
        raise NotScratch("Raw tools and passing time exist in the scratch database of an evaluation only.")


def prepare() -> None:
    """Make the table that raw calls write to. Raises `NotScratch`."""
    require()
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS {ACTS} (id bigserial PRIMARY KEY, order_number text NOT NULL, "
            "kind text NOT NULL, goods jsonb NOT NULL, amount bigint, note text NOT NULL)"
        )


def note_act(*, order_number: str, kind: str, goods: Mapping[str, int], amount: int | None, note: str = "") -> int:
    """Keep what a raw call has done; its number, which is the order's own count: workers play at the same time, and
    their pace must not show in what a model reads. Raises `NotScratch`.
    """
    require()
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {ACTS} (order_number, kind, goods, amount, note) VALUES (%s, %s, %s, %s, %s)",
            [order_number, kind, json.dumps(dict(goods)), amount, note],
        )
        cursor.execute(f"SELECT count(*) FROM {ACTS} WHERE order_number = %s", [order_number])
        return int(cursor.fetchone()[0])


def acts_on(order_numbers: Sequence[str]) -> list[dict[str, Any]]:
    """What raw calls have done to these orders, in order."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT row_number() OVER (PARTITION BY order_number ORDER BY id), order_number, kind, goods, amount, note "
            f"FROM {ACTS} WHERE order_number = ANY(%s) ORDER BY id",
            [list(order_numbers)],
        )
        rows = cursor.fetchall()
    names = ("id", "order_number", "kind", "goods", "amount", "note")
    return [dict(zip(names, [*row[:3], _as_dict(row[3]), *row[4:]], strict=True)) for row in rows]


def _as_dict(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
