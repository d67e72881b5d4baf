"""Orders in Django admin: everything to look at, nothing to change. Facts come in through `ingest` and `shipments`."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from orders.admin_links import ReadOnlyAdmin, ReadOnlyInline, admin_link, register_subject, subject_link
from orders.models import (
    AuditEvent,
    Customer,
    CustomerLink,
    LineItem,
    Order,
    OrderAnnouncement,
    OrderDiscount,
    Payment,
    Product,
    Shipment,
    ShipmentLine,
)
from orders.money import format_money

register_subject("shipment", Shipment)
register_subject("customer_link", CustomerLink)


class LineInline(ReadOnlyInline):
    model = LineItem
    fields = (
        "line_item_id",
        "sku",
        "name",
        "category",
        "unit_price",
        "quantity",
        "cancelled_quantity",
        "fulfilled_quantity",
    )


class DiscountInline(ReadOnlyInline):
    model = OrderDiscount
    show_change_link = False
    fields = (
        "code",
        "label",
        "kind",
        "settlement",
        "amount",
        "percent",
        "min_spend",
        "min_quantity",
        "amount_per_unit",
        "lines",
    )


class PaymentInline(ReadOnlyInline):
    model = Payment
    fields = ("id", "method", "provider", "last4", "amount", "refunded_amount", "captured_at")


class ShipmentInline(ReadOnlyInline):
    model = Shipment
    fields = ("external_id", "state", "carrier", "tracking_number", "packed_at", "shipped_at", "delivered_at")


class ShipmentLineInline(ReadOnlyInline):
    model = ShipmentLine
    show_change_link = False
    fields = ("line_item", "quantity", "returning_quantity", "exchanging_quantity", "refunded_quantity")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("line_item")


class OfOrder(ReadOnlyAdmin):
    """A record of one order: its list links to the order."""

    list_select_related = ("order",)

    @admin.display(description=_("order"), ordering="order__number")
    def of_order(self, record: Any) -> str:
        return admin_link(record.order)


@admin.register(Customer)
class CustomerAdmin(ReadOnlyAdmin):
    list_display = ("name", "external_id", "email", "phone", "of_user")
    list_select_related = ("user",)
    search_fields = ("name", "external_id", "email", "phone", "user__username")
    list_filter = (("user", admin.EmptyFieldListFilter),)

    @admin.display(description=_("account"))
    def of_user(self, customer: Customer) -> str:
        return admin_link(customer.user)


@admin.register(Product)
class ProductAdmin(ReadOnlyAdmin):
    list_display = ("sku", "name", "category", "price", "currency", "stock")
    search_fields = ("sku", "name")
    list_filter = ("category", "currency")


@admin.register(Order)
class OrderAdmin(ReadOnlyAdmin):
    list_display = ("number", "of_customer", "placed_at", "paid", "shipping_method", "shipping_waiver")
    list_select_related = ("customer",)
    search_fields = ("number", "customer__name", "customer__external_id", "customer__email", "payments__external_id")
    list_filter = ("currency", "shipping_waiver", "shipping_method", "shipments__state")
    date_hierarchy = "placed_at"
    ordering = ("-placed_at", "-id")
    inlines = (LineInline, DiscountInline, PaymentInline, ShipmentInline)
    extra_fields = ("paid",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Order]:
        return super().get_queryset(request).prefetch_related("payments")

    @admin.display(description=_("customer"), ordering="customer__name")
    def of_customer(self, order: Order) -> str:
        return admin_link(order.customer)

    @admin.display(description=_("paid"))
    def paid(self, order: Order) -> str:
        return format_money(sum(payment.amount for payment in order.payments.all()), order.currency)


@admin.register(LineItem)
class LineItemAdmin(OfOrder):
    list_display = (
        "line_item_id",
        "of_order",
        "name",
        "unit_price",
        "quantity",
        "cancelled_quantity",
        "fulfilled_quantity",
    )
    search_fields = ("order__number", "name", "sku")
    list_filter = ("category",)


@admin.register(Payment)
class PaymentAdmin(OfOrder):
    list_display = ("id", "of_order", "method", "provider", "last4", "amount", "refunded_amount", "captured_at")
    search_fields = ("id", "external_id", "order__number", "last4")
    list_filter = ("method", "provider")
    date_hierarchy = "captured_at"


@admin.register(Shipment)
class ShipmentAdmin(OfOrder):
    list_display = (
        "id",
        "of_order",
        "external_id",
        "state",
        "carrier",
        "tracking_number",
        "shipped_at",
        "delivered_at",
    )
    search_fields = ("id", "external_id", "tracking_number", "order__number")
    list_filter = ("state", "carrier")
    date_hierarchy = "packed_at"
    inlines = (ShipmentLineInline,)


@admin.register(CustomerLink)
class CustomerLinkAdmin(OfOrder):
    list_display = ("id", "of_order", "created_by", "created_at", "expires_at", "revoked_at")
    list_select_related = ("order", "created_by")  # type: ignore[assignment]
    search_fields = ("order__number", "created_by__username")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "expires_at")
    date_hierarchy = "created_at"


@admin.register(OrderAnnouncement)
class OrderAnnouncementAdmin(OfOrder):
    list_display = ("id", "of_order", "event", "state", "attempts", "next_attempt_at", "created_at")
    search_fields = ("order__number", "event")
    list_filter = ("state", "event")
    date_hierarchy = "created_at"


@admin.register(AuditEvent)
class AuditEventAdmin(OfOrder):
    """The history. `subject` leads to what the event is about."""

    list_display = ("at", "action", "actor_kind", "actor_name", "of_order", "subject_type", "subject")
    list_display_links = ("at", "action")
    search_fields = ("order__number", "subject_id", "actor_name", "action")
    list_filter = ("action", "actor_kind", "subject_type")
    date_hierarchy = "at"
    ordering = ("-at", "-id")
    extra_fields = ("subject",)

    @admin.display(description=_("about"))
    def subject(self, event: AuditEvent) -> str:
        if event.subject_type == "order":
            return admin_link(event.order, event.subject_id)
        return subject_link(event.subject_type, event.subject_id)
