"""Who bought what, on which terms, and how it was paid."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from orders import ids
from orders.states import DiscountKind, PaymentMethod, Settlement, Waiver


class Customer(models.Model):
    """A person who buys. `user` is set where the person can sign in; others come by a signed link.

    The indexes of name, e-mail and phone that staff's search uses are made by migration 0006 (`orders/search.py`).
    """

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
    """What the shop sells now. `stock` is what the shop told last, null where it does not count pieces here; `reserved`
    of it are promised to replacements that have not left yet (`orders/stock.py`).
    """

    sku = models.CharField(_("SKU"), max_length=64, unique=True)
    name = models.CharField(_("product name"), max_length=200)
    category = models.CharField(_("category"), max_length=64, blank=True)
    price = models.PositiveBigIntegerField(_("price"))
    currency = models.CharField(_("currency"), max_length=3)
    stock = models.PositiveIntegerField(_("stock"), null=True, blank=True)
    reserved = models.PositiveIntegerField(_("reserved"), default=0)
    description = models.TextField(_("description"), blank=True)

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
    # The sum of its payments, kept by a trigger on them (migration 0006): lists are narrowed by it.
    paid_amount = models.PositiveBigIntegerField(_("paid"), default=0, editable=False)
    # {recipient, phone, postal_code, city, district, street}; null: not told (`orders/address.py`).
    shipping_address = models.JSONField(_("shipping address"), null=True, blank=True)
    intake_digest = models.CharField(
        _("digest of the take-in"), max_length=64, help_text=_("Digest of the body the order was taken in with.")
    )
    taken_in_at = models.DateTimeField(_("taken in at"), auto_now_add=True)

    class Meta:
        verbose_name = _("order")
        verbose_name_plural = _("orders")
        indexes = [
            # Narrowed by what was paid, a customer's orders need not be looked up one by one.
            models.Index(fields=["customer", "-placed_at"], include=["id", "paid_amount"], name="order_of_customer"),
            models.Index(fields=["-placed_at", "-id"]),
            models.Index(fields=["currency", "-placed_at", "-id"], name="order_currency_newest"),
            models.Index(fields=["paid_amount"], name="order_paid_amount"),
            models.Index(fields=["shipping_method", "-placed_at", "-id"], name="order_method_newest"),
            models.Index(
                fields=["shipping_waiver", "-placed_at", "-id"],
                condition=Q(shipping_waiver__isnull=False),
                name="order_waiver_newest",
            ),
        ]
        permissions = [
            ("issue_customer_link", "Can make and revoke a customer's link to an order"),
            ("handle_shipments", "Can pack, ship and deliver goods"),
            ("change_address", "Can change where an order is sent"),
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
        indexes = [
            models.Index(
                fields=["order"],
                condition=Q(quantity__gt=F("cancelled_quantity") + F("fulfilled_quantity")),
                name="line_not_sent_yet",
            ),
            models.Index(fields=["category"], name="line_category"),
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
    provider_ref = models.CharField(
        _("provider's charge number"), max_length=120, blank=True, help_text=_("Empty: the shop's payment number.")
    )
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
        indexes = [
            models.Index(fields=["captured_at"], name="payment_by_time"),
            models.Index(fields=["method"], name="payment_method"),
            models.Index(fields=["provider"], name="payment_provider"),
            models.Index(fields=["last4"], name="payment_last4"),
            models.Index(fields=["external_id"], name="payment_by_shops_number"),
        ]

    def __str__(self) -> str:
        return f"{self.get_method_display()} {self.last4}".strip()

    @property
    def left(self) -> int:
        return self.amount - self.refunded_amount
