"""One more kind of trouble that a person looks into: the provider is at it although it had refused."""

from django.db import migrations, models

TROUBLE = [
    ("paid_after_refusal", "paid after a refusal"),
    ("amount_differs", "paid something else than was asked"),
    ("failed_after_paid", "reported as failed after it was paid"),
    ("pending_after_no", "under way after a refusal"),
]


class Migration(migrations.Migration):
    dependencies = [("refunds", "0013_no_return_is_rejected_by_silence")]

    operations = [
        migrations.AlterField(
            model_name="gatewayattempt",
            name="trouble",
            field=models.CharField(
                blank=True, choices=TROUBLE, max_length=20, verbose_name="for a person to look into"
            ),
        ),
    ]
