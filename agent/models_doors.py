"""Who may call tools from outside the chat, and what they have called. Written by `agent/doors/` alone."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agent.models import Conversation
from agent.states import Door, TokenScope
from orders.models import Customer, Order


class ToolToken(models.Model):
    """What a program shows to call tools for one customer, or for one member of staff. Only its hash is kept."""

    name = models.CharField(
        _("name"), max_length=80, help_text=_("Whose program it is for, so that somebody knows it again.")
    )
    # The first characters, by which whoever has the token finds its row.
    prefix = models.CharField(_("begins with"), max_length=12)
    hash = models.CharField(_("hash"), max_length=64, unique=True)
    scope = models.CharField(_("opens"), max_length=8, choices=TokenScope.choices)
    customer = models.ForeignKey(
        Customer,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="tool_tokens",
        verbose_name=_("customer"),
    )
    staff = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="tool_tokens",
        verbose_name=_("member of staff"),
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("issued by")
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"))
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True)

    class Meta:
        app_label = "agent"
        verbose_name = _("tool token")
        verbose_name_plural = _("tool tokens")
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(scope=TokenScope.CUSTOMER, customer__isnull=False, staff__isnull=True)
                | Q(scope=TokenScope.STAFF, customer__isnull=True, staff__isnull=False),
                name="tool_token_is_somebodys",
            )
        ]
        permissions = [("manage_tool_tokens", "Can issue and revoke tool tokens")]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class DoorCall(models.Model):
    """One call by a door and its answer. Without a result: it is at work, or its process ended in the middle."""

    door = models.CharField(_("door"), max_length=8, choices=Door.choices)
    token = models.ForeignKey(
        ToolToken, null=True, blank=True, on_delete=models.PROTECT, related_name="calls", verbose_name=_("tool token")
    )
    customer = models.ForeignKey(
        Customer, null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("customer")
    )
    staff = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("member of staff"),
    )
    order = models.ForeignKey(
        Order, null=True, blank=True, on_delete=models.PROTECT, related_name="door_calls", verbose_name=_("order")
    )
    conversation = models.ForeignKey(
        Conversation,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="door_calls",
        verbose_name=_("conversation"),
    )
    name = models.CharField(_("tool"), max_length=64)
    arguments = models.JSONField(_("arguments"))
    result = models.JSONField(_("result"), null=True, blank=True)
    is_error = models.BooleanField(_("error"), default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    duration_ms = models.PositiveIntegerField(_("took (milliseconds)"), null=True, blank=True)

    class Meta:
        app_label = "agent"
        verbose_name = _("tool call from outside")
        verbose_name_plural = _("tool calls from outside")
        ordering = ["-id"]
        indexes = [models.Index(fields=["created_at"], name="door_call_begun")]
        constraints = [
            models.CheckConstraint(
                condition=Q(customer__isnull=False, staff__isnull=True) | Q(customer__isnull=True, staff__isnull=False),
                name="door_call_is_somebodys",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.ref}"

    @property
    def ref(self) -> str:
        """What effects of this call are keyed by."""
        return f"door:{self.pk}"

    @property
    def turn_id(self) -> int | None:
        """No turn of the chat has asked for it."""
        return None

    @property
    def tool_use_id(self) -> str:
        """Its name in the history, beside those of the chat's calls."""
        return self.ref
