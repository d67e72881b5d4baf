"""What the API shows of an order. Amounts are integers of the currency's smallest unit; `display` is for people."""

from typing import Any

from rest_framework import serializers

from orders.models import Customer, CustomerLink, LineItem, Order, OrderDiscount, Payment, Shipment, ShipmentLine
from orders.money import format_money
from orders.states import CreditKind


class CustomerSerializer(serializers.ModelSerializer[Customer]):
    class Meta:
        model = Customer
        fields = ["external_id", "name", "email", "phone"]


class LineSerializer(serializers.ModelSerializer[LineItem]):
    display_price = serializers.SerializerMethodField()
    unfulfilled_quantity = serializers.IntegerField(read_only=True)

    class Meta:
        model = LineItem
        fields = [
            "line_item_id",
            "external_id",
            "sku",
            "name",
            "category",
            "unit_price",
            "display_price",
            "quantity",
            "unfulfilled_quantity",
            "fulfilled_quantity",
            "cancelled_quantity",
        ]

    def get_display_price(self, line: LineItem) -> str:
        return format_money(line.unit_price, line.order.currency)


class DiscountSerializer(serializers.ModelSerializer[OrderDiscount]):
    """`lines` are line_item_ids; null means all goods."""

    code = serializers.CharField(allow_blank=True)
    percent = serializers.DecimalField(max_digits=6, decimal_places=3, normalize_output=True)
    lines = serializers.ListField(child=serializers.CharField(), allow_null=True)

    class Meta:
        model = OrderDiscount
        fields = [
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
        ]


class ShippingSerializer(serializers.ModelSerializer[Order]):
    method = serializers.CharField(source="shipping_method")
    charged = serializers.IntegerField(source="shipping_charged")
    standard_fee = serializers.IntegerField(source="shipping_standard_fee")
    free_from = serializers.IntegerField(source="shipping_free_from", allow_null=True)
    waiver = serializers.CharField(source="shipping_waiver", allow_null=True)

    class Meta:
        model = Order
        fields = ["method", "charged", "standard_fee", "free_from", "waiver"]


class AddressSerializer(serializers.Serializer[Any]):
    recipient = serializers.CharField()
    phone = serializers.CharField()
    postal_code = serializers.CharField()
    city = serializers.CharField()
    district = serializers.CharField(allow_blank=True)
    street = serializers.CharField()


class PaymentSerializer(serializers.ModelSerializer[Payment]):
    """`refunded_amount` is what has been given back or is promised; `provider_ref` the gateway's own charge number."""

    payment_id = serializers.CharField(source="id")
    display = serializers.SerializerMethodField()

    class Meta:
        model = Payment
        fields = [
            "payment_id",
            "external_id",
            "method",
            "provider",
            "provider_ref",
            "last4",
            "amount",
            "display",
            "refunded_amount",
            "captured_at",
        ]

    def get_display(self, payment: Payment) -> str:
        return format_money(payment.amount, payment.order.currency)


class ShipmentLineSerializer(serializers.ModelSerializer[ShipmentLine]):
    """Of `quantity`, how many are on their way back, being exchanged or sent again, replaced or refunded.

    `product_id` and `name` say what is really in the parcel, which for a replacement may be another product.
    """

    line_item_id = serializers.CharField(source="line_item.line_item_id")
    external_id = serializers.CharField(source="line_item.external_id")
    product_id = serializers.SerializerMethodField()
    name = serializers.CharField()

    class Meta:
        model = ShipmentLine
        fields = [
            "line_item_id",
            "external_id",
            "product_id",
            "name",
            "quantity",
            "returning_quantity",
            "exchanging_quantity",
            "resending_quantity",
            "replaced_quantity",
            "refunded_quantity",
        ]

    def get_product_id(self, line: ShipmentLine) -> str:
        return line.product.sku if line.product else line.line_item.sku


class ShipmentSerializer(serializers.ModelSerializer[Shipment]):
    shipment_id = serializers.CharField(source="id")
    lines = ShipmentLineSerializer(many=True)

    class Meta:
        model = Shipment
        fields = [
            "shipment_id",
            "external_id",
            "is_replacement",
            "carrier",
            "tracking_number",
            "state",
            "packed_at",
            "shipped_at",
            "delivered_at",
            "lines",
        ]


class OrderSerializer(serializers.ModelSerializer[Order]):
    """The whole order: lines in the order sent, `paid` is the sum of its payments."""

    customer = CustomerSerializer()
    lines = LineSerializer(many=True)
    discounts = DiscountSerializer(many=True)
    shipping = ShippingSerializer(source="*")
    shipping_address = AddressSerializer(allow_null=True)
    payments = PaymentSerializer(many=True)
    shipments = ShipmentSerializer(many=True)
    paid = serializers.SerializerMethodField()
    display_paid = serializers.SerializerMethodField()

    class Meta:
        model = Order
        fields = [
            "number",
            "placed_at",
            "currency",
            "customer",
            "lines",
            "discounts",
            "shipping",
            "shipping_address",
            "payments",
            "paid",
            "display_paid",
            "shipments",
        ]

    def get_paid(self, order: Order) -> int:
        return sum(payment.amount for payment in order.payments.all())

    def get_display_paid(self, order: Order) -> str:
        return format_money(self.get_paid(order), order.currency)


class ProductAnswer(serializers.Serializer[Any]):
    """`in_stock` and `available` are null where the shop does not count pieces here."""

    product_id = serializers.CharField()
    name = serializers.CharField()
    category = serializers.CharField(allow_blank=True)
    price = serializers.IntegerField()
    display = serializers.CharField()
    currency = serializers.CharField()
    in_stock = serializers.BooleanField(allow_null=True)
    available = serializers.IntegerField(allow_null=True)
    description = serializers.CharField(allow_blank=True)


class StoreCreditEntryAnswer(serializers.Serializer[Any]):
    """`amount` is negative where credit was spent."""

    reference = serializers.CharField()
    kind = serializers.ChoiceField(choices=CreditKind.choices)
    amount = serializers.IntegerField()
    display = serializers.CharField()
    currency = serializers.CharField()
    order_number = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


class BalanceAnswer(serializers.Serializer[Any]):
    currency = serializers.CharField()
    balance = serializers.IntegerField()
    display = serializers.CharField()


class StoreCreditAnswer(serializers.Serializer[Any]):
    """A page of entries, newest first, and what they come to in each currency."""

    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = StoreCreditEntryAnswer(many=True)
    customer = serializers.CharField()
    balances = BalanceAnswer(many=True)


class CustomerLinkSerializer(serializers.ModelSerializer[CustomerLink]):
    link_id = serializers.IntegerField(source="id")
    url = serializers.SerializerMethodField()

    class Meta:
        model = CustomerLink
        fields = ["link_id", "url", "expires_at"]

    def get_url(self, link: CustomerLink) -> str:
        return str(self.context["url"])


class ErrorSerializer(serializers.Serializer[Any]):
    """The one error object. `field` names the argument that is wrong, `details` are data that belong to the code."""

    code = serializers.CharField()
    message = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)
    retryable = serializers.BooleanField()
    field = serializers.CharField(required=False)
    details = serializers.DictField(required=False)
