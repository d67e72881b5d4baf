"""The bodies that the shop's own system sends: an order to take in, a shipment. Strict, and described to the API page.

Amounts are integers of the currency's smallest unit. Ids in a body are the shop's own (`external_id`).
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from orders.converters import ORDER_NUMBER
from orders.money import DECIMALS
from orders.states import DiscountKind, PaymentMethod, Settlement, ShipmentState, Waiver
from orders.strict import Amount, AwareDateTime, Percent, StrictBody, StrictInteger, StrictPattern, StrictText, many

MAX_LINES: Final = 200
MAX_SHIPMENTS: Final = 200
MAX_PARTS: Final = 20
MAX_QUANTITY: Final = 10_000
# Which of a discount's fields say what it takes off. Exactly that one must be there.
_TAKES_OFF: Final = {
    DiscountKind.FIXED: "amount",
    DiscountKind.PERCENT: "percent",
    DiscountKind.BUNDLE: "amount_per_unit",
}


class CustomerBody(StrictBody):
    """Who buys. What is left out is left as it is known."""

    external_id = StrictText(max_length=64)
    name = StrictText(max_length=120)
    email = serializers.EmailField(max_length=254, required=False, allow_blank=True)
    phone = StrictText(max_length=40, required=False, allow_blank=True)


class LineBody(StrictBody):
    external_id = StrictText(max_length=64)
    sku = StrictText(max_length=64)
    name = StrictText(max_length=200)
    unit_price = Amount()
    quantity = StrictInteger(min_value=1, max_value=MAX_QUANTITY)
    category = StrictText(max_length=64, required=False, allow_blank=True, default="")


class DiscountBody(StrictBody):
    """A discount as the checkout applied it; `lines` are external_ids of lines, null for all goods."""

    kind = serializers.ChoiceField(choices=DiscountKind.choices)
    code = StrictText(max_length=64, required=False, allow_blank=True, default="")
    label = StrictText(max_length=200, required=False, allow_blank=True, default="")  # type: ignore[assignment]
    settlement = serializers.ChoiceField(choices=Settlement.choices, required=False, default=Settlement.REPRICE)
    amount = Amount(required=False, default=0)
    percent = Percent(required=False, default=Decimal(0))
    amount_per_unit = Amount(required=False, default=0)
    min_spend = Amount(required=False, default=0)
    min_quantity = StrictInteger(min_value=0, max_value=MAX_LINES * MAX_QUANTITY, required=False, default=0)
    lines = serializers.ListField(
        child=StrictText(max_length=64),
        allow_null=True,
        allow_empty=False,
        max_length=MAX_LINES,
        required=False,
        default=None,
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        wanted = _TAKES_OFF[DiscountKind(attrs["kind"])]
        if not attrs[wanted]:
            raise serializers.ValidationError({wanted: [_("A discount of this kind needs it, above 0.")]})
        for other in _TAKES_OFF.values():
            if other != wanted and attrs[other]:
                raise serializers.ValidationError({other: [_("A discount of this kind does not have it.")]})
        if not (attrs["label"] or attrs["code"]):
            raise serializers.ValidationError({"label": [_("A discount needs a label or a code.")]})
        attrs["label"] = attrs["label"] or attrs["code"]
        _refuse_repeats(attrs["lines"] or (), "lines", lambda name: name)
        return attrs


class ShippingBody(StrictBody):
    """What delivery cost, what it costs otherwise, and why it was free (`waiver`)."""

    method = StrictText(max_length=40)
    charged = Amount()
    standard_fee = Amount(required=False, default=0)
    free_from = Amount(required=False, allow_null=True, default=None)
    waiver = serializers.ChoiceField(choices=Waiver.choices, required=False, allow_null=True, default=None)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["waiver"] and attrs["charged"]:
            raise serializers.ValidationError({"waiver": [_("Shipping that was charged was not waived.")]})
        if attrs["waiver"] == Waiver.THRESHOLD and attrs["free_from"] is None:
            raise serializers.ValidationError({"free_from": [_("Free above a threshold: the threshold is missing.")]})
        return attrs


class AddressBody(StrictBody):
    """Where goods are sent. `district` may be empty where there is none."""

    recipient = StrictText(max_length=120)
    phone = StrictPattern(
        r"\+?[0-9 ()#-]{6,30}",
        gettext_lazy("A phone number has 6 to 30 digits; spaces, +, -, # and () may stand in it."),
    )
    postal_code = StrictPattern(
        "[0-9A-Za-z][0-9A-Za-z -]{1,9}", gettext_lazy("A postal code has 2 to 10 letters and digits.")
    )
    city = StrictText(max_length=60)
    district = StrictText(max_length=60, allow_blank=True)
    street = StrictText(max_length=200)


class PaymentBody(StrictBody):
    """Money that was received. `provider` names the gateway; left out, it is the one in use.

    `provider_ref` is the gateway's own number of the charge; left out, the gateway knows it by `external_id`.
    """

    external_id = StrictText(max_length=64)
    method = serializers.ChoiceField(choices=PaymentMethod.choices)
    provider = StrictText(max_length=40, required=False)
    provider_ref = StrictText(max_length=120, required=False, allow_blank=True, default="")
    last4 = StrictPattern(
        "[0-9]{4}", gettext_lazy("This must be the last four digits."), required=False, allow_blank=True, default=""
    )
    amount = Amount(min_value=1)
    captured_at = AwareDateTime(required=False, allow_null=True, default=None)


class ShipmentLineBody(StrictBody):
    """Units in a parcel. The line is named by the shop's id or by ours, not by both."""

    external_id = StrictText(max_length=64, required=False)
    line_item_id = StrictText(max_length=16, required=False)
    quantity = StrictInteger(min_value=1, max_value=MAX_QUANTITY)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("external_id" in attrs) == ("line_item_id" in attrs):
            raise serializers.ValidationError({"external_id": [_("Give external_id or line_item_id, one of them.")]})
        return attrs


