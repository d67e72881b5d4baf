"""The groups of people who work here, and what each may do. What a permission protects stands beside its model."""

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

APPS = ("orders", "refunds", "agent")
SUPPORT = (
    "orders.issue_customer_link",
    "refunds.ask_quote",
    "refunds.redeem_quote",
    "refunds.retry_refund",
    "agent.answer_conversation",
)
SUPERVISOR = (*SUPPORT, "orders.add_order", "orders.handle_shipments", "refunds.approve_refund")
WAREHOUSE = ("orders.view_order", "orders.view_shipment", "orders.view_lineitem", "orders.handle_shipments")


def make_groups(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _make_permissions(apps)
    permissions = apps.get_model("auth", "Permission").objects.filter(content_type__app_label__in=APPS)
    views = list(permissions.filter(codename__startswith="view_"))
    by_name = {f"{each.content_type.app_label}.{each.codename}": each for each in permissions}
    members = {
        "support": [*views, *(by_name[name] for name in SUPPORT)],
        "supervisor": [*views, *(by_name[name] for name in SUPERVISOR)],
        "warehouse": [by_name[name] for name in WAREHOUSE],
        "auditor": views,
    }
    for name, granted in members.items():
        apps.get_model("auth", "Group").objects.get_or_create(name=name)[0].permissions.set(granted)


def _make_permissions(apps: Apps) -> None:
    """Django makes permission rows only after all migrations; groups need them now."""
    for label in APPS:
        config = apps.get_app_config(label)
        config.models_module = True  # without it the models of a migration are taken for an app without models
        create_permissions(config, apps=apps, verbosity=0)
        config.models_module = None


def remove_groups(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("auth", "Group").objects.filter(name__in=("support", "supervisor", "warehouse", "auditor")).delete()


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("orders", "0002_audit_append_only"),
        ("refunds", "0001_initial"),
        ("agent", "0001_initial"),
    ]

    operations = [migrations.RunPython(make_groups, remove_groups)]
