from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("refunds", "0028_when_money_was_back")]

    operations = [
        migrations.AddIndex("approval", models.Index(fields=["-decided_at", "-id"], name="approval_latest_decided")),
        migrations.AddIndex("return", models.Index(fields=["-created_at", "-id"], name="return_newest")),
        migrations.AddIndex("replacement", models.Index(fields=["-created_at", "-id"], name="replacement_newest")),
        migrations.AddIndex("bookscompared", models.Index(fields=["-until", "-id"], name="books_newest")),
    ]
