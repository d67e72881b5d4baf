"""Staff hear of money that is due again, because what an earlier refund counted has come to nothing."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0025_a_booking_turns_out_to_be_a_refund")]

    operations = [
        migrations.AlterField(
            model_name="staffalert",
            name="kind",
            field=models.CharField(
                choices=[
                    ("overdue", "a customer has waited too long for money"),
                    ("owed_money", "money is due again that an earlier refund kept back"),
                    ("owed_goods", "a customer has waited too long for goods"),
                    ("difference", "our books and the provider's differ"),
                    ("not_announced", "the provider reports a refund that we did not ask for"),
                    ("arrived_after_all", "goods that were settled as lost have arrived after all"),
                    ("not_sent_back", "goods of a return have not come for a long time"),
                ],
                max_length=20,
                verbose_name="kind of alert",
            ),
        ),
    ]
