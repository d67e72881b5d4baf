"""A question about goods that have come back waits until somebody answers it: those that wait now lose their date."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def let_them_wait(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    approvals = apps.get_model("refunds", "Approval").objects.filter(state="waiting")
    approvals.filter(refund__return_request__isnull=False).update(expires_at=None)


class Migration(migrations.Migration):
    dependencies = [("refunds", "0012_open_exchanges_have_their_replacement")]

    operations = [
        migrations.AlterField(
            model_name="approval",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="expires at"),
        ),
        migrations.RunPython(let_them_wait, migrations.RunPython.noop),
    ]
