"""Lists of refunds and quotes, and what of them waits for a person, without reading all."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0030_what_became_of_a_charge")]

    operations = [
        migrations.AddIndex("refund", models.Index(fields=["-created_at", "-id"], name="refund_newest")),
        migrations.AddIndex("refundquote", models.Index(fields=["-created_at", "-id"], name="quote_newest")),
        migrations.AddIndex(
            "refund",
            models.Index(
                fields=["created_at"], condition=models.Q(needs_assignment=True), name="refund_of_unknown_goods"
            ),
        ),
        migrations.AddIndex(
            "refundallocation",
            models.Index(fields=["refund"], condition=models.Q(state="failed"), name="allocation_refused"),
        ),
        migrations.AddIndex(
            "gatewayattempt",
            models.Index(fields=["started_at"], condition=models.Q(outcome="unknown"), name="attempt_in_doubt"),
        ),
    ]
