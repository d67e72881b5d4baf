from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orders", "0006_orders_are_found_fast"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex("auditevent", models.Index(fields=["action", "-at"], name="audit_by_action")),
        migrations.AddIndex("auditevent", models.Index(fields=["actor_user", "-at"], name="audit_by_person")),
    ]
