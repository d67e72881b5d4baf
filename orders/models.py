"""What the shop knows: who bought what, on which terms, how it was paid and where the goods are.

Amounts are integers of the order's currency in its smallest unit in use (`orders/money.py`). Goods that have left the
order are counters here, moved by `orders/goods.py` under the order's row lock; why they left, and for how much, is the
business of `refunds`.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from orders import ids
from orders.states import ActorKinds, AnnouncementState, DiscountKind, PaymentMethod, Settlement, ShipmentState, Waiver


class Customer(models.Model):
    """A person who buys. `user` is set where the person can sign in; others come by a signed link."""

    external_id = models.CharField(_("shop's customer number"), max_length=64, unique=True)
    name = models.CharField(_("full name"), max_length=120)
    email = models.EmailField(_("e-mail"), blank=True)
    phone = models.CharField(_("phone"), max_length=40, blank=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="customer",
        verbose_name=_("account"),
    )

    class Meta:
        verbose_name = _("customer")
        verbose_name_plural = _("customers")

    def __str__(self) -> str:
        return self.name


class Product(models.Model):
    sku = models.CharField(_("SKU"), max_length=64, unique=True)
    name = models.CharField(_("product name"), max_length=200)
    category = models.CharField(_("category"), max_length=64, blank=True)
    price = models.PositiveBigIntegerField(_("price"))
    currency = models.CharField(_("currency"), max_length=3)
    stock = models.PositiveIntegerField(_("stock"), default=0)

    class Meta:
        verbose_name = _("product")
        verbose_name_plural = _("products")

    def __str__(self) -> str:
        return f"{self.name} ({self.sku})"


class Order(models.Model):
    """An order as it was placed. The row is the lock for everything that settles it (`docs/money.md`, lock order)."""

    number = models.CharField(_("order number"), max_length=40, unique=True)
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="orders", verbose_name=_("customer"))
    placed_at = models.DateTimeField(_("placed at"))
    currency = models.CharField(_("currency"), max_length=3)
    shipping_method = models.CharField(_("shipping method"), max_length=40)
    shipping_charged = models.PositiveBigIntegerField(_("shipping charged"))
    shipping_standard_fee = models.PositiveBigIntegerField(_("standard shipping fee"))
    shipping_free_from = models.PositiveBigIntegerField(_("free shipping from"), null=True, blank=True)
    shipping_waiver = models.CharField(
        _("why shipping is free"), max_length=16, choices=Waiver.choices, null=True, blank=True
    )
    intake_digest = models.CharField(
        _("digest of the take-in"), max_length=64, help_text=_("Digest of the body the order was taken in with.")
    )
    taken_in_at = models.DateTimeField(_("taken in at"), auto_now_add=True)

    class Meta:
        verbose_name = _("order")
        verbose_name_plural = _("orders")
        indexes = [models.Index(fields=["customer", "-placed_at"]), models.Index(fields=["-placed_at", "-id"])]
        permissions = [
            ("issue_customer_link", "Can make and revoke a customer's link to an order"),
            ("handle_shipments", "Can pack, ship and deliver goods"),
        ]

    def __str__(self) -> str:
        return self.number


class LineItem(models.Model):
    """Some pieces of one product on an order. Units are alike; where each stands follows from the counters.

    unfulfilled = quantity − cancelled_quantity − fulfilled_quantity.
    """

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="lines", verbose_name=_("order"))
    line_item_id = models.CharField(
        _("line item id"), max_length=16, help_text=_("Public id within the order: li_1, li_2 …")
    )
    position = models.PositiveIntegerField(_("position"))
    external_id = models.CharField(_("shop's line number"), max_length=64)
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="+", verbose_name=_("product"))
    sku = models.CharField(_("SKU"), max_length=64)
    name = models.CharField(_("product name"), max_length=200)
    category = models.CharField(_("category"), max_length=64, blank=True)
    unit_price = models.PositiveBigIntegerField(_("unit price"))
    quantity = models.PositiveIntegerField(_("quantity"))
    cancelled_quantity = models.PositiveIntegerField(_("quantity cancelled"), default=0)
    fulfilled_quantity = models.PositiveIntegerField(
        _("quantity in shipments"), default=0, help_text=_("Units that are in a shipment.")
    )

    class Meta:
        verbose_name = _("line item")
        verbose_name_plural = _("line items")
        ordering = ["order_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["order", "line_item_id"], name="line_item_id_once_per_order"),
            models.UniqueConstraint(fields=["order", "external_id"], name="line_external_id_once_per_order"),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="line_quantity_positive"),
            models.CheckConstraint(
                condition=Q(quantity__gte=F("cancelled_quantity") + F("fulfilled_quantity")),
                name="line_units_never_counted_twice",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line_item_id} {self.name}"

    @property
    def unfulfilled_quantity(self) -> int:
        return self.quantity - self.cancelled_quantity - self.fulfilled_quantity


class OrderDiscount(models.Model):
    """A discount as the checkout applied it. `lines` are line_item_ids it is limited to; null means all goods."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="discounts", verbose_name=_("order"))
    position = models.PositiveIntegerField(_("position"))
    code = models.CharField(_("discount code"), max_length=64)
    label = models.CharField(_("label"), max_length=200)
    kind = models.CharField(_("kind of discount"), max_length=16, choices=DiscountKind.choices)
    settlement = models.CharField(_("settlement"), max_length=16, choices=Settlement.choices)
    amount = models.PositiveBigIntegerField(_("discount amount"), default=0)
    percent = models.DecimalField(_("percentage"), max_digits=6, decimal_places=3, default=0)
    min_spend = models.PositiveBigIntegerField(_("minimum spend"), default=0)
    min_quantity = models.PositiveIntegerField(_("minimum quantity"), default=0)
    amount_per_unit = models.PositiveBigIntegerField(_("amount per unit"), default=0)
    lines = models.JSONField(_("limited to line items"), null=True, blank=True)

    class Meta:
        verbose_name = _("discount")
        verbose_name_plural = _("discounts")
        ordering = ["order_id", "position"]
        constraints = [
            models.CheckConstraint(condition=Q(percent__gte=0) & Q(percent__lte=100), name="discount_percent_in_range")
        ]

    def __str__(self) -> str:
        return self.label


