"""Where the goods are: parcels and the units in them."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from orders import ids
from orders.models.sales import LineItem, Order, Product
from orders.states import CarrierFaultKind, ShipmentState


class Shipment(models.Model):
    id = models.CharField(
        _("shipment number"), primary_key=True, max_length=32, default=ids.shipment_id, editable=False
    )
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="shipments", verbose_name=_("order"))
    external_id = models.CharField(_("shop's shipment number"), max_length=64)
    carrier = models.CharField(_("carrier"), max_length=80, blank=True)
    tracking_number = models.CharField(_("tracking number"), max_length=80, blank=True)
    state = models.CharField(_("state"), max_length=12, choices=ShipmentState.choices)
    packed_at = models.DateTimeField(_("packed at"))
    shipped_at = models.DateTimeField(_("shipped at"), null=True, blank=True)
    delivered_at = models.DateTimeField(_("delivered at"), null=True, blank=True)
    is_replacement = models.BooleanField(
        _("replacement"),
        default=False,
        help_text=_("Its units stand for units of an earlier parcel that were exchanged or lost."),
    )

    class Meta:
        verbose_name = _("shipment")
        verbose_name_plural = _("shipments")
        ordering = ["packed_at", "id"]
        indexes = [
            models.Index(fields=["state", "order"], name="shipment_state_of_order"),
            models.Index(fields=["packed_at", "id"], name="shipment_by_time"),
            models.Index(fields=["packed_at", "id"], condition=Q(is_replacement=True), name="shipment_replaces"),
            models.Index(fields=["carrier"], name="shipment_carrier"),
            models.Index(fields=["external_id"], name="shipment_by_shops_number"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["order", "external_id"], name="shipment_once_per_order"),
            models.CheckConstraint(
                condition=~Q(state=ShipmentState.DELIVERED) | Q(delivered_at__isnull=False),
                name="delivered_shipment_has_its_time",
            ),
            models.CheckConstraint(
                condition=Q(state=ShipmentState.PACKED) | Q(shipped_at__isnull=False),
                name="shipped_shipment_has_its_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.external_id} ({self.get_state_display()})"


class ShipmentLine(models.Model):
    """Units of one line in one parcel.

    A unit is at most one of: being returned, being exchanged, being sent again, replaced, refunded. Replaced units live
    on in the parcel of their replacement and count there.
    """

    shipment = models.ForeignKey(Shipment, on_delete=models.PROTECT, related_name="lines", verbose_name=_("shipment"))
    line_item = models.ForeignKey(
        LineItem, on_delete=models.PROTECT, related_name="shipment_lines", verbose_name=_("line item")
    )
    # What is really in a replacement's parcel, where it is another product of the same price; null: the line's own.
    product = models.ForeignKey(
        Product, null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("product")
    )
    quantity = models.PositiveIntegerField(_("quantity"))
    returning_quantity = models.PositiveIntegerField(_("quantity coming back"), default=0)
    exchanging_quantity = models.PositiveIntegerField(_("quantity being exchanged"), default=0)
    resending_quantity = models.PositiveIntegerField(_("quantity being sent again"), default=0)
    replaced_quantity = models.PositiveIntegerField(_("quantity replaced"), default=0)
    refunded_quantity = models.PositiveIntegerField(_("quantity refunded"), default=0)

    class Meta:
        verbose_name = _("shipment line")
        verbose_name_plural = _("shipment lines")
        ordering = ["shipment_id", "line_item_id"]
        constraints = [
            models.UniqueConstraint(fields=["shipment", "line_item"], name="line_once_per_shipment"),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="shipment_quantity_positive"),
            models.CheckConstraint(
                condition=Q(
                    quantity__gte=F("returning_quantity")
                    + F("exchanging_quantity")
                    + F("resending_quantity")
                    + F("replaced_quantity")
                    + F("refunded_quantity")
                ),
                name="shipped_units_never_counted_twice",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line_item} × {self.quantity}"

    @property
    def untouched_quantity(self) -> int:
        held = self.returning_quantity + self.exchanging_quantity + self.resending_quantity
        return self.quantity - held - self.replaced_quantity - self.refunded_quantity

    @property
    def name(self) -> str:
        """What is in the parcel, as people call it."""
        return self.product.name if self.product else self.line_item.name

    @property
    def category(self) -> str:
        """Of what is in the parcel."""
        return self.product.category if self.product else self.line_item.category


class CarrierFault(models.Model):
    """A switch on the simulated carrier: its next `remaining` answers go wrong in this way."""

    kind = models.CharField(_("kind of fault"), max_length=16, choices=CarrierFaultKind.choices)
    remaining = models.PositiveIntegerField(_("calls remaining"), default=1)
    seconds = models.FloatField(_("seconds"), default=3.0, help_text=_("For a slow answer: how long it takes."))

    class Meta:
        verbose_name = _("simulated carrier: fault")
        verbose_name_plural = _("simulated carrier: faults")

    def __str__(self) -> str:
        return f"{self.kind} × {self.remaining}"
