"""A refund made elsewhere that was booked from a report, and turned out to be one of ours, names it."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("refunds", "0024_a_return_arranges_its_refund")]

    operations = [
        migrations.AddField(
            model_name="refund",
            name="same_as",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="refunds.refund",
                verbose_name="turned out to be",
            ),
        ),
        migrations.AddConstraint(
            model_name="refund",
            constraint=models.CheckConstraint(
                condition=Q(same_as=None) | Q(kind="elsewhere", state="rejected"),
                name="only_elsewhere_turns_out_to_be_another",
            ),
        ),
    ]
