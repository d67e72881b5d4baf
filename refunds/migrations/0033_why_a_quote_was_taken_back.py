"""A quote that was taken back says by what: the customer wrote something else, or the conversation ended."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0032_returns_by_the_end_of_their_number")]

    operations = [
        migrations.AlterField(
            model_name="refundquote",
            name="ended_because",
            field=models.CharField(
                blank=True,
                choices=[
                    ("newer_quote", "a newer quote took its place"),
                    ("order_changed", "the order had changed"),
                    ("wrote_instead", "the customer wrote something else"),
                    ("closed", "the conversation ended"),
                ],
                max_length=16,
                verbose_name="why it ended",
            ),
        ),
    ]
