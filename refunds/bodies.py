"""Bodies and answers of the refund API, for reading strictly and for the OpenAPI page. No body holds an amount."""

from typing import Any

from rest_framework import serializers

from orders.strict import StrictBody, StrictText
from refunds.choices import clean_note
from refunds.goods_bodies import GoodsAnswer, ReturnAnswer
from refunds.states import (
    AllocationState,
    QuoteAction,
    QuoteState,
    RefundKind,
    RefundState,
    Stands,
)


class NoteText(serializers.CharField):
    """A reason in somebody's own words, on several lines if need be."""

    def to_internal_value(self, data: Any) -> str:
        return clean_note(data, field=self.field_name or "note")


class NoteBody(StrictBody):
    """Why, in the words of whoever confirms."""

    note = NoteText(required=False, allow_blank=True)


class NeededNoteBody(StrictBody):
    """Why, in the words of whoever acts; needed."""

    note = NoteText()


class SettleBody(NeededNoteBody):
    """`stands`, where a part was paid by hand and by its provider: which payment counts. Needed there."""

    stands = serializers.ChoiceField(choices=Stands.choices, required=False)


class ReasonBody(StrictBody):
    """Why, in the words of whoever decides."""

    reason = NoteText(required=False, allow_blank=True)


class NeededReasonBody(StrictBody):
    """Why not, in the words of whoever decides; needed."""

    reason = NoteText()


class RetryBody(StrictBody):
    """`payment_id`: another payment of the order, to give the money back to; left out: the same one again."""

    payment_id = StrictText(required=False, allow_null=True, max_length=40)
    note = NoteText(required=False, allow_blank=True)


class ShareAnswer(serializers.Serializer):
    """What goes to one payment; `by` hand: what a person has paid in another way, which `label` says.

    `state` stands only in a refund, null while it waits for a second person and once it is let go of.
    """

    method = serializers.CharField()
    last4 = serializers.CharField(allow_blank=True)
    by = serializers.ChoiceField(choices=["machine", "hand"])
    label = serializers.CharField()  # type: ignore[assignment]
    amount = serializers.IntegerField()
    display = serializers.CharField()
    state = serializers.ChoiceField(choices=AllocationState.choices, required=False, allow_null=True)


class StepAnswer(serializers.Serializer):
    """One term of the sum, signed. The steps of a quote come to its amount."""

    code = serializers.CharField()
    params = serializers.DictField()
    amount = serializers.IntegerField()
    text = serializers.CharField()
    display = serializers.CharField()


class RefundAnswer(serializers.Serializer):
    """`quote_id` is null for compensation, and for what was refunded elsewhere until its goods are known.

    `waits_until` is null unless the payment provider takes it only from then on; `paid_at` until it is paid, and of one
    that was made elsewhere it is when that was, which may be before `created_at`.
    """

    refund_id = serializers.CharField()
    kind = serializers.ChoiceField(choices=RefundKind.choices)
    order_number = serializers.CharField()
    state = serializers.ChoiceField(choices=RefundState.choices)
    state_text = serializers.CharField()
    waits_until = serializers.DateTimeField(allow_null=True)
    amount = serializers.IntegerField()
    currency = serializers.CharField()
    display = serializers.CharField()
    to = ShareAnswer(many=True)
    created_at = serializers.DateTimeField()
    paid_at = serializers.DateTimeField(allow_null=True)
    quote_id = serializers.CharField(allow_null=True)


class QuoteAnswer(serializers.Serializer):
    quote_id = serializers.CharField()
    order_number = serializers.CharField()
    action = serializers.ChoiceField(choices=QuoteAction.choices)
    state = serializers.ChoiceField(choices=QuoteState.choices)
    amount = serializers.IntegerField()
    currency = serializers.CharField()
    display = serializers.CharField()
    lines = GoodsAnswer(many=True)
    steps = StepAnswer(many=True)
    explanation = serializers.CharField()
    expires_at = serializers.DateTimeField()
    policy_version = serializers.IntegerField()
    to = ShareAnswer(many=True)
    refund = RefundAnswer(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field]:
        """`return` cannot be the name of an attribute."""
        return {**super().get_fields(), "return": ReturnAnswer(allow_null=True)}
