"""Who talks with customers may ask the copilot; who sees everything sees what it was asked."""

from importlib import import_module

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

groups = import_module("backoffice.migrations.0001_groups")
SEEN = ("copilotthread", "copilotmessage", "copilotcall", "copilotrequest", "copilotdraft", "simulatedcharge")


def widen(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups._make_permissions(apps)
    permissions = apps.get_model("auth", "Permission").objects
    group = apps.get_model("auth", "Group").objects
    views = permissions.filter(codename__in=[f"view_{name}" for name in SEEN])
    use = permissions.get(content_type__app_label="agent", codename="use_copilot")
    for name in ("support", "supervisor", "auditor"):
        group.get(name=name).permissions.add(*views)
    for name in ("support", "supervisor"):
        group.get(name=name).permissions.add(use)


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0008_groups_see_tool_tokens_and_calls"),
        ("agent", "0013_the_staffs_copilot"),
        ("refunds", "0030_what_became_of_a_charge"),
    ]

    operations = [migrations.RunPython(widen, migrations.RunPython.noop)]
