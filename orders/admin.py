"""Orders in Django admin: everything to look at, nothing to change, except the simulated carrier's switches.

Facts come in through `ingest`, `shipments`, `products`, `address` and `store_credit`.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orders.admin_links import NOTHING, admin_link, register_subject, subject_link, subject_name
from orders.admin_pages import ReadOnlyAdmin, ReadOnlyInline, WordsFilter, with_code
from orders.models import (
    AuditEvent,
    CarrierFault,
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
    StoreCreditAccount,
    StoreCreditEntry,
)
from orders.money import format_money
from orders.states import DiscountKind
from orders.stock import available
from orders.words import action_name, actor_name, shipping_name, told_as

register_subject("order", Order)
register_subject("shipment", Shipment)
register_subject("customer_link", CustomerLink)
register_subject("product", Product)
register_subject("store_credit_entry", StoreCreditEntry)


_step_readers: list[Callable[[AuditEvent], str]] = []


def register_step_reader(reader: Callable[[AuditEvent], str]) -> None:
    """Let the app that works out amounts say how it did, for an event that holds the steps; "" for any other."""
    _step_readers.append(reader)


class LineInline(ReadOnlyInline):
    model = LineItem
    amounts: ClassVar = {"unit_price": "order.currency"}
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
    amounts: ClassVar = {"min_spend": "order.currency"}
    show_change_link = False
    fields = (
        "code",
        "label",
        "kind",
        "settlement",
        "takes_off",
        "min_spend",
        "lines",
    )

    @admin.display(description=_("takes off"))
    def takes_off(self, discount: OrderDiscount) -> str:
        if discount.kind == DiscountKind.PERCENT:
            return f"{discount.percent.normalize():f}%"
        if discount.kind == DiscountKind.FIXED:
            return format_money(discount.amount, discount.order.currency)
        each = format_money(discount.amount_per_unit, discount.order.currency)
        return gettext("%(amount)s each, from %(quantity)s pieces") % {
            "amount": each,
            "quantity": discount.min_quantity,
        }


class PaymentInline(ReadOnlyInline):
    model = Payment
    amounts: ClassVar = dict.fromkeys(("amount", "refunded_amount"), "order.currency")
    fields = ("id", "method", "provider", "last4", "amount", "refunded_amount", "captured_at")


class ShipmentInline(ReadOnlyInline):
    model = Shipment
    fields = (
        "external_id",
        "is_replacement",
        "state",
        "carrier",
        "tracking_number",
        "packed_at",
        "shipped_at",
        "delivered_at",
    )


class ShipmentLineInline(ReadOnlyInline):
    model = ShipmentLine
    show_change_link = False
    fields = (
        "line_item",
        "product",
        "quantity",
        "returning_quantity",
        "exchanging_quantity",
        "resending_quantity",
        "replaced_quantity",
        "refunded_quantity",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("line_item", "product")


class ShippingFilter(WordsFilter):
    def in_words(self, value: str) -> str:
        return shipping_name(value)


class ShipmentFilter(admin.ChoicesFieldListFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("state of a shipment")


class ActionFilter(WordsFilter):
    def in_words(self, value: str) -> str:
        return action_name(value)


class SubjectFilter(WordsFilter):
    def in_words(self, value: str) -> str:
        return subject_name(value)


class OfOrder(ReadOnlyAdmin):
    """A record of one order: its list links to the order."""

    list_select_related = ("order",)

    @admin.display(description=_("order"), ordering="order__number")
    def of_order(self, record: Any) -> str:
        return admin_link(record.order)


@admin.register(Customer)
class CustomerAdmin(ReadOnlyAdmin):
    # Not by name: two people may bear the same.
    story = "external_id"
    story_asked = "customer:{}"
    list_display = ("name", "external_id", "email", "phone", "of_user")
    list_select_related = ("user",)
    search_fields = ("name", "external_id__exact", "email", "phone", "user__username")
    list_filter = (("user", admin.EmptyFieldListFilter),)

    @admin.display(description=_("account"))
    def of_user(self, customer: Customer) -> str:
        return admin_link(customer.user)


@admin.register(Product)
class ProductAdmin(ReadOnlyAdmin):
    """What is free is what may still be promised to a replacement: the shop's stock less what is promised already."""

    list_display = ("sku", "name", "category", "price", "stock", "reserved", "free")
    amounts: ClassVar = {"price": "currency"}
    search_fields = ("sku", "name", "description")
    list_filter = ("category", "currency", ("stock", admin.EmptyFieldListFilter))
    extra_fields = ("free",)

    @admin.display(description=_("pieces to be had"))
    def free(self, product: Product) -> str:
        left = available(product)
        return gettext("not counted") if left is None else str(left)


