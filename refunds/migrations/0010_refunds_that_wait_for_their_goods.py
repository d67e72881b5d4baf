"""A refund that was made elsewhere can wait until a person says for which goods it was."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0009_published_once_by_somebody_else")]

    operations = [
        migrations.AddField(
            model_name="refund",
            name="needs_assignment",
            field=models.BooleanField(default=False, verbose_name="goods not entered yet"),
        ),
        migrations.AddConstraint(
            model_name="refund",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("needs_assignment", False),
                    models.Q(("kind", "elsewhere"), ("quote__isnull", True)),
                    _connector="OR",
                ),
                name="only_elsewhere_waits_for_its_goods",
            ),
        ),
    ]
