"""Two more kinds of alert: lost goods that have arrived after all, and returns whose goods nobody sends."""

from django.db import migrations, models

KINDS = [
    ("overdue", "a customer has waited too long for money"),
    ("owed_goods", "a customer has waited too long for goods"),
    ("difference", "our books and the provider's differ"),
    ("not_announced", "the provider reports a refund that we did not ask for"),
    ("arrived_after_all", "goods that were settled as lost have arrived after all"),
    ("not_sent_back", "goods of a return have not come for a long time"),
]


class Migration(migrations.Migration):
    dependencies = [("refunds", "0019_how_often_it_was_tried_to_ask")]

    operations = [
        migrations.AlterField(
            model_name="staffalert",
            name="kind",
            field=models.CharField(choices=KINDS, max_length=20, verbose_name="kind of alert"),
        ),
    ]
