"""Whoever answers for how customers are treated sees how often the assistant is right: supervisors and auditors."""

from importlib import import_module

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

groups = import_module("backoffice.migrations.0001_groups")
RECORDS = ("view_evalrun", "view_evalcase")
WHO = ("supervisor", "auditor")


def grant(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups._make_permissions(apps)
    config = apps.get_app_config("backoffice")
    config.models_module = True  # as in 0006: the app has its models only in this migration's state
    create_permissions(config, apps=apps, verbosity=0)
    config.models_module = None
    permissions = apps.get_model("auth", "Permission").objects
    records = permissions.filter(content_type__app_label="agent", codename__in=RECORDS)
    pages = permissions.filter(content_type__app_label="backoffice", codename="view_evals")
    for name in ("support", *WHO):
        group = apps.get_model("auth", "Group").objects.get(name=name)
        group.permissions.add(*records, *(pages if name in WHO else ()))


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0009_staff_use_the_copilot"),
        ("agent", "0014_evaluations"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="export",
            options={
                "ordering": ["-id"],
                "permissions": [
                    ("view_reports", "Can see the reports"),
                    ("search_history", "Can search the history of all orders"),
                    ("view_evals", "Can see the evaluations"),
                ],
                "verbose_name": "export",
                "verbose_name_plural": "exports",
            },
        ),
        migrations.RunPython(grant, migrations.RunPython.noop),
    ]
