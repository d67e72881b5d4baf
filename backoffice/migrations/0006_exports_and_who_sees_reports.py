"""Lists as files; and who sees the reports and searches the whole history: supervisors and auditors."""

from importlib import import_module

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

groups = import_module("backoffice.migrations.0001_groups")
NEW = ("view_reports", "search_history", "view_export")
WHO = ("supervisor", "auditor")


def grant(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    config = apps.get_app_config("backoffice")
    config.models_module = True  # as in 0001: the app has its models only in this migration's state
    create_permissions(config, apps=apps, verbosity=0)
    config.models_module = None
    found = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="backoffice", codename__in=NEW)
    for name in WHO:
        apps.get_model("auth", "Group").objects.get(name=name).permissions.add(*found)


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0005_counts_that_are_kept"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Export",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=20, verbose_name="list")),
                ("filters", models.JSONField(blank=True, default=dict, verbose_name="filters")),
                ("language", models.CharField(max_length=8, verbose_name="language")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "waiting to be written"),
                            ("running", "being written"),
                            ("done", "ready"),
                            ("failed", "not written"),
                            ("cancelled", "cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("rows_expected", models.PositiveIntegerField(default=0, verbose_name="rows expected")),
                ("rows_done", models.PositiveIntegerField(default=0, verbose_name="rows written")),
                ("cursor", models.JSONField(blank=True, null=True, verbose_name="last row written")),
                ("error", models.CharField(blank=True, max_length=240, verbose_name="error")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("touched_at", models.DateTimeField(blank=True, null=True, verbose_name="touched at")),
                ("finished_at", models.DateTimeField(blank=True, null=True, verbose_name="finished at")),
                ("expires_at", models.DateTimeField(verbose_name="expires at")),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="asked for by",
                    ),
                ),
            ],
            options={
                "verbose_name": "export",
                "verbose_name_plural": "exports",
                "ordering": ["-id"],
                "permissions": [
                    ("view_reports", "Can see the reports"),
                    ("search_history", "Can search the history of all orders"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExportPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("text", models.TextField(verbose_name="text")),
                (
                    "export",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="backoffice.export",
                        verbose_name="export",
                    ),
                ),
            ],
            options={
                "verbose_name": "part of an export",
                "verbose_name_plural": "parts of exports",
                "ordering": ["export_id", "number"],
                "constraints": [models.UniqueConstraint(fields=("export", "number"), name="export_part_once")],
            },
        ),
        migrations.AddIndex(
            model_name="export",
            index=models.Index(
                condition=models.Q(("state__in", ["queued", "running"])), fields=["id"], name="export_unfinished"
            ),
        ),
        migrations.AddIndex(
            model_name="export", index=models.Index(fields=["expires_at"], name="export_expires")
        ),
        migrations.RunPython(grant, migrations.RunPython.noop),
    ]
