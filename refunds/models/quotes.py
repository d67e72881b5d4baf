"""What goods were worked out to come to."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from orders import ids
from orders.models import Customer, LineItem, Order, ShipmentLine
from refunds.models.policies import RefundPolicy
from refunds.states import Asker, EndedBecause, QuoteAction, QuoteState, Reason


class RefundQuote(models.Model):
    """An amount worked out for chosen goods, with its steps, good until `expires_at` while the order stays as it is.

    `steps` are `[{code, params, amount}]` and sum to `amount`. `fingerprint` covers what the amount depends on.
    `asker_ref` is who may supersede it: the conversation, the member of staff or the customer.
    """

    id = models.CharField(_("quote number"), primary_key=True, max_length=32, default=ids.quote_id, editable=False)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="refund_quotes", verbose_name=_("order"))
    action = models.CharField(_("kind of refund"), max_length=8, choices=QuoteAction.choices)
    state = models.CharField(_("state"), max_length=12, choices=QuoteState.choices, default=QuoteState.OPEN)
    amount = models.PositiveBigIntegerField(_("amount"))
    fee = models.PositiveBigIntegerField(_("return fee"), default=0)
    counts_as_return = models.BooleanField(_("counts as a return"), default=False)
    currency = models.CharField(_("currency"), max_length=3)
    steps = models.JSONField(_("steps"))
    policy = models.ForeignKey(
        RefundPolicy, on_delete=models.PROTECT, related_name="quotes", verbose_name=_("refund policy")
    )
    # Refusals that a second person has to set aside before it can be redeemed (`refunds/overrides.py`); usually none.
    overrides = models.JSONField(_("exceptions"), default=list, blank=True)
    fingerprint = models.CharField(_("fingerprint"), max_length=64)
    asker = models.CharField(_("asker"), max_length=12, choices=Asker.choices)
    asker_ref = models.CharField(_("asker's reference"), max_length=80)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("asker's account"),
    )
    customer = models.ForeignKey(
        Customer, on_delete=models.PROTECT, related_name="refund_quotes", verbose_name=_("customer")
    )
    conversation_ref = models.CharField(_("conversation"), max_length=40, blank=True)
    tool_call_ref = models.CharField(_("tool call"), max_length=80, null=True, blank=True, unique=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    ended_because = models.CharField(_("why it ended"), max_length=16, choices=EndedBecause.choices, blank=True)

    class Meta:
        verbose_name = _("refund quote")
        verbose_name_plural = _("refund quotes")
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "expires_at"]),
            models.Index(fields=["order", "-created_at"]),
            models.Index(fields=["-created_at", "-id"], name="quote_newest"),
        ]
        permissions = [
            ("ask_quote", "Can ask what a refund comes to"),
            ("redeem_quote", "Can confirm a refund for a customer"),
            ("ask_override", "Can ask for an exception to the rules of refunds"),
        ]

    def __str__(self) -> str:
        return self.id

    @property
    def was_taken_back(self) -> bool:
        """It has the state of a declined one, and nobody has said no: `ended_because` says how that came about."""
        return self.state == QuoteState.DECLINED and bool(self.ended_because)


class QuoteLine(models.Model):
    """Units a quote is about. `shipment_line` says which parcel they came in; null for units not yet fulfilled."""

    quote = models.ForeignKey(RefundQuote, on_delete=models.PROTECT, related_name="lines", verbose_name=_("quote"))
    line_item = models.ForeignKey(LineItem, on_delete=models.PROTECT, related_name="+", verbose_name=_("line item"))
    shipment_line = models.ForeignKey(
        ShipmentLine, null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("shipment line")
    )
    quantity = models.PositiveIntegerField(_("quantity"))
    reason = models.CharField(_("reason"), max_length=20, choices=Reason.choices)
    shop_fault = models.BooleanField(_("shop's fault"))

    class Meta:
        verbose_name = _("quote line")
        verbose_name_plural = _("quote lines")
        ordering = ["quote_id", "id"]
        constraints = [models.CheckConstraint(condition=Q(quantity__gt=0), name="quote_line_quantity_positive")]

    def __str__(self) -> str:
        return f"{self.line_item} × {self.quantity}"

    @property
    def name(self) -> str:
        """What is really there, as people call it: a replacement may be another product than the line's."""
        product = self.shipment_line.product if self.shipment_line else None
        return product.name if product else self.line_item.name
