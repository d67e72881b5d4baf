"""The shop's rules, version by version."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from refunds.states import PolicyState


class RefundPolicy(models.Model):
    """One version of the shop's rules for a currency. The version in force when an order was placed settles it."""

    version = models.PositiveIntegerField(_("version"))
    currency = models.CharField(_("currency"), max_length=3)
    state = models.CharField(_("state"), max_length=12, choices=PolicyState.choices, default=PolicyState.DRAFT)
    in_force_from = models.DateTimeField(_("in force from"))
    return_fee = models.PositiveBigIntegerField(_("return fee"))
    return_fee_enabled = models.BooleanField(_("return fee is taken"), default=True)
    return_window_days = models.PositiveIntegerField(_("days for returns"), default=7)
    lost_after_days = models.PositiveIntegerField(_("days until lost"), default=14)
    excluded_categories = models.JSONField(_("categories not returned"), default=list, blank=True)
    shop_fault_reasons = models.JSONField(_("reasons at the shop's fault"), default=list)
    tender_order = models.JSONField(_("order of payments"), default=list)
    approval_above = models.PositiveBigIntegerField(_("approval needed above"))
    compensation_cap = models.PositiveBigIntegerField(
        _("compensation at most"), default=0, help_text=_("Per order, all compensations together.")
    )
    quote_minutes = models.PositiveIntegerField(_("minutes a quote holds"), default=15)
    note = models.TextField(_("what is new"), blank=True)
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("last edited by"),
    )
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("published by"),
    )
    published_at = models.DateTimeField(_("published at"), null=True, blank=True)

    class Meta:
        verbose_name = _("refund policy")
        verbose_name_plural = _("refund policies")
        ordering = ["currency", "-version"]
        permissions = [
            ("edit_policy", "Can write drafts of refund policies"),
            ("publish_policy", "Can publish a refund policy that somebody else has drafted"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["currency", "version"], name="policy_version_once_per_currency"),
            models.UniqueConstraint(
                fields=["currency"], condition=Q(state=PolicyState.DRAFT), name="one_draft_per_currency"
            ),
            models.CheckConstraint(condition=Q(quote_minutes__gt=0), name="policy_quote_life_positive"),
            models.CheckConstraint(
                condition=Q(return_window_days__gt=0, lost_after_days__gt=0), name="policy_days_positive"
            ),
            models.CheckConstraint(
                condition=Q(edited_by__isnull=True)
                | Q(published_by__isnull=True)
                | ~Q(published_by=models.F("edited_by")),
                name="nobody_publishes_their_own_draft",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.currency} v{self.version}"

    def excludes(self, category: str) -> bool:
        """Whether goods of this category are not taken back: however its name is capitalised, here or in the order."""
        return _key(category) in map(_key, self.excluded_categories)


def _key(category: str) -> str:
    return category.strip().casefold()
