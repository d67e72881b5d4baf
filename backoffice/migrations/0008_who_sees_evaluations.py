"""Whoever answers for how customers are treated sees how often the assistant is right: supervisors and auditors."""

from importlib import import_module

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

groups = import_module("backoffice.migrations.0001_groups")
RECORDS = ("view_evalrun", "view_evalcase")


def widen(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups._make_permissions(apps)
    of_agent = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="agent")
    for name in ("supervisor", "auditor"):
        group = apps.get_model("auth", "Group").objects.get(name=name)
        group.permissions.add(*of_agent.filter(codename__in=("view_evals", *RECORDS)))


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0007_groups_see_notes_and_supervisors_write_answers"),
        ("agent", "0014_evaluations"),
    ]

    operations = [migrations.RunPython(widen, migrations.RunPython.noop)]
