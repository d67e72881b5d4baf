import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent", "0012_tokens_and_calls_from_outside"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CopilotMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "author",
                    models.CharField(
                        choices=[("staff", "staff"), ("copilot", "copilot")], max_length=10, verbose_name="author"
                    ),
                ),
                ("content", models.JSONField(verbose_name="content")),
                ("stop_reason", models.CharField(blank=True, max_length=40, verbose_name="stop reason")),
                (
                    "client_ref",
                    models.CharField(
                        blank=True, max_length=64, null=True, unique=True, verbose_name="page's reference"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
            ],
            options={
                "verbose_name": "copilot message",
                "verbose_name_plural": "copilot messages",
                "ordering": ["thread_id", "id"],
            },
        ),
        migrations.CreateModel(
            name="CopilotThread",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("language", models.CharField(default="zh-hant", max_length=8, verbose_name="language")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("idle", "nothing to do"),
                            ("queued", "queued"),
                            ("running", "running"),
                            ("failed", "failed"),
                        ],
                        default="idle",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("error", models.CharField(blank=True, max_length=60, verbose_name="error")),
                ("lease_token", models.CharField(blank=True, max_length=40, verbose_name="lease")),
                ("lease_until", models.DateTimeField(blank=True, null=True, verbose_name="lease until")),
                ("queued_at", models.DateTimeField(blank=True, null=True, verbose_name="queued at")),
                ("version", models.PositiveBigIntegerField(default=0, verbose_name="version")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("updated_at", models.DateTimeField(auto_now=True, verbose_name="updated at")),
                (
                    "conversation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="copilot_threads",
                        to="agent.conversation",
                        verbose_name="conversation",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="member of staff",
                    ),
                ),
            ],
            options={
                "verbose_name": "copilot thread",
                "verbose_name_plural": "copilot threads",
                "ordering": ["-id"],
                "permissions": [("use_copilot", "Can use the staff's copilot")],
            },
        ),
        migrations.CreateModel(
            name="CopilotRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("started_at", models.DateTimeField(verbose_name="started at")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended at")),
                ("ending", models.CharField(blank=True, max_length=40, verbose_name="ending")),
                ("model", models.CharField(blank=True, max_length=60, verbose_name="model")),
                ("request_id", models.CharField(blank=True, max_length=80, verbose_name="request id")),
                ("input_tokens", models.PositiveIntegerField(default=0, verbose_name="tokens read afresh")),
                ("written_tokens", models.PositiveIntegerField(default=0, verbose_name="tokens written to the cache")),
                ("cached_tokens", models.PositiveIntegerField(default=0, verbose_name="cached tokens")),
                ("output_tokens", models.PositiveIntegerField(default=0, verbose_name="output tokens")),
                (
                    "cost_micro",
                    models.PositiveBigIntegerField(
                        default=0,
                        help_text="In millionths of a US dollar, by the price table in the settings.",
                        verbose_name="cost",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="requests",
                        to="agent.copilotmessage",
                        verbose_name="question",
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="requests",
                        to="agent.copilotthread",
                        verbose_name="copilot thread",
                    ),
                ),
            ],
            options={
                "verbose_name": "copilot model call",
                "verbose_name_plural": "copilot model calls",
                "ordering": ["thread_id", "id"],
            },
        ),
        migrations.AddField(
            model_name="copilotmessage",
            name="thread",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="messages",
                to="agent.copilotthread",
                verbose_name="copilot thread",
            ),
        ),
        migrations.CreateModel(
            name="CopilotCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tool_use_id", models.CharField(max_length=80, verbose_name="tool call id")),
                ("name", models.CharField(max_length=64, verbose_name="tool")),
                ("arguments", models.JSONField(verbose_name="arguments")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("asked", "asked"),
                            ("suspended", "waiting for the customer's press"),
                            ("answered", "answered"),
                        ],
                        default="asked",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("result", models.JSONField(blank=True, null=True, verbose_name="result")),
                ("is_error", models.BooleanField(default=False, verbose_name="error")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("answered_at", models.DateTimeField(blank=True, null=True, verbose_name="answered at")),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calls",
                        to="agent.copilotmessage",
                        verbose_name="copilot message",
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calls",
                        to="agent.copilotthread",
                        verbose_name="copilot thread",
                    ),
                ),
            ],
            options={
                "verbose_name": "copilot tool call",
                "verbose_name_plural": "copilot tool calls",
                "ordering": ["thread_id", "id"],
            },
        ),
        migrations.CreateModel(
            name="CopilotDraft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("call_ref", models.CharField(max_length=160, unique=True, verbose_name="tool call id")),
                ("text", models.TextField(verbose_name="text")),
                ("read_to", models.PositiveBigIntegerField(verbose_name="read up to message")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="copilot_drafts",
                        to="agent.conversation",
                        verbose_name="conversation",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="member of staff",
                    ),
                ),
            ],
            options={
                "verbose_name": "copilot draft",
                "verbose_name_plural": "copilot drafts",
                "ordering": ["conversation_id", "-id"],
                "indexes": [models.Index(fields=["conversation", "user", "-id"], name="copilot_draft_newest")],
            },
        ),
        migrations.AddIndex(
            model_name="copilotthread",
            index=models.Index(fields=["user", "-updated_at", "-id"], name="copilot_of_person_newest"),
        ),
        migrations.AddConstraint(
            model_name="copilotthread",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "running"), _negated=True), ("lease_until__isnull", False), _connector="OR"
                ),
                name="copilot_run_has_lease",
            ),
        ),
        migrations.AddIndex(
            model_name="copilotrequest",
            index=models.Index(fields=["started_at"], name="copilot_request_begun"),
        ),
        migrations.AddConstraint(
            model_name="copilotcall",
            constraint=models.UniqueConstraint(fields=("thread", "tool_use_id"), name="copilot_call_once"),
        ),
        migrations.AddConstraint(
            model_name="copilotcall",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "answered"), _negated=True), ("result__isnull", False), _connector="OR"
                ),
                name="answered_copilot_call_has_result",
            ),
        ),
    ]
