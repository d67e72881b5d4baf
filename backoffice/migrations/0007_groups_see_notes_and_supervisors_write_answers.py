"""Whoever sees everything of a conversation sees what staff keep beside it; supervisors write ready-made answers."""

from importlib import import_module

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

groups = import_module("backoffice.migrations.0001_groups")
NEW = ("view_staffnote", "view_readmark", "view_cannedreply")


def widen(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups._make_permissions(apps)
    of_agent = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="agent")
    group = apps.get_model("auth", "Group").objects
    for name in ("support", "supervisor", "auditor"):
        group.get(name=name).permissions.add(*of_agent.filter(codename__in=NEW))
    group.get(name="supervisor").permissions.add(of_agent.get(codename="edit_canned_replies"))


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0006_exports_and_who_sees_reports"),
        ("agent", "0011_what_staff_keep_beside_a_conversation"),
    ]

    operations = [migrations.RunPython(widen, migrations.RunPython.noop)]
