"""Notes for colleagues, who has read how far, ready-made answers, whose job a conversation is, and finding one again.

What people said is found by pieces of two characters in an inverted index, as names are (`orders/search.py`).
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SAID = """
CREATE INDEX agent_message_pieces ON agent_message USING gin (orders_pieces(content #>> '{0,text}', 2, 2))
    WHERE author IN ('customer', 'staff')
"""
BY = settings.AUTH_USER_MODEL


def member(name: str, related: str = "+", **more: bool) -> models.ForeignKey:
    return models.ForeignKey(
        BY, on_delete=django.db.models.deletion.PROTECT, related_name=related, verbose_name=name, **more
    )


def of_conversation(related: str) -> models.ForeignKey:
    return models.ForeignKey(
        "agent.conversation",
        on_delete=django.db.models.deletion.PROTECT,
        related_name=related,
        verbose_name="conversation",
    )


def number() -> models.BigAutoField:
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [
        ("agent", "0010_conversations_by_their_beginning"),
        ("orders", "0006_orders_are_found_fast"),
        migrations.swappable_dependency(BY),
    ]

    operations = [
        migrations.CreateModel(
            name="StaffNote",
            fields=[
                ("id", number()),
                ("text", models.TextField(verbose_name="text")),
                (
                    "client_ref",
                    models.CharField(blank=True, max_length=64, null=True, verbose_name="page's reference"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("conversation", of_conversation("notes")),
                ("staff", member("member of staff")),
            ],
            options={
                "verbose_name": "note for colleagues",
                "verbose_name_plural": "notes for colleagues",
                "ordering": ["conversation_id", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=["conversation", "client_ref"], name="note_once_per_client_ref")
                ],
            },
        ),
        migrations.CreateModel(
            name="ReadMark",
            fields=[
                ("id", number()),
                ("read_to", models.PositiveBigIntegerField(default=0, verbose_name="read up to message")),
                ("read_at", models.DateTimeField(verbose_name="read at")),
                ("conversation", of_conversation("read_marks")),
                ("staff", member("member of staff")),
            ],
            options={
                "verbose_name": "read mark",
                "verbose_name_plural": "read marks",
                "ordering": ["conversation_id", "-read_at"],
                "constraints": [models.UniqueConstraint(fields=["conversation", "staff"], name="one_read_mark_each")],
            },
        ),
        migrations.CreateModel(
            name="CannedReply",
            fields=[
                ("id", number()),
                ("title", models.CharField(max_length=60, verbose_name="title")),
                (
                    "language",
                    models.CharField(
                        choices=[("zh-hant", "繁體中文"), ("en", "English")], max_length=8, verbose_name="language"
                    ),
                ),
                ("text", models.TextField(verbose_name="text")),
                ("is_used", models.BooleanField(default=True, verbose_name="in use")),
                ("updated_at", models.DateTimeField(auto_now=True, verbose_name="updated at")),
                ("written_by", member("last changed by")),
            ],
            options={
                "verbose_name": "ready-made answer",
                "verbose_name_plural": "ready-made answers",
                "ordering": ["title", "id"],
                "permissions": [("edit_canned_replies", "Can write and retire ready-made answers")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_used", True)),
                        fields=("title", "language"),
                        name="one_canned_reply_per_title",
                    )
                ],
            },
        ),
        migrations.AddField(
            "conversation", "assignee", member("assigned to", "assigned_conversations", blank=True, null=True)
        ),
        migrations.AddIndex("conversation", models.Index(fields=["-updated_at", "-id"], name="conversation_newest")),
        migrations.AddIndex(
            "conversation",
            models.Index(
                fields=["waiting_since", "id"],
                condition=models.Q(("state", "open"), ("waiting_since__isnull", False)),
                name="conversation_waits_longest",
            ),
        ),
        migrations.RunSQL(SAID, "DROP INDEX agent_message_pieces"),
    ]
