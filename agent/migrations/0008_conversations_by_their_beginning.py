from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agent", "0007_a_wait_that_ends_unanswered_is_told")]

    operations = [
        migrations.AddIndex("conversation", models.Index(fields=["created_at"], name="conversation_begun")),
    ]
