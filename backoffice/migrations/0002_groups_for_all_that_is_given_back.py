"""What the roles may do besides: compensation, exceptions, policies, products, store credit, addresses."""

from importlib import import_module

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

groups = import_module("backoffice.migrations.0001_groups")

SUPPORT = (
    *groups.SUPPORT,
    "orders.change_address",
    "refunds.propose_compensation",
    "refunds.ask_override",
)
SUPERVISOR = (
    *groups.SUPERVISOR,
    *SUPPORT,
    "orders.change_product",
    "orders.add_storecreditentry",
    "refunds.record_elsewhere",
    "refunds.edit_policy",
    "refunds.publish_policy",
)
MARKETING = ("refunds.view_refundpolicy", "orders.view_product", "refunds.edit_policy", "refunds.publish_policy")


def widen(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups._make_permissions(apps)
    permissions = apps.get_model("auth", "Permission").objects.filter(content_type__app_label__in=groups.APPS)
    views = list(permissions.filter(codename__startswith="view_"))
    by_name = {f"{each.content_type.app_label}.{each.codename}": each for each in permissions}
    members = {
        "support": [*views, *(by_name[name] for name in SUPPORT)],
        "supervisor": [*views, *(by_name[name] for name in SUPERVISOR)],
        "auditor": views,
        "marketing": [by_name[name] for name in MARKETING],
    }
    for name, granted in members.items():
        apps.get_model("auth", "Group").objects.get_or_create(name=name)[0].permissions.add(*granted)


def narrow(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups.make_groups(apps, schema_editor)
    apps.get_model("auth", "Group").objects.filter(name="marketing").delete()


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0001_groups"),
        ("orders", "0004_stock_not_counted_and_credit_adds_up"),
        ("refunds", "0008_approvals_and_caps"),
        ("agent", "0004_cards_of_more_kinds"),
    ]

    operations = [migrations.RunPython(widen, narrow)]
