"""Rows by the thousand, quickly: every row of the desk's tables copied by the database itself.

Each copy stands for itself, with keys of its own that lead to each other as the originals' do: an order has its own
lines, conversation, quotes, refunds and returns again. People, rules and products are not copied.
"""

from typing import Any, Final

from django.apps import apps
from django.db import connection
from django.db.models import DateTimeField, Field, Model, UniqueConstraint

from backoffice.models import KeptCount
from orders.models import AuditEvent, Customer, Product, StoreCreditAccount
from refunds.models import RefundPolicy

APPS: Final = ("orders", "refunds", "agent", "backoffice")
ONCE: Final[frozenset[type[Model]]] = frozenset({Customer, Product, StoreCreditAccount, RefundPolicy, KeptCount})
# There are so many of these by themselves that one copy of each is enough.
FEW_COPIES: Final[frozenset[type[Model]]] = frozenset({AuditEvent})
APART: Final = 1_000_000


def multiply(copies: int) -> None:
    """Beside each row so many more like it. The database's triggers rest meanwhile, its other constraints do not."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for label in APPS:
            for model in apps.get_app_config(label).get_models(include_auto_created=True):
                if model not in ONCE:
                    cursor.execute(_copied(model, 1 if model in FEW_COPIES else copies))
        cursor.execute("SET LOCAL session_replication_role = origin")


def _copied(model: type[Model], copies: int) -> str:
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    values = ", ".join(_value(model, field) for field in fields)
    table = connection.ops.quote_name(model._meta.db_table)
    return f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} CROSS JOIN generate_series(1, {copies}) AS copy"


def _value(model: type[Model], field: "Field[Any, Any]") -> str:
    """What stands in the column of a copy: another key for keys and what is there once, else the same."""
    column = connection.ops.quote_name(str(field.column))
    key = field
    while key.remote_field is not None:
        if key.remote_field.model in ONCE or key.remote_field.model._meta.app_label not in APPS:
            return column
        key = key.target_field  # type: ignore[attr-defined]
    if not (field.primary_key or field.remote_field or field in _once_in_the_table(model)):
        return column
    if isinstance(key, DateTimeField):
        return f"{column} - copy * interval '1 hour'"
    is_number = "Integer" in key.get_internal_type() or "Auto" in key.get_internal_type()
    return f"{column} + copy * {APART}" if is_number else f"NULLIF({column}, '') || '-' || copy"


def _once_in_the_table(model: type[Model]) -> "list[Field[Any, Any]]":
    """Fields without a relation that no two rows may share, by themselves or together with others."""
    found = [field for field in model._meta.concrete_fields if field.unique and field.remote_field is None]
    for constraint in model._meta.constraints:
        if isinstance(constraint, UniqueConstraint):
            together = [model._meta.get_field(name) for name in constraint.fields]
            last = together[-1]
            if isinstance(last, Field) and all(field.remote_field is None for field in together):
                found.append(last)
    return found
