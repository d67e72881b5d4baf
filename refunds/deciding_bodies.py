"""Bodies and answers about approvals, compensation and refunds made elsewhere. A person names their amounts."""

from typing import Any

from rest_framework import serializers

from orders.bodies import MAX_QUANTITY
from orders.strict import Amount, AwareDateTime, StrictBody, StrictInteger, StrictText, many
from refunds.bodies import NoteText
from refunds.choices import MAX_LINES, LineChoiceBody
from refunds.states import ApprovalKind, ApprovalState, Reason


class StrictBoolean(serializers.BooleanField):
    """true or false: no word and no number that could mean one."""

    def to_internal_value(self, data: Any) -> bool:
        if type(data) is not bool:
            self.fail("invalid", input=data)
        return data


class CompensationBody(StrictBody):
    """`amount`: what is proposed, in smallest units. `request_ref`: the same one again is the same proposal."""

    amount = Amount(min_value=1)
    reason = NoteText()
    request_ref = StrictText(max_length=60)


class OverrideBody(StrictBody):
    """Goods whose return the rules refuse, each line with its own reason; `reason` is what the second person reads."""

    lines = many(LineChoiceBody, allow_empty=False, max_length=MAX_LINES)
    reason = NoteText()


class ElsewhereLineBody(StrictBody):
    """Goods that the money was for; `reason` is why they left, where it is known."""

    line_item_id = StrictText(max_length=16)
    quantity = StrictInteger(min_value=1, max_value=MAX_QUANTITY)
    reason = serializers.ChoiceField(choices=Reason.choices, required=False, default=Reason.OTHER)


class AssignBody(StrictBody):
    """`lines`: the goods that the refund was for. None at all, with `for_goods` false: it was for no goods."""

    lines = many(ElsewhereLineBody, max_length=MAX_LINES)
    for_goods = StrictBoolean(required=False, default=True)
    note = NoteText()


class ElsewhereBody(AssignBody):
    """A refund that was made without us. `external_ref` is its number there: the same one again is the same refund.

    Without `lines` it waits for a person to say for which goods it was; with `for_goods` false there is nothing to wait
    for. `at`: when it was paid; left out: now. Told again with another `at`, the number is refused.
    """

    external_ref = StrictText(max_length=120)
    amount = Amount(min_value=1)
    payment_id = StrictText(max_length=40)
    at = AwareDateTime(required=False)
    lines = many(ElsewhereLineBody, required=False, max_length=MAX_LINES)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Whoever says that it was for no goods has named all of them."""
        return attrs if attrs["for_goods"] else {"lines": [], **attrs}


class ByHandBody(StrictBody):
    """`external_ref`: the number of the transfer, of the receipt, or whatever it can be found by."""

    external_ref = StrictText(max_length=120)
    note = NoteText()


class ApprovalAnswer(serializers.Serializer):
    """A question to a second person. `refund_id` of a compensation and of nothing else comes with the yes."""

    approval_id = serializers.CharField()
    kind = serializers.ChoiceField(choices=ApprovalKind.choices)
    kind_text = serializers.CharField()
    state = serializers.ChoiceField(choices=ApprovalState.choices)
    state_text = serializers.CharField()
    order_number = serializers.CharField()
    amount = serializers.IntegerField()
    display = serializers.CharField()
    currency = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    asked_by = serializers.CharField()
    refund_id = serializers.CharField(allow_null=True)
    quote_id = serializers.CharField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField(allow_null=True)
    decision_reason = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