@admin.register(Order)
class OrderAdmin(ReadOnlyAdmin):
    story = "number"
    list_display = ("number", "of_customer", "placed_at", "paid_amount", "sent_by", "shipping_waiver")
    amounts: ClassVar = dict.fromkeys(
        ("shipping_charged", "shipping_standard_fee", "shipping_free_from", "paid_amount"), "currency"
    )
    in_words: ClassVar = {"shipping_method": "sent_by", "shipping_address": "sent_to"}
    list_select_related = ("customer",)
    search_fields = (
        "number__exact",
        "customer__name",
        "customer__external_id__exact",
        "customer__email",
        "payments__external_id__exact",
    )
    list_filter = (
        "currency",
        "shipping_waiver",
        ("shipping_method", ShippingFilter),
        ("shipments__state", ShipmentFilter),
    )
    date_hierarchy = "placed_at"
    ordering = ("-placed_at", "-id")
    inlines = (LineInline, DiscountInline, PaymentInline, ShipmentInline)

    @admin.display(description=_("customer"), ordering="customer__name")
    def of_customer(self, order: Order) -> str:
        return admin_link(order.customer)

    @admin.display(description=_("shipping method"), ordering="shipping_method")
    def sent_by(self, order: Order) -> str:
        return shipping_name(order.shipping_method)

    @admin.display(description=_("shipping address"))
    def sent_to(self, order: Order) -> str:
        address = order.shipping_address
        if not address:
            return NOTHING
        place = "".join(address[name] for name in ("city", "district", "street"))
        return format_html("{} · {}<br>{} {}", address["recipient"], address["phone"], address["postal_code"], place)


@admin.register(LineItem)
class LineItemAdmin(OfOrder):
    amounts: ClassVar = {"unit_price": "order.currency"}
    list_display = (
        "line_item_id",
        "of_order",
        "name",
        "unit_price",
        "quantity",
        "cancelled_quantity",
        "fulfilled_quantity",
    )
    search_fields = ("order__number__exact", "name", "sku")
    list_filter = ("category",)


@admin.register(Payment)
class PaymentAdmin(OfOrder):
    story = "pk"
    amounts: ClassVar = dict.fromkeys(("amount", "refunded_amount"), "order.currency")
    list_display = ("id", "of_order", "method", "provider", "last4", "amount", "refunded_amount", "captured_at")
    search_fields = ("id__exact", "external_id__exact", "order__number__exact", "last4__exact")
    list_filter = ("method", "provider")
    date_hierarchy = "captured_at"


@admin.register(Shipment)
class ShipmentAdmin(OfOrder):
    story = "pk"
    list_display = (
        "id",
        "of_order",
        "state",
        "carrier",
        "tracking_number",
        "shipped_at",
        "delivered_at",
    )
    search_fields = ("id__exact", "external_id__exact", "tracking_number", "order__number__exact")
    list_filter = ("state", "is_replacement", "carrier")
    date_hierarchy = "packed_at"
    inlines = (ShipmentLineInline,)


