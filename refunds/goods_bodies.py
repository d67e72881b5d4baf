"""Goods, returns and replacements as the API answers with them (`refunds/present.py`), for the OpenAPI page."""

from rest_framework import serializers

from refunds.states import FoundState, Reason, ReplacementKind, ReplacementState, ReturnKind, ReturnState


class GoodsAnswer(serializers.Serializer):
    """Units of a line. `name` is what is really there: a replacement may be another product than the line's."""

    line_item_id = serializers.CharField()
    name = serializers.CharField()
    quantity = serializers.IntegerField()
    reason = serializers.ChoiceField(choices=Reason.choices)
    reason_text = serializers.CharField()


class FindingAnswer(serializers.Serializer):
    """What the warehouse found of units that came back."""

    line_item_id = serializers.CharField()
    name = serializers.CharField()
    found = serializers.ChoiceField(choices=FoundState.choices)
    found_text = serializers.CharField()
    quantity = serializers.IntegerField()


class ReplacementGoodsAnswer(serializers.Serializer):
    """`name` is what is sent."""

    line_item_id = serializers.CharField()
    name = serializers.CharField()
    quantity = serializers.IntegerField()


class ReplacementAnswer(serializers.Serializer):
    """`shipment_id`: its parcel, once it has left. `return_id`: the exchange it belongs to, null for lost goods."""

    replacement_id = serializers.CharField()
    order_number = serializers.CharField()
    kind = serializers.ChoiceField(choices=ReplacementKind.choices)
    state = serializers.ChoiceField(choices=ReplacementState.choices)
    state_text = serializers.CharField()
    lines = ReplacementGoodsAnswer(many=True)
    shipment_id = serializers.CharField(allow_null=True)
    carrier = serializers.CharField(allow_blank=True)
    tracking_number = serializers.CharField(allow_blank=True)
    return_id = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()


class ReturnAnswer(serializers.Serializer):
    """`amount`: what was promised after receipt, and once there is a refund, what that comes to; `state_text` then says
    how the refund stands. Null for an exchange, which has a `replacement` instead.
    """

    return_id = serializers.CharField()
    order_number = serializers.CharField()
    kind = serializers.ChoiceField(choices=ReturnKind.choices)
    state = serializers.ChoiceField(choices=ReturnState.choices)
    state_text = serializers.CharField()
    lines = GoodsAnswer(many=True)
    findings = FindingAnswer(many=True)
    amount = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField()
    display = serializers.CharField(allow_blank=True)
    instructions = serializers.CharField(allow_blank=True)
    refund_id = serializers.CharField(allow_null=True)
    replacement = ReplacementAnswer(allow_null=True)
    created_at = serializers.DateTimeField()


class UnitRefusalAnswer(serializers.Serializer):
    code = serializers.CharField()
    message = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)


class UnitsAnswer(serializers.Serializer):
    """Units of a line in one state. `only_for`: the reasons that `can` needs; empty: any reason."""

    state = serializers.CharField()
    name = serializers.CharField()
    quantity = serializers.IntegerField()
    can = serializers.ListField(child=serializers.CharField())
    only_for = serializers.ListField(child=serializers.ChoiceField(choices=Reason.choices))
    until = serializers.DateField(allow_null=True)
    refusal = UnitRefusalAnswer(allow_null=True)


class LineUnitsAnswer(serializers.Serializer):
    line_item_id = serializers.CharField()
    name = serializers.CharField()
    quantity = serializers.IntegerField()
    units = UnitsAnswer(many=True)


class EligibilityAnswer(serializers.Serializer):
    order_number = serializers.CharField()
    lines = LineUnitsAnswer(many=True)
