"""Colleagues' talk with the copilot: rows that a run is resumed from and a page is drawn from.

They are apart from customers' conversations: no page of a customer and no request about an order can have them.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agent.models import Conversation
from agent.states import LIVE_RUNS, CopilotAuthor, CopilotState, ToolCallState


class CopilotThread(models.Model):
    """One colleague's talk with the copilot, beside a conversation or not. At most one run at a time, held by a lease.

    A run is the work on what was asked last. `state` says whether one is wanted, at work, over, or has failed.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("member of staff")
    )
    conversation = models.ForeignKey(
        Conversation,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="copilot_threads",
        verbose_name=_("conversation"),
    )
    language = models.CharField(_("language"), max_length=8, default="zh-hant")
    state = models.CharField(_("state"), max_length=10, choices=CopilotState.choices, default=CopilotState.IDLE)
    error = models.CharField(_("error"), max_length=60, blank=True)
    lease_token = models.CharField(_("lease"), max_length=40, blank=True)
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)
    queued_at = models.DateTimeField(_("queued at"), null=True, blank=True)
    # Raised by everything that a page shows: it asks for what is newer.
    version = models.PositiveBigIntegerField(_("version"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        app_label = "agent"
        verbose_name = _("copilot thread")
        verbose_name_plural = _("copilot threads")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["user", "-updated_at", "-id"], name="copilot_of_person_newest"),
            models.Index(fields=["queued_at"], condition=Q(state__in=sorted(LIVE_RUNS)), name="copilot_live_runs"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state=CopilotState.RUNNING) | Q(lease_until__isnull=False), name="copilot_run_has_lease"
            )
        ]
        permissions = [("use_copilot", "Can use the staff's copilot")]

    def __str__(self) -> str:
        return f"#{self.pk}"


class CopilotMessage(models.Model):
    """What the colleague asked, what the copilot said, or what the system says of a run. Blocks as the API has them."""

    thread = models.ForeignKey(
        CopilotThread, on_delete=models.PROTECT, related_name="messages", verbose_name=_("copilot thread")
    )
    author = models.CharField(_("author"), max_length=10, choices=CopilotAuthor.choices)
    content = models.JSONField(_("content"))
    stop_reason = models.CharField(_("stop reason"), max_length=40, blank=True)
    # The form's token, so that a double press asks once.
    client_ref = models.CharField(_("page's reference"), max_length=64, null=True, blank=True, unique=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        app_label = "agent"
        verbose_name = _("copilot message")
        verbose_name_plural = _("copilot messages")
        ordering = ["thread_id", "id"]

    def __str__(self) -> str:
        return self.text[:60]

    @property
    def text(self) -> str:
        return "\n\n".join(block["text"] for block in self.content if block.get("type") == "text")


class CopilotCall(models.Model):
    """One call the copilot asked for, and its one answer."""

    thread = models.ForeignKey(
        CopilotThread, on_delete=models.PROTECT, related_name="calls", verbose_name=_("copilot thread")
    )
    message = models.ForeignKey(
        CopilotMessage, on_delete=models.PROTECT, related_name="calls", verbose_name=_("copilot message")
    )
    tool_use_id = models.CharField(_("tool call id"), max_length=80)
    name = models.CharField(_("tool"), max_length=64)
    arguments = models.JSONField(_("arguments"))
    state = models.CharField(_("state"), max_length=10, choices=ToolCallState.choices, default=ToolCallState.ASKED)
    result = models.JSONField(_("result"), null=True, blank=True)
    is_error = models.BooleanField(_("error"), default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    answered_at = models.DateTimeField(_("answered at"), null=True, blank=True)

    class Meta:
        app_label = "agent"
        verbose_name = _("copilot tool call")
        verbose_name_plural = _("copilot tool calls")
        ordering = ["thread_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["thread", "tool_use_id"], name="copilot_call_once"),
            models.CheckConstraint(
                condition=~Q(state=ToolCallState.ANSWERED) | Q(result__isnull=False),
                name="answered_copilot_call_has_result",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.tool_use_id}"

    @property
    def ref(self) -> str:
        """What effects of this call are keyed by."""
        return f"copilot:{self.thread_id}:{self.tool_use_id}"

    @property
    def turn_id(self) -> None:
        return None


class CopilotRequest(models.Model):
    """One request to the model and what came of it. Without an ending: its worker died, or left, while it talked.

    What a colleague's copilot has cost in a day is the sum of these.
    """

    thread = models.ForeignKey(
        CopilotThread, on_delete=models.PROTECT, related_name="requests", verbose_name=_("copilot thread")
    )
    question = models.ForeignKey(
        CopilotMessage, on_delete=models.PROTECT, related_name="requests", verbose_name=_("question")
    )
    started_at = models.DateTimeField(_("started at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    ending = models.CharField(_("ending"), max_length=40, blank=True)
    model = models.CharField(_("model"), max_length=60, blank=True)
    request_id = models.CharField(_("request id"), max_length=80, blank=True)
    input_tokens = models.PositiveIntegerField(_("tokens read afresh"), default=0)
    written_tokens = models.PositiveIntegerField(_("tokens written to the cache"), default=0)
    cached_tokens = models.PositiveIntegerField(_("cached tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    cost_micro = models.PositiveBigIntegerField(
        _("cost"), default=0, help_text=_("In millionths of a US dollar, by the price table in the settings.")
    )

    class Meta:
        app_label = "agent"
        verbose_name = _("copilot model call")
        verbose_name_plural = _("copilot model calls")
        ordering = ["thread_id", "id"]
        indexes = [models.Index(fields=["started_at"], name="copilot_request_begun")]

    def __str__(self) -> str:
        return f"{self.thread_id}/{self.pk}"


class CopilotDraft(models.Model):
    """An answer that the copilot suggests beside a conversation. It is put into the field by hand, and sent by hand.

    It holds for the conversation as it was read: `read_to` is the newest message that the copilot knew.
    """

    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="copilot_drafts", verbose_name=_("conversation")
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("member of staff")
    )
    call_ref = models.CharField(_("tool call id"), max_length=160, unique=True)
    text = models.TextField(_("text"))
    read_to = models.PositiveBigIntegerField(_("read up to message"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        app_label = "agent"
        verbose_name = _("copilot draft")
        verbose_name_plural = _("copilot drafts")
        ordering = ["conversation_id", "-id"]
        indexes = [models.Index(fields=["conversation", "user", "-id"], name="copilot_draft_newest")]

    def __str__(self) -> str:
        return self.text[:60]