class Payment(models.Model):
    """Money that was received. `refunded_amount` is what has been promised or given back, compensation included."""

    id = models.CharField(_("payment number"), primary_key=True, max_length=32, default=ids.payment_id, editable=False)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="payments", verbose_name=_("order"))
    position = models.PositiveIntegerField(_("position"))
    external_id = models.CharField(_("shop's payment number"), max_length=64)
    method = models.CharField(_("payment method"), max_length=20, choices=PaymentMethod.choices)
    provider = models.CharField(_("payment provider"), max_length=40)
    last4 = models.CharField(_("last four digits"), max_length=4, blank=True)
    amount = models.PositiveBigIntegerField(_("amount"))
    refunded_amount = models.PositiveBigIntegerField(_("refunded amount"), default=0)
    captured_at = models.DateTimeField(_("captured at"))

    class Meta:
        verbose_name = _("payment")
        verbose_name_plural = _("payments")
        ordering = ["order_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["order", "external_id"], name="payment_once_per_order"),
            models.CheckConstraint(condition=Q(refunded_amount__lte=F("amount")), name="payment_never_refunded_beyond"),
        ]

    def __str__(self) -> str:
        return f"{self.get_method_display()} {self.last4}".strip()

    @property
    def left(self) -> int:
        return self.amount - self.refunded_amount


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

    class Meta:
        verbose_name = _("shipment")
        verbose_name_plural = _("shipments")
        ordering = ["packed_at", "id"]
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
    """Units of one line in one parcel. A unit is at most one of: being returned, being exchanged, refunded."""

    shipment = models.ForeignKey(Shipment, on_delete=models.PROTECT, related_name="lines", verbose_name=_("shipment"))
    line_item = models.ForeignKey(
        LineItem, on_delete=models.PROTECT, related_name="shipment_lines", verbose_name=_("line item")
    )
    quantity = models.PositiveIntegerField(_("quantity"))
    returning_quantity = models.PositiveIntegerField(_("quantity coming back"), default=0)
    exchanging_quantity = models.PositiveIntegerField(_("quantity being exchanged"), default=0)
    refunded_quantity = models.PositiveIntegerField(_("quantity refunded"), default=0)

    class Meta:
        verbose_name = _("shipment line")
        verbose_name_plural = _("shipment lines")
        ordering = ["shipment_id", "line_item_id"]
        constraints = [
            models.UniqueConstraint(fields=["shipment", "line_item"], name="line_once_per_shipment"),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="shipment_quantity_positive"),
            models.CheckConstraint(
                condition=Q(quantity__gte=F("returning_quantity") + F("exchanging_quantity") + F("refunded_quantity")),
                name="shipped_units_never_counted_twice",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line_item} × {self.quantity}"

    @property
    def untouched_quantity(self) -> int:
        return self.quantity - self.returning_quantity - self.exchanging_quantity - self.refunded_quantity


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
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject_id}"
