"""Store credit: a ledger per customer and currency. The balance is the sum of the entries, and never negative."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from orders.models.sales import Customer, Order
from orders.states import CreditKind


class StoreCreditAccount(models.Model):
    """`balance` is kept by a trigger on the entries; no other hand can change it (migration 0004)."""

    customer = models.ForeignKey(
        Customer, on_delete=models.PROTECT, related_name="store_credit", verbose_name=_("customer")
    )
    currency = models.CharField(_("currency"), max_length=3)
    balance = models.BigIntegerField(_("balance"), default=0)

    class Meta:
        verbose_name = _("store credit account")
        verbose_name_plural = _("store credit accounts")
        constraints = [
            models.UniqueConstraint(fields=["customer", "currency"], name="one_credit_account_per_currency"),
            models.CheckConstraint(condition=Q(balance__gte=0), name="store_credit_never_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.customer} {self.currency}"


class StoreCreditEntry(models.Model):
    """One change of a balance; append-only. `reference` is unique, so that a change asked for twice is made once."""

    account = models.ForeignKey(
        StoreCreditAccount, on_delete=models.PROTECT, related_name="entries", verbose_name=_("store credit account")
    )
    amount = models.BigIntegerField(_("amount"), help_text=_("Negative where credit is spent."))
    kind = models.CharField(_("kind of entry"), max_length=12, choices=CreditKind.choices)
    reference = models.CharField(_("reference"), max_length=80, unique=True)
    order = models.ForeignKey(
        Order, null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("order")
    )
    note = models.CharField(_("note"), max_length=240, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("created by"),
    )

    class Meta:
        verbose_name = _("store credit entry")
        verbose_name_plural = _("store credit entries")
        ordering = ["account_id", "id"]
        constraints = [models.CheckConstraint(condition=~Q(amount=0), name="credit_entry_not_zero")]

    def __str__(self) -> str:
        return f"{self.amount:+d} {self.account.currency}"
