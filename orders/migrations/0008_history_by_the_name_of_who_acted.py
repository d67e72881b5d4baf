from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orders", "0007_history_by_action_and_person")]

    operations = [
        migrations.AddIndex(
            "auditevent",
            models.Index(
                fields=["actor_name", "-at"],
                condition=models.Q(actor_kind__in=["staff", "system"]),
                name="audit_by_name",
            ),
        ),
    ]
