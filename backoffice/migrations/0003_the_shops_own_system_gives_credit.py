"""Store credit is granted by the shop's own system, which is a group of its own: never by one person at this desk."""

from importlib import import_module
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

groups = import_module("backoffice.migrations.0001_groups")

CREDIT = ("orders.add_storecreditentry",)
SHOP = (
    *CREDIT,
    "orders.add_order",
    "orders.change_product",
    "orders.handle_shipments",
    "orders.issue_customer_link",
    "orders.view_order",
    "orders.view_product",
    "orders.view_storecreditentry",
)


def make_shop(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups._make_permissions(apps)
    rows = apps.get_model("auth", "Group").objects
    rows.get_or_create(name="shop")[0].permissions.set(_permissions(apps, SHOP))
    for supervisors in rows.filter(name="supervisor"):
        supervisors.permissions.remove(*_permissions(apps, CREDIT))


def remove_shop(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("auth", "Group").objects
    for supervisors in rows.filter(name="supervisor"):
        supervisors.permissions.add(*_permissions(apps, CREDIT))
    rows.filter(name="shop").delete()


def _permissions(apps: Apps, names: tuple[str, ...]) -> list[Any]:
    known = apps.get_model("auth", "Permission").objects.filter(content_type__app_label__in=groups.APPS)
    by_name = {f"{each.content_type.app_label}.{each.codename}": each for each in known.select_related("content_type")}
    return [by_name[name] for name in names]


class Migration(migrations.Migration):
    dependencies = [("backoffice", "0002_groups_for_all_that_is_given_back")]

    operations = [migrations.RunPython(make_shop, remove_shop)]
