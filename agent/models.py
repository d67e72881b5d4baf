"""Conversations as the database keeps them: the truth that a turn is resumed from and a page is drawn from.

Assistant messages keep the model's content blocks unchanged. Results of tools are kept on `ToolCall` and put into the
history when a request is built (`agent/history.py`), so that a `tool_use` without its result cannot be stored.
"""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agent.states import (
    LIVE_TURNS,
    Author,
    CardKind,
    CardState,
    ConversationState,
    MailKind,
    MailState,
    ToolCallState,
    TurnState,
)
from orders import ids
from orders.models import AuditEvent, Customer, Order
from refunds.models import RefundQuote


class Conversation(models.Model):
    """One customer's talk about one order. `owner` is the member of staff who has taken it over, if any."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="conversations", verbose_name=_("order"))
    customer = models.ForeignKey(
        Customer, on_delete=models.PROTECT, related_name="conversations", verbose_name=_("customer")
    )
    state = models.CharField(
        _("state"), max_length=8, choices=ConversationState.choices, default=ConversationState.OPEN
    )
    language = models.CharField(_("language"), max_length=8, default="zh-hant")
    needs_person = models.BooleanField(_("needs a person"), default=False)
    hand_off_reason = models.CharField(
        _("reason of the hand-off"), max_length=40, blank=True, help_text=_("Why a person was last asked for.")
    )
    hand_off_summary = models.TextField(_("hand-off summary"), blank=True)
    waiting_since = models.DateTimeField(
        _("waiting since"), null=True, blank=True, help_text=_("Since when the customer has waited for a person.")
    )
    # What was said before this message is told to the model as facts from rows, not word by word.
    folded_before = models.PositiveBigIntegerField(
        _("folded before"), default=0, help_text=_("Messages with a lower number are told to the model in short.")
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="conversations",
        verbose_name=_("owner"),
    )
    # Whose job it is to look after it. The assistant goes on: only an owner silences it.
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="assigned_conversations",
        verbose_name=_("assigned to"),
    )
    last_event = models.PositiveBigIntegerField(
        _("newest event"), default=0, help_text=_("Number of the newest event.")
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ["-updated_at"]
        indexes = [
            # The inbox: the newest first, and whoever has waited longest among the few who wait.
            models.Index(fields=["-updated_at", "-id"], name="conversation_newest"),
            models.Index(fields=["created_at"], name="conversation_begun"),
            models.Index(
                fields=["waiting_since", "id"],
                condition=Q(state=ConversationState.OPEN, waiting_since__isnull=False),
                name="conversation_waits_longest",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["order", "customer"], condition=Q(state=ConversationState.OPEN), name="one_open_conversation"
            ),
            # Whoever waits for a person has a place in the queue.
            models.CheckConstraint(
                condition=Q(needs_person=False) | Q(waiting_since__isnull=False), name="who_needs_a_person_waits"
            ),
        ]
        permissions = [("answer_conversation", "Can take over a conversation and answer in it")]

    def __str__(self) -> str:
        return f"#{self.pk} {self.order}"


class Turn(models.Model):
    """The agent's work on what has been said: one Celery job at a time, held by a lease, resumed from the database."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="turns", verbose_name=_("conversation")
    )
    state = models.CharField(_("state"), max_length=8, choices=TurnState.choices, default=TurnState.QUEUED)
    # The lease: whoever holds the token may write until it ends. A new holder changes the token, so that a worker that
    # wakes up late cannot write any more.
    lease_token = models.CharField(_("lease token"), max_length=32, blank=True)
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)
    steps = models.PositiveIntegerField(_("model calls"), default=0)
    failures = models.PositiveIntegerField(_("failures"), default=0)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    cached_tokens = models.PositiveIntegerField(_("cached tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    cost_micro = models.PositiveBigIntegerField(
        _("cost"), default=0, help_text=_("In millionths of a US dollar, by the price table in the settings.")
    )
    model = models.CharField(_("model"), max_length=60, blank=True)
    error = models.CharField(_("error"), max_length=240, blank=True)
    queued_at = models.DateTimeField(_("queued at"))
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    # Since when its present worker, if any, has worked on it; and how long it was worked on before that.
    taken_at = models.DateTimeField(_("taken at"), null=True, blank=True)
    worked = models.DurationField(
        _("worked before"),
        default=timedelta,
        help_text=_("Not counting the time in which it waited for somebody."),
    )
    # Near its customer's limits of a day a turn that works counts before it has cost anything (`agent/limits.py`).
    counts_already = models.BooleanField(_("counts already"), default=False)
    first_text_at = models.DateTimeField(_("first words at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    class Meta:
        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "queued_at"])]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(state__in=sorted(LIVE_TURNS)), name="one_live_turn"
            )
        ]

    def __str__(self) -> str:
        return gettext("turn %(number)s") % {"number": self.pk}


