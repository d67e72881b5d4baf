from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0029_lists_go_on_from_a_place")]

    operations = [
        migrations.CreateModel(
            name="SimulatedCharge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("charge_ref", models.CharField(max_length=64, unique=True, verbose_name="charge reference")),
                (
                    "state",
                    models.CharField(
                        choices=[("succeeded", "succeeded"), ("pending", "pending"), ("failed", "failed")],
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
            ],
            options={
                "verbose_name": "simulated gateway: charge",
                "verbose_name_plural": "simulated gateway: charges",
            },
        ),
        migrations.AlterField(
            model_name="simulatedfault",
            name="kind",
            field=models.CharField(
                choices=[
                    ("refuse", "refuse"),
                    ("slow", "answer slowly"),
                    ("timeout_after", "act, then time out"),
                    ("timeout_before", "time out without acting"),
                    ("down", "not answer at all"),
                ],
                max_length=16,
                verbose_name="kind of fault",
            ),
        ),
    ]
