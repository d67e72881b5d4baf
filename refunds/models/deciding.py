"""What a second person has to decide about."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from orders import ids
from orders.models import Order
from refunds.models.paying import Refund
from refunds.models.quotes import RefundQuote
from refunds.states import ApprovalKind, ApprovalState, Asker


class Approval(models.Model):
    """One question to a second person, never to the one who asked. It ends once (`refunds/approvals.py`).

    amount, less_than_promised: `refund` waits for it and holds goods and money. compensation: nothing is held; `refund`
    is made when it is approved. override: `quote` waits for it, with the refusals it sets aside; nothing is held. Where
    the goods have come back already, their `refund` waits too, and holds.
    """

    id = models.CharField(
        _("approval number"), primary_key=True, max_length=32, default=ids.approval_id, editable=False
    )
    kind = models.CharField(_("why it is asked for"), max_length=20, choices=ApprovalKind.choices)
    state = models.CharField(_("state"), max_length=10, choices=ApprovalState.choices, default=ApprovalState.WAITING)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="approvals", verbose_name=_("order"))
    refund = models.OneToOneField(
        Refund, null=True, blank=True, on_delete=models.PROTECT, related_name="approval", verbose_name=_("refund")
    )
    quote = models.OneToOneField(
        RefundQuote, null=True, blank=True, on_delete=models.PROTECT, related_name="approval", verbose_name=_("quote")
    )
    amount = models.PositiveBigIntegerField(_("amount"))
    currency = models.CharField(_("currency"), max_length=3)
    reason = models.TextField(_("reason"), blank=True, help_text=_("Why, in the words of whoever asked."))
    asked_by_kind = models.CharField(_("asker"), max_length=12, choices=Asker.choices)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("asker's account"),
    )
    conversation_ref = models.CharField(_("conversation"), max_length=40, blank=True)
    request_ref = models.CharField(_("request reference"), max_length=80, unique=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    # Null: it waits until somebody answers. The goods that it is about have come back (`refunds/release.py`).
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("decided by"),
    )
    decision_reason = models.TextField(_("reason of the decision"), blank=True)

    class Meta:
        verbose_name = _("approval")
        verbose_name_plural = _("approvals")
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "created_at"]),
            models.Index(fields=["state", "expires_at"]),
            models.Index(fields=["-decided_at", "-id"], name="approval_latest_decided"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind=ApprovalKind.OVERRIDE, quote__isnull=False)
                | Q(kind=ApprovalKind.COMPENSATION, quote__isnull=True)
                | (
                    Q(kind__in=[ApprovalKind.AMOUNT, ApprovalKind.LESS_THAN_PROMISED])
                    & Q(refund__isnull=False, quote__isnull=True)
                ),
                name="approval_has_what_it_is_about",
            ),
            models.CheckConstraint(
                condition=Q(decided_by__isnull=True) | Q(asked_by__isnull=True) | ~Q(decided_by=models.F("asked_by")),
                name="nobody_decides_what_they_asked",
            ),
        ]

    def __str__(self) -> str:
        return self.id

    @property
    def opens_a_return(self) -> bool:
        """Whether a yes lets goods come back. Of goods that are here already it sends the refund instead."""
        return self.kind == ApprovalKind.OVERRIDE and self.refund_id is None
