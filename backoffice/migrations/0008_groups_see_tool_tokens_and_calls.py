"""Whoever sees everything of a conversation sees which programs have called tools, and for whom."""

from importlib import import_module

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

groups = import_module("backoffice.migrations.0001_groups")
NEW = ("view_tooltoken", "view_doorcall")


def widen(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups._make_permissions(apps)
    of_agent = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="agent")
    for name in ("support", "supervisor", "auditor"):
        apps.get_model("auth", "Group").objects.get(name=name).permissions.add(*of_agent.filter(codename__in=NEW))


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0007_groups_see_notes_and_supervisors_write_answers"),
        ("agent", "0012_tokens_and_calls_from_outside"),
    ]

    operations = [migrations.RunPython(widen, migrations.RunPython.noop)]
