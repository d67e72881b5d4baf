"""How long customers usually wait is asked on many pages; the answers are few among all that is audited."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orders", "0004_stock_not_counted_and_credit_adds_up"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(
                condition=models.Q(("action", "conversation.answered")), fields=["-at"], name="answers_by_time"
            ),
        ),
    ]
