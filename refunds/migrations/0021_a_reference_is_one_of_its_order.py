"""What was asked for under a reference is looked up within its order, so it is one there and no further."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0020_parcels_that_staff_hear_of")]

    operations = [
        migrations.AlterField(
            model_name="replacement",
            name="request_ref",
            field=models.CharField(max_length=80, verbose_name="request reference"),
        ),
        migrations.AlterField(
            model_name="return",
            name="request_ref",
            field=models.CharField(max_length=80, verbose_name="request reference"),
        ),
        migrations.AddConstraint(
            model_name="replacement",
            constraint=models.UniqueConstraint(fields=("request_ref", "order"), name="replacement_asked_for_once"),
        ),
        migrations.AddConstraint(
            model_name="return",
            constraint=models.UniqueConstraint(fields=("request_ref", "order"), name="return_asked_for_once"),
        ),
    ]
