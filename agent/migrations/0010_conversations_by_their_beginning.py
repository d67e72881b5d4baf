from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agent", "0009_how_long_a_turn_was_worked_on")]

    operations = [
        migrations.AddIndex("conversation", models.Index(fields=["created_at"], name="conversation_begun")),
    ]
