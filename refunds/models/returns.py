"""Goods on their way back, and goods that are sent in their place."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from orders import ids
from orders.models import LineItem, Order, Product, Shipment, ShipmentLine
from refunds.models.paying import Refund
from refunds.models.quotes import RefundQuote
from refunds.states import (
    Asker,
    FoundState,
    Reason,
    ReplacementKind,
    ReplacementState,
    ReturnKind,
    ReturnState,
)


class Return(models.Model):
    """A return authorisation (RMA). With a quote it promises that amount after receipt; an exchange has no quote."""

    id = models.CharField(_("return number"), primary_key=True, max_length=32, default=ids.return_id, editable=False)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="returns", verbose_name=_("order"))
    kind = models.CharField(_("kind of return"), max_length=10, choices=ReturnKind.choices)
    state = models.CharField(_("state"), max_length=12, choices=ReturnState.choices, default=ReturnState.REQUESTED)
    quote = models.OneToOneField(
        RefundQuote,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="return_request",
        verbose_name=_("quote"),
    )
    confirmed_by_kind = models.CharField(_("confirmer"), max_length=12, choices=Asker.choices)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("confirming account"),
    )
    note = models.TextField(_("note"), blank=True)
    # Set when the goods were accepted: from then on the refund counts, and no longer the promise.
    refund = models.OneToOneField(
        Refund, null=True, blank=True, on_delete=models.PROTECT, related_name="return_request", verbose_name=_("refund")
    )
    # Who asked for it, so that asking twice (a job delivered again) makes one return.
    request_ref = models.CharField(_("request reference"), max_length=80)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("return")
        verbose_name_plural = _("returns")
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "created_at"], name="return_state_oldest"),
            models.Index(fields=["-created_at", "-id"], name="return_newest"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["request_ref", "order"], name="return_asked_for_once"),
            models.CheckConstraint(
                condition=Q(kind=ReturnKind.EXCHANGE, quote__isnull=True)
                | Q(kind=ReturnKind.REFUND, quote__isnull=False),
                name="return_for_refund_has_its_quote",
            ),
        ]

    def __str__(self) -> str:
        return self.id


class ReturnLine(models.Model):
    return_request = models.ForeignKey(Return, on_delete=models.PROTECT, related_name="lines", verbose_name=_("return"))
    line_item = models.ForeignKey(LineItem, on_delete=models.PROTECT, related_name="+", verbose_name=_("line item"))
    shipment_line = models.ForeignKey(
        ShipmentLine, on_delete=models.PROTECT, related_name="+", verbose_name=_("shipment line")
    )
    quantity = models.PositiveIntegerField(_("quantity"))
    reason = models.CharField(_("reason"), max_length=20, choices=Reason.choices)
    # Exchanges only: what the customer wants instead; null: the same again.
    product = models.ForeignKey(
        Product, null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("wanted instead")
    )

    class Meta:
        verbose_name = _("return line")
        verbose_name_plural = _("return lines")
        ordering = ["return_request_id", "id"]
        constraints = [models.CheckConstraint(condition=Q(quantity__gt=0), name="return_line_quantity_positive")]

    def __str__(self) -> str:
        return f"{self.line_item} × {self.quantity}"

    @property
    def name(self) -> str:
        """What is really there, as people call it: a replacement may be another product than the line's."""
        return self.shipment_line.product.name if self.shipment_line.product else self.line_item.name


class ReturnFinding(models.Model):
    """What was found of the units of a return line; its findings sum to the line's quantity once it was received."""

    return_line = models.ForeignKey(
        ReturnLine, on_delete=models.PROTECT, related_name="findings", verbose_name=_("return line")
    )
    found = models.CharField(_("found"), max_length=12, choices=FoundState.choices)
    quantity = models.PositiveIntegerField(_("quantity"))

    class Meta:
        verbose_name = _("return finding")
        verbose_name_plural = _("return findings")
        ordering = ["return_line_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["return_line", "found"], name="finding_once_per_line"),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="finding_quantity_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.get_found_display()} × {self.quantity}"


class Replacement(models.Model):
    """Goods that the shop sends in the place of others: after an exchange, or because a parcel was lost.

    Stock is reserved from the first moment. `shipment` is the parcel, once it has left; its units then stand for those
    they replace.
    """

    id = models.CharField(
        _("replacement number"), primary_key=True, max_length=32, default=ids.replacement_id, editable=False
    )
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="replacements", verbose_name=_("order"))
    kind = models.CharField(_("kind of replacement"), max_length=10, choices=ReplacementKind.choices)
    state = models.CharField(
        _("state"), max_length=10, choices=ReplacementState.choices, default=ReplacementState.RESERVED
    )
    return_request = models.OneToOneField(
        Return,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="replacement",
        verbose_name=_("return"),
    )
    shipment = models.OneToOneField(
        Shipment,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="replacement",
        verbose_name=_("shipment"),
    )
    confirmed_by_kind = models.CharField(_("confirmer"), max_length=12, choices=Asker.choices)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("confirming account"),
    )
    note = models.TextField(_("note"), blank=True)
    request_ref = models.CharField(_("request reference"), max_length=80)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)

    class Meta:
        verbose_name = _("replacement")
        verbose_name_plural = _("replacements")
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "created_at"]),
            models.Index(fields=["-created_at", "-id"], name="replacement_newest"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["request_ref", "order"], name="replacement_asked_for_once"),
            models.CheckConstraint(
                condition=Q(state=ReplacementState.SENT, shipment__isnull=False)
                | (~Q(state=ReplacementState.SENT) & Q(shipment__isnull=True)),
                name="sent_replacement_has_its_parcel",
            ),
            models.CheckConstraint(
                condition=Q(kind=ReplacementKind.EXCHANGE, return_request__isnull=False)
                | Q(kind=ReplacementKind.LOST, return_request__isnull=True),
                name="exchange_has_its_return",
            ),
        ]

    def __str__(self) -> str:
        return self.id


class ReplacementLine(models.Model):
    """Units of a parcel that are replaced, and by what: `product` null is the same again."""

    replacement = models.ForeignKey(
        Replacement, on_delete=models.PROTECT, related_name="lines", verbose_name=_("replacement")
    )
    line_item = models.ForeignKey(LineItem, on_delete=models.PROTECT, related_name="+", verbose_name=_("line item"))
    shipment_line = models.ForeignKey(
        ShipmentLine, on_delete=models.PROTECT, related_name="+", verbose_name=_("shipment line")
    )
    product = models.ForeignKey(
        Product, null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("product")
    )
    quantity = models.PositiveIntegerField(_("quantity"))

    class Meta:
        verbose_name = _("replacement line")
        verbose_name_plural = _("replacement lines")
        ordering = ["replacement_id", "id"]
        constraints = [models.CheckConstraint(condition=Q(quantity__gt=0), name="replacement_quantity_positive")]

    def __str__(self) -> str:
        return f"{self.line_item} × {self.quantity}"

    @property
    def replaced_by(self) -> Product:
        """What is sent."""
        return self.product or self.shipment_line.product or self.line_item.product

    @property
    def name(self) -> str:
        """What is sent, as people call it."""
        product = self.product or self.shipment_line.product
        return product.name if product else self.line_item.name
