"""How often it was tried to ask a gateway, apart from how often it answered: a silent one is asked more rarely too."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def begin_with_the_answers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("refunds", "GatewayAttempt").objects.update(times_tried=models.F("times_asked"))


class Migration(migrations.Migration):
    dependencies = [("refunds", "0018_when_an_event_was_last_tried")]

    operations = [
        migrations.AddField(
            model_name="gatewayattempt",
            name="times_tried",
            field=models.PositiveIntegerField(
                default=0, help_text="Answered or not: the pauses grow with it.", verbose_name="times tried to ask"
            ),
        ),
        migrations.AlterField(
            model_name="gatewayattempt",
            name="times_asked",
            field=models.PositiveIntegerField(
                default=0, help_text="How often the gateway answered.", verbose_name="times asked about"
            ),
        ),
        migrations.RunPython(begin_with_the_answers, migrations.RunPython.noop),
    ]