class ModelCall(models.Model):
    """One request to the model and what came of it. Without an ending: its worker died, or left, while it talked.

    `number` is the step of the turn that it was for, `attempt` counts the requests for that step.
    """

    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="model_calls", verbose_name=_("conversation")
    )
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="model_calls", verbose_name=_("turn"))
    number = models.PositiveIntegerField(_("step"))
    attempt = models.PositiveIntegerField(_("attempt"))
    started_at = models.DateTimeField(_("started at"))
    first_text_at = models.DateTimeField(_("first words at"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    ending = models.CharField(_("ending"), max_length=40, blank=True)
    stop_reason = models.CharField(_("stop reason"), max_length=40, blank=True)
    model = models.CharField(_("model"), max_length=60, blank=True)
    request_id = models.CharField(_("request id"), max_length=80, blank=True)
    input_tokens = models.PositiveIntegerField(_("tokens read afresh"), default=0)
    written_tokens = models.PositiveIntegerField(_("tokens written to the cache"), default=0)
    cached_tokens = models.PositiveIntegerField(_("cached tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    cost_micro = models.PositiveBigIntegerField(
        _("cost"), default=0, help_text=_("In millionths of a US dollar, by the price table in the settings.")
    )
    dropped_text = models.TextField(
        _("text taken back"), blank=True, help_text=_("What the page had shown or would have shown, and was not kept.")
    )

    class Meta:
        verbose_name = _("model call")
        verbose_name_plural = _("model calls")
        ordering = ["turn_id", "number", "attempt"]
        constraints = [models.UniqueConstraint(fields=["turn", "number", "attempt"], name="one_model_call_per_attempt")]

    def __str__(self) -> str:
        return f"{self.turn_id}/{self.number}.{self.attempt}"


class Message(models.Model):
    """What somebody said. `content` is a list of Messages API blocks; others' words are one text block."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="messages", verbose_name=_("conversation")
    )
    turn = models.ForeignKey(
        Turn, null=True, blank=True, on_delete=models.PROTECT, related_name="messages", verbose_name=_("turn")
    )
    author = models.CharField(_("author"), max_length=10, choices=Author.choices)
    staff = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("member of staff"),
    )
    content = models.JSONField(_("content"))
    stop_reason = models.CharField(_("stop reason"), max_length=40, blank=True)
    # The agent's messages only: what is written while a reply is being made has a lower number than the reply.
    heard = models.PositiveBigIntegerField(
        _("newest message heard"), default=0, help_text=_("Number of the newest message it could know of.")
    )
    # Given by the page, so that a message posted twice by a nervous connection is kept once.
    client_ref = models.CharField(_("page's reference"), max_length=64, null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["conversation_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "client_ref"], name="message_once_per_client_ref")
        ]

    def __str__(self) -> str:
        return self.text[:60]

    @property
    def text(self) -> str:
        return "\n\n".join(block["text"] for block in self.content if block.get("type") == "text")


class ToolCall(models.Model):
    """One call the model asked for, and its one answer: `result` is the JSON that the model is shown."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="tool_calls", verbose_name=_("conversation")
    )
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="tool_calls", verbose_name=_("turn"))
    message = models.ForeignKey(Message, on_delete=models.PROTECT, related_name="tool_calls", verbose_name=_("message"))
    tool_use_id = models.CharField(_("tool call id"), max_length=80)
    name = models.CharField(_("tool"), max_length=64)
    arguments = models.JSONField(_("arguments"))
    state = models.CharField(_("state"), max_length=10, choices=ToolCallState.choices, default=ToolCallState.ASKED)
    result = models.JSONField(_("result"), null=True, blank=True)
    is_error = models.BooleanField(_("error"), default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    answered_at = models.DateTimeField(_("answered at"), null=True, blank=True)

    class Meta:
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        ordering = ["conversation_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "tool_use_id"], name="tool_call_once"),
            models.CheckConstraint(
                condition=~Q(state=ToolCallState.ANSWERED) | Q(result__isnull=False), name="answered_call_has_result"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.tool_use_id}"

    @property
    def ref(self) -> str:
        """What effects of this call are keyed by."""
        return f"{self.conversation_id}:{self.tool_use_id}"


class Card(models.Model):
    """A button on the customer's page. `payload` holds what it shows and, without a quote, what it would do."""

    id = models.CharField(_("card number"), primary_key=True, max_length=32, default=ids.card_id, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="cards", verbose_name=_("conversation")
    )
    tool_call = models.OneToOneField(
        ToolCall, null=True, blank=True, on_delete=models.PROTECT, related_name="card", verbose_name=_("tool call")
    )
    kind = models.CharField(_("kind of card"), max_length=10, choices=CardKind.choices)
    state = models.CharField(_("state"), max_length=10, choices=CardState.choices, default=CardState.OPEN)
    quote = models.ForeignKey(
        RefundQuote, null=True, blank=True, on_delete=models.PROTECT, related_name="cards", verbose_name=_("quote")
    )
    payload = models.JSONField(_("payload"))
    expires_at = models.DateTimeField(_("expires at"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)

    class Meta:
        verbose_name = _("confirmation card")
        verbose_name_plural = _("confirmation cards")
        ordering = ["conversation_id", "created_at"]
        indexes = [models.Index(fields=["state", "expires_at"])]

    def __str__(self) -> str:
        return self.id


class ConversationEvent(models.Model):
    """What the page is told, in order. `number` is the id a browser resumes from; Redis only carries these faster."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="events", verbose_name=_("conversation")
    )
    number = models.PositiveBigIntegerField(_("event number"))
    kind = models.CharField(_("kind of event"), max_length=20)
    data = models.JSONField(_("data"))
    tells = models.OneToOneField(
        AuditEvent,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="told_by",
        verbose_name=_("tells of"),
        help_text=_("The move of a refund or return that the customer reads of here."),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("conversation event")
        verbose_name_plural = _("conversation events")
        ordering = ["conversation_id", "number"]
        constraints = [models.UniqueConstraint(fields=["conversation", "number"], name="event_number_once")]

    def __str__(self) -> str:
        return f"{self.number} {self.kind}"


class CustomerMail(models.Model):
    """An e-mail to a customer who may have left the page. `key` says what it tells of, so that it is told once."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="mails", verbose_name=_("conversation")
    )
    kind = models.CharField(_("kind of e-mail"), max_length=10, choices=MailKind.choices)
    key = models.CharField(_("tells of"), max_length=80, unique=True)
    state = models.CharField(_("state"), max_length=10, choices=MailState.choices, default=MailState.WAITING)
    address = models.EmailField(_("e-mail"), blank=True)
    text = models.TextField(_("text"), blank=True)
    tries = models.PositiveIntegerField(_("attempts"), default=0)
    error = models.CharField(_("error"), max_length=240, blank=True)
    not_before = models.DateTimeField(_("not before"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)

    class Meta:
        verbose_name = _("e-mail to a customer")
        verbose_name_plural = _("e-mails to customers")
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "not_before"])]

    def __str__(self) -> str:
        return self.key


# They refer to what is above.
from agent.models_copilot import CopilotCall as CopilotCall  # noqa: E402
from agent.models_copilot import CopilotDraft as CopilotDraft  # noqa: E402
from agent.models_copilot import CopilotMessage as CopilotMessage  # noqa: E402
from agent.models_copilot import CopilotRequest as CopilotRequest  # noqa: E402
from agent.models_copilot import CopilotThread as CopilotThread  # noqa: E402
from agent.models_desk import CannedReply as CannedReply  # noqa: E402
from agent.models_desk import ReadMark as ReadMark  # noqa: E402
from agent.models_desk import StaffNote as StaffNote  # noqa: E402
from agent.models_doors import DoorCall as DoorCall  # noqa: E402
from agent.models_doors import ToolToken as ToolToken  # noqa: E402
from agent.models_evals import EvalCase as EvalCase  # noqa: E402
from agent.models_evals import EvalRun as EvalRun  # noqa: E402
