from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0026_money_that_is_due_again")]

    operations = [
        migrations.AddIndex("return", models.Index(fields=["state", "created_at"], name="return_state_oldest")),
    ]
