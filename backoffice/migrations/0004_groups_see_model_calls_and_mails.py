"""Who sees everything of a conversation also sees the requests to the model and the e-mails to customers."""

from importlib import import_module

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

groups = import_module("backoffice.migrations.0001_groups")
NEW = ("view_modelcall", "view_customermail")


def widen(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups._make_permissions(apps)
    views = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="agent", codename__in=NEW)
    for name in ("support", "supervisor", "auditor"):
        apps.get_model("auth", "Group").objects.get(name=name).permissions.add(*views)


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0003_the_shops_own_system_gives_credit"),
        ("agent", "0005_model_calls_mails_and_who_waits"),
    ]

    operations = [migrations.RunPython(widen, migrations.RunPython.noop)]
