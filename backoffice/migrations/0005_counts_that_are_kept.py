"""What the numbers for Prometheus come to up to one row: a process that starts need not count all of history."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("backoffice", "0004_groups_see_model_calls_and_mails"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeptCount",
            fields=[
                ("table", models.CharField(max_length=60, primary_key=True, serialize=False)),
                ("counted_to", models.PositiveBigIntegerField()),
                ("sums", models.JSONField()),
            ],
        ),
    ]
