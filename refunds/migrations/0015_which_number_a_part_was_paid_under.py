"""Parts of one refund can be paid by hand at different times, and each transfer has a number of its own."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0014_under_way_after_a_refusal")]

    operations = [
        migrations.AddField(
            model_name="refundallocation",
            name="external_ref",
            field=models.CharField(blank=True, default="", max_length=120, verbose_name="number elsewhere"),
            preserve_default=False,
        ),
    ]
