"""A return whose refund was made is not called refunded: whether the money went, its refund says. A name, no more."""

from django.db import migrations, models

STATES = [
    ("requested", "requested"),
    ("received", "received"),
    ("accepted", "accepted"),
    ("refunded", "refund arranged"),
    ("exchanged", "exchanged"),
    ("rejected", "rejected"),
    ("withdrawn", "withdrawn"),
]


class Migration(migrations.Migration):
    dependencies = [("refunds", "0023_a_version_to_come_can_be_withdrawn")]

    operations = [
        migrations.AlterField(
            model_name="return",
            name="state",
            field=models.CharField(choices=STATES, default="requested", max_length=12, verbose_name="state"),
        ),
    ]
