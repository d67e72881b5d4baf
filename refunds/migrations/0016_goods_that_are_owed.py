"""One more kind of alert: goods that the shop owes and has not sent."""

from django.db import migrations, models

KINDS = [
    ("overdue", "a customer has waited too long for money"),
    ("owed_goods", "a customer has waited too long for goods"),
    ("difference", "our books and the provider's differ"),
    ("not_announced", "the provider reports a refund that we did not ask for"),
]


class Migration(migrations.Migration):
    dependencies = [("refunds", "0015_which_number_a_part_was_paid_under")]

    operations = [
        migrations.AlterField(
            model_name="staffalert",
            name="kind",
            field=models.CharField(choices=KINDS, max_length=20, verbose_name="kind of alert"),
        ),
    ]
