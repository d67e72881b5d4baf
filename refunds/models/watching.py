"""What providers report, where it differs from our books, and what staff must see although nobody asked."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from orders.models import Order
from refunds.models.paying import GatewayAttempt, Refund
from refunds.states import AlertKind


class ProviderEvent(models.Model):
    """A message of a payment provider, kept once by the provider's number and applied afterwards."""

    provider = models.CharField(_("payment provider"), max_length=40)
    event_id = models.CharField(_("provider's event number"), max_length=120)
    kind = models.CharField(_("kind of event"), max_length=80)
    payload = models.JSONField(_("payload"))
    received_at = models.DateTimeField(_("received at"), auto_now_add=True)
    applied_at = models.DateTimeField(_("applied at"), null=True, blank=True)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    tried_at = models.DateTimeField(
        _("tried at"), null=True, blank=True, help_text=_("When it was last tried to apply it.")
    )
    outcome = models.CharField(_("outcome"), max_length=240, blank=True)

    class Meta:
        verbose_name = _("provider event")
        verbose_name_plural = _("provider events")
        ordering = ["-received_at"]
        constraints = [models.UniqueConstraint(fields=["provider", "event_id"], name="provider_event_once")]
        indexes = [models.Index(fields=["received_at"], condition=Q(applied_at=None), name="provider_event_to_apply")]

    def __str__(self) -> str:
        return f"{self.provider} {self.event_id}"


class StaffAlert(models.Model):
    """Something that staff must see to. `subject` makes it one alert however often it is found."""

    kind = models.CharField(_("kind of alert"), max_length=20, choices=AlertKind.choices)
    subject = models.CharField(_("subject"), max_length=160)
    provider = models.CharField(_("payment provider"), max_length=40, blank=True)
    order = models.ForeignKey(
        Order, null=True, blank=True, on_delete=models.PROTECT, related_name="alerts", verbose_name=_("order")
    )
    refund = models.ForeignKey(
        Refund, null=True, blank=True, on_delete=models.PROTECT, related_name="alerts", verbose_name=_("refund")
    )
    attempt = models.ForeignKey(
        GatewayAttempt,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="alerts",
        verbose_name=_("gateway attempt"),
    )
    facts = models.JSONField(_("facts"), default=dict)
    raised_at = models.DateTimeField(_("raised at"), auto_now_add=True)
    # By e-mail, where staff have an address: when a worker has begun to send it, and when it was sent.
    mailing_since = models.DateTimeField(_("being mailed since"), null=True, blank=True)
    mailed_at = models.DateTimeField(_("mailed at"), null=True, blank=True)
    settled_at = models.DateTimeField(_("settled at"), null=True, blank=True)
    settled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("settled by"),
    )
    note = models.TextField(_("note"), blank=True)

    class Meta:
        verbose_name = _("staff alert")
        verbose_name_plural = _("staff alerts")
        ordering = ["-raised_at"]
        constraints = [models.UniqueConstraint(fields=["kind", "subject"], name="alert_once_per_subject")]
        indexes = [models.Index(fields=["raised_at"], condition=Q(settled_at=None), name="alert_to_see_to")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class BooksCompared(models.Model):
    """One comparison of our books with a provider's list, for the time from `since` to `until`."""

    provider = models.CharField(_("payment provider"), max_length=40)
    since = models.DateTimeField(_("since"))
    until = models.DateTimeField(_("until"))
    made_at = models.DateTimeField(_("made at"), auto_now_add=True)
    checked = models.PositiveIntegerField(_("refunds compared"), default=0)
    differences = models.JSONField(_("differences"), default=list)

    class Meta:
        verbose_name = _("comparison of books")
        verbose_name_plural = _("comparisons of books")
        ordering = ["-until"]
        constraints = [models.UniqueConstraint(fields=["provider", "until"], name="books_compared_once")]
        indexes = [models.Index(fields=["-until", "-id"], name="books_newest")]

    def __str__(self) -> str:
        return f"{self.provider} {self.until:%Y-%m-%d}"
