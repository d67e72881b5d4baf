"""When a message of a provider was last tried: the next try counts from there."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0017_alerts_that_were_mailed")]

    operations = [
        migrations.AddField(
            model_name="providerevent",
            name="tried_at",
            field=models.DateTimeField(
                blank=True, help_text="When it was last tried to apply it.", null=True, verbose_name="tried at"
            ),
        ),
    ]