class ShipmentBody(StrictBody):
    """Where a parcel is. `lines` are needed once, when the parcel is new. Times that are left out are now."""

    external_id = StrictText(max_length=64)
    carrier = StrictText(max_length=80, required=False, allow_blank=True)
    tracking_number = StrictText(max_length=80, required=False, allow_blank=True)
    state = serializers.ChoiceField(choices=ShipmentState.choices)
    packed_at = AwareDateTime(required=False, allow_null=True)
    shipped_at = AwareDateTime(required=False, allow_null=True)
    delivered_at = AwareDateTime(required=False, allow_null=True)
    lines = many(ShipmentLineBody, required=False, allow_empty=False, max_length=MAX_LINES)


class OrderBody(StrictBody):
    """An order to take in, as the checkout closed it."""

    number = StrictPattern(ORDER_NUMBER, gettext_lazy("An order number has 1 to 40 letters, digits, -, _ or #."))
    placed_at = AwareDateTime()
    currency = serializers.ChoiceField(choices=sorted(DECIMALS))
    customer = CustomerBody()
    lines = many(LineBody, allow_empty=False, max_length=MAX_LINES)
    discounts = many(DiscountBody, required=False, max_length=MAX_PARTS)
    shipping = ShippingBody()
    shipping_address = AddressBody(required=False, allow_null=True, default=None)
    payments = many(PaymentBody, required=False, max_length=MAX_PARTS)
    shipments = many(ShipmentBody, required=False, max_length=MAX_SHIPMENTS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for part in ("discounts", "payments", "shipments"):
            attrs.setdefault(part, [])
        for part in ("lines", "payments", "shipments"):
            _refuse_repeats(attrs[part], part, lambda item: item["external_id"], ".external_id")
        known = {line["external_id"] for line in attrs["lines"]}
        for index, discount in enumerate(attrs["discounts"]):
            unknown = [name for name in discount["lines"] or () if name not in known]
            if unknown:
                raise serializers.ValidationError({f"discounts[{index}].lines": [_no_such_line(unknown[0])]})
        return attrs


def _refuse_repeats(items: Sequence[Any], field: str, key: Callable[[Any], str], below: str = "") -> None:
    seen: set[str] = set()
    for index, item in enumerate(items):
        if key(item) in seen:
            raise serializers.ValidationError({f"{field}[{index}]{below}": [_("This stands here twice.")]})
        seen.add(key(item))


def _no_such_line(name: str) -> str:
    return _("The order has no line %(name)s.") % {"name": name}