@admin.register(StoreCreditAccount)
class StoreCreditAccountAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "of_customer", "currency", "balance")
    amounts: ClassVar = {"balance": "currency"}
    list_select_related = ("customer",)
    search_fields = ("customer__name", "customer__external_id__exact", "customer__orders__number__exact")
    list_filter = ("currency",)

    @admin.display(description=_("customer"), ordering="customer__name")
    def of_customer(self, account: StoreCreditAccount) -> str:
        return admin_link(account.customer)


@admin.register(StoreCreditEntry)
class StoreCreditEntryAdmin(ReadOnlyAdmin):
    story = "account.customer.external_id"
    story_asked = "customer:{}"
    list_display = ("reference", "of_account", "kind", "amount", "of_order", "created_by", "created_at")
    amounts: ClassVar = {"amount": "account.currency"}
    list_select_related = ("account__customer", "order", "created_by")
    search_fields = ("reference__exact", "note", "order__number__exact", "account__customer__name")
    list_filter = ("kind", "account__currency")
    date_hierarchy = "created_at"
    ordering = ("-id",)

    @admin.display(description=_("store credit account"))
    def of_account(self, entry: StoreCreditEntry) -> str:
        return admin_link(entry.account)

    @admin.display(description=_("order"), ordering="order__number")
    def of_order(self, entry: StoreCreditEntry) -> str:
        return admin_link(entry.order)


@admin.register(CarrierFault)
class CarrierFaultAdmin(admin.ModelAdmin):
    """A switch of the demo, not a record: whoever may change it (the superuser) switches faults on and off here."""

    list_display = ("kind", "remaining", "seconds")
    list_filter = ("kind",)


@admin.register(CustomerLink)
class CustomerLinkAdmin(OfOrder):
    list_display = ("id", "of_order", "created_by", "created_at", "expires_at", "revoked_at")
    list_select_related = ("order", "created_by")  # type: ignore[assignment]
    search_fields = ("order__number__exact", "created_by__username")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "expires_at")
    date_hierarchy = "created_at"


@admin.register(OrderAnnouncement)
class OrderAnnouncementAdmin(OfOrder):
    list_display = ("id", "of_order", "event", "state", "attempts", "next_attempt_at", "created_at")
    search_fields = ("order__number__exact", "event")
    list_filter = ("state", "event")
    date_hierarchy = "created_at"


@admin.register(AuditEvent)
class AuditEventAdmin(OfOrder):
    """The history. `subject` leads to what the event is about."""

    list_display = ("at", "what", "actor_kind", "actor", "of_order", "kind_of_subject", "subject")
    list_display_links = ("at", "what")
    search_fields = ("order__number__exact", "subject_id__exact", "actor_name__exact", "action__exact")
    list_filter = (("action", ActionFilter), "actor_kind", ("subject_type", SubjectFilter))
    date_hierarchy = "at"
    ordering = ("-at", "-id")
    in_words: ClassVar = {
        "action": "what",
        "actor_name": "actor",
        "subject_type": "kind_of_subject",
        "subject_id": "subject",
    }
    beside: ClassVar = {"computed": "steps"}

    @admin.display(description=_("action"), ordering="action")
    def what(self, event: AuditEvent) -> str:
        return with_code(action_name(told_as(event)), event.action)

    @admin.display(description=_("actor"), ordering="actor_name")
    def actor(self, event: AuditEvent) -> str:
        return actor_name(event)

    @admin.display(description=_("kind of record"), ordering="subject_type")
    def kind_of_subject(self, event: AuditEvent) -> str:
        return subject_name(event.subject_type)

    @admin.display(description=_("about"), ordering="subject_id")
    def subject(self, event: AuditEvent) -> str:
        if event.subject_type == "order":
            return admin_link(event.order, event.subject_id)
        return subject_link(event.subject_type, event.subject_id)

    @admin.display(description=_("How the amount comes about"))
    def steps(self, event: AuditEvent) -> str:
        return next((said for reader in _step_readers if (said := reader(event))), NOTHING)
