"""The simulated gateway's own books and switches. Only the gateway reads them."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from refunds.states import ChargeOutcome, FaultKind


class SimulatedRefund(models.Model):
    """The simulated gateway's own ledger: what it has really paid out. Only the gateway reads it."""

    provider_refund_id = models.CharField(_("provider's refund number"), max_length=80, unique=True)
    idempotency_key = models.CharField(_("idempotency key"), max_length=64, unique=True)
    charge_ref = models.CharField(_("charge reference"), max_length=64)
    amount = models.PositiveBigIntegerField(_("amount"))
    currency = models.CharField(_("currency"), max_length=3)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("simulated gateway: refund")
        verbose_name_plural = _("simulated gateway: refunds")
        indexes = [models.Index(fields=["charge_ref"])]

    def __str__(self) -> str:
        return self.provider_refund_id


class SimulatedCharge(models.Model):
    """What became of a charge, where its money did not simply come: a bank that refuses it later, for example."""

    charge_ref = models.CharField(_("charge reference"), max_length=64, unique=True)
    state = models.CharField(_("state"), max_length=12, choices=ChargeOutcome.choices)

    class Meta:
        verbose_name = _("simulated gateway: charge")
        verbose_name_plural = _("simulated gateway: charges")

    def __str__(self) -> str:
        return f"{self.charge_ref}: {self.state}"


class SimulatedFault(models.Model):
    """A switch on the simulated gateway: its next `remaining` calls go wrong in this way."""

    kind = models.CharField(_("kind of fault"), max_length=16, choices=FaultKind.choices)
    remaining = models.PositiveIntegerField(_("calls remaining"), default=1)
    seconds = models.FloatField(_("seconds"), default=3.0, help_text=_("For a slow answer: how long it takes."))
    charge_ref = models.CharField(
        _("charge reference"), max_length=64, blank=True, help_text=_("Only for this payment; empty: for any.")
    )

    class Meta:
        verbose_name = _("simulated gateway: fault")
        verbose_name_plural = _("simulated gateway: faults")

    def __str__(self) -> str:
        return f"{self.kind} × {self.remaining}"


class SimulatedAcquirer(models.Model):
    """What the simulated gateway says it can do; without a row, everything. There is at most one."""

    partial_refunds = models.BooleanField(_("partial refunds"), default=True)
    refund_before_closing = models.BooleanField(_("refunds before closing"), default=True)
    void_before_closing = models.BooleanField(_("voids before closing"), default=False)
    closing_hour = models.PositiveSmallIntegerField(_("closing hour"), null=True, blank=True)
    window_days = models.PositiveIntegerField(_("window in days"), null=True, blank=True)
    refunds_per_day = models.PositiveIntegerField(_("refunds a day"), null=True, blank=True)

    class Meta:
        verbose_name = _("simulated gateway: abilities")
        verbose_name_plural = _("simulated gateway: abilities")
        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="one_simulated_acquirer")]

    def __str__(self) -> str:
        return "simulated"
