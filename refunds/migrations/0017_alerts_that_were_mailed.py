"""Whether an alert was sent by e-mail: what was not is sent later, and nothing twice."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0016_goods_that_are_owed")]

    operations = [
        migrations.AddField(
            model_name="staffalert",
            name="mailing_since",
            field=models.DateTimeField(blank=True, null=True, verbose_name="being mailed since"),
        ),
        migrations.AddField(
            model_name="staffalert",
            name="mailed_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="mailed at"),
        ),
    ]
