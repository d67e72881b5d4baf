"""A turn's seconds are counted over all its workers, and near a customer's limits of a day it counts from its start."""

import datetime

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent", "0008_who_looks_is_not_a_row"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="taken_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="taken at"),
        ),
        migrations.AddField(
            model_name="turn",
            name="worked",
            field=models.DurationField(
                default=datetime.timedelta,
                help_text="Not counting the time in which it waited for somebody.",
                verbose_name="worked before",
            ),
        ),
        migrations.AddField(
            model_name="turn",
            name="counts_already",
            field=models.BooleanField(default=False, verbose_name="counts already"),
        ),
    ]
