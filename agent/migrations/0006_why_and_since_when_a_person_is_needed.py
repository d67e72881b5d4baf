"""Why a person was asked for, and since when whoever needs one has waited."""

from typing import Any

from django.db import migrations, models
from django.db.models import F, Q


def they_have_waited(apps: Any, schema_editor: Any) -> None:
    """As far as is known: since the conversation last changed."""
    conversations = apps.get_model("agent", "Conversation").objects
    conversations.filter(needs_person=True, waiting_since=None).update(waiting_since=F("updated_at"))


class Migration(migrations.Migration):
    dependencies = [("agent", "0005_model_calls_mails_and_who_waits")]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="hand_off_reason",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Why a person was last asked for.",
                max_length=40,
                verbose_name="reason of the hand-off",
            ),
            preserve_default=False,
        ),
        migrations.RunPython(they_have_waited, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.CheckConstraint(
                condition=Q(("needs_person", False), ("waiting_since__isnull", False), _connector="OR"),
                name="who_needs_a_person_waits",
            ),
        ),
    ]
