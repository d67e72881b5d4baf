"""Bodies of the API of returns, exchanges and replacements, read strictly. No body holds an amount."""

from typing import Final

from rest_framework import serializers

from orders.bodies import MAX_QUANTITY
from orders.strict import StrictBody, StrictInteger, StrictText
from refunds.bodies import NoteText
from refunds.choices import ExchangeLinesBody, ParcelBody, ResendLinesBody
from refunds.states import Reason

# Long enough for any id of a client; with what is put before it, it fits the column.
LONGEST_REF: Final = 40


class ExchangeBody(ExchangeLinesBody):
    """`request_ref`: the same one again gives the same exchange."""

    note = NoteText(required=False, allow_blank=True)
    request_ref = StrictText(max_length=LONGEST_REF, required=False)


class ResendBody(ResendLinesBody):
    """`request_ref`: the same one again gives the same replacement."""

    note = NoteText(required=False, allow_blank=True)
    request_ref = StrictText(max_length=LONGEST_REF, required=False)


class FoundBody(StrictBody):
    """How many pieces of a line were found how. Together they are as many as were announced."""

    accepted = StrictInteger(min_value=0, max_value=MAX_QUANTITY, required=False)
    damaged = StrictInteger(min_value=0, max_value=MAX_QUANTITY, required=False)
    short = StrictInteger(min_value=0, max_value=MAX_QUANTITY, required=False)
    wrong_item = StrictInteger(min_value=0, max_value=MAX_QUANTITY, required=False)


class ReceiveBody(StrictBody):
    """`found`: line_item_id to what was found of it; a line that is not named was accepted, all of it."""

    note = NoteText(required=False, allow_blank=True)
    found = serializers.DictField(child=FoundBody(), required=False)


class AcceptBody(StrictBody):
    """`reasons`: line_item_id to the reason that the goods show, where it is another than the customer's."""

    note = NoteText(required=False, allow_blank=True)
    reasons = serializers.DictField(child=serializers.ChoiceField(choices=Reason.choices), required=False)


class SendBody(ParcelBody):
    note = NoteText(required=False, allow_blank=True)
