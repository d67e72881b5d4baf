from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0027_open_returns_are_found_fast")]

    operations = [
        migrations.AddIndex(
            "refund",
            models.Index(
                condition=models.Q(("state", "succeeded")), fields=["finished_at"], name="refund_money_back_at"
            ),
        ),
    ]
