"""What is kept about an order besides its facts: ways in, announcements to the shop, and the history."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from orders.models.sales import Order
from orders.states import ActorKinds, AnnouncementState


class CustomerLink(models.Model):
    """A signed way in to one order for a customer who has no account. The token itself is not kept."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="customer_links", verbose_name=_("order"))
    expires_at = models.DateTimeField(_("expires at"))
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("created by")
    )

    class Meta:
        verbose_name = _("customer link")
        verbose_name_plural = _("customer links")

    def __str__(self) -> str:
        return f"{self.order} → {self.expires_at:%Y-%m-%d}"


class OrderAnnouncement(models.Model):
    """A change of goods that the shop's own system must hear of; kept until its webhook accepts it."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="announcements", verbose_name=_("order"))
    event = models.CharField(_("announced event"), max_length=64)
    payload = models.JSONField(_("payload"))
    state = models.CharField(
        _("state"), max_length=12, choices=AnnouncementState.choices, default=AnnouncementState.WAITING
    )
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    next_attempt_at = models.DateTimeField(_("next attempt at"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("order announcement")
        verbose_name_plural = _("order announcements")
        indexes = [models.Index(fields=["state", "next_attempt_at"])]

    def __str__(self) -> str:
        return f"{self.event} {self.order}"


class AuditEvent(models.Model):
    """One line of history. Rows are only ever added; a database trigger refuses the rest (`orders/audit.py`)."""

    at = models.DateTimeField(_("time"), auto_now_add=True)
    action = models.CharField(
        _("action"), max_length=64, help_text=_("What happened: quote.opened, refund.succeeded …")
    )
    actor_kind = models.CharField(_("kind of actor"), max_length=16, choices=ActorKinds.choices)
    actor_user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("actor's account"),
    )
    actor_name = models.CharField(_("actor"), max_length=120, blank=True)
    order = models.ForeignKey(
        Order, null=True, blank=True, on_delete=models.PROTECT, related_name="audit_events", verbose_name=_("order")
    )
    subject_type = models.CharField(_("kind of record"), max_length=40)
    subject_id = models.CharField(_("record number"), max_length=64)
    chosen = models.JSONField(_("chosen"), default=dict, help_text=_("What the actor chose (arguments)."))
    computed = models.JSONField(
        _("computed"), default=dict, help_text=_("What the system worked out: amount, steps, policy.")
    )
    outcome = models.JSONField(_("outcome"), default=dict, help_text=_("What became of it."))
    correlation = models.JSONField(
        _("correlation"), default=dict, help_text=_("Conversation, turn, tool call, request, job.")
    )

    class Meta:
        verbose_name = _("audit event")
        verbose_name_plural = _("audit events")
        indexes = [
            models.Index(fields=["order", "-at"]),
            models.Index(fields=["subject_type", "subject_id"]),
            models.Index(fields=["-at"]),
            # The records are searched by any number, whatever it is of, and by the name of anybody who acted.
            models.Index(fields=["subject_id"], name="audit_by_subject"),
            models.Index(fields=["actor_name"], name="audit_by_any_name"),
            # The history of the whole shop, by what happened and by who did it (the reports, `/staff/audit/`).
            models.Index(fields=["action", "-at"], name="audit_by_action"),
            models.Index(fields=["actor_user", "-at"], name="audit_by_person"),
            # Colleagues are asked for by the name under which they acted: an account may be renamed.
            models.Index(
                fields=["actor_name", "-at"], condition=Q(actor_kind__in=["staff", "system"]), name="audit_by_name"
            ),
            # Pages ask how long people usually take to answer (`agent/waiting.py`): few rows among very many.
            models.Index(fields=["-at"], condition=Q(action="conversation.answered"), name="answers_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject_id}"
