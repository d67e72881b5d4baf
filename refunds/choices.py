"""What somebody asks for: lines, quantities and reasons, read strictly. No field of it is an amount of money."""

from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from rest_framework import serializers

from orders.bodies import MAX_QUANTITY
from orders.errors import InvalidInput
from orders.strict import StrictBody, StrictInteger, StrictText, many, readable, validated
from refunds import errors
from refunds.states import QuoteAction, Reason

MAX_LINES: Final = 50
MAX_NOTE: Final = 1000


@dataclass(frozen=True, slots=True)
class LineChoice:
    """Some units of a line and why they leave. `quantity` None: all that can. `action` only where several fit.

    `product_id`: of an exchange, what is wanted instead; None: the same again.
    """

    line_item_id: str
    quantity: int | None
    reason: str
    action: str | None = None
    product_id: str | None = None


class LineChoiceBody(StrictBody):
    line_item_id = StrictText(max_length=16)
    quantity = StrictInteger(min_value=1, max_value=MAX_QUANTITY)
    reason = serializers.ChoiceField(choices=Reason.choices, required=False)
    action = serializers.ChoiceField(choices=QuoteAction.choices, required=False, allow_null=True, default=None)


class ChoicesBody(StrictBody):
    """Goods that leave the order. A `reason` beside `lines` holds for every line that names none."""

    lines = many(LineChoiceBody, allow_empty=False, max_length=MAX_LINES)
    reason = serializers.ChoiceField(choices=Reason.choices, required=False)


class ExchangeLineBody(StrictBody):
    """`product_id`: another product of the same price; left out or null: the same again."""

    line_item_id = StrictText(max_length=16)
    quantity = StrictInteger(min_value=1, max_value=MAX_QUANTITY)
    reason = serializers.ChoiceField(choices=Reason.choices)
    product_id = StrictText(max_length=64, required=False, allow_null=True, default=None)


class ExchangeLinesBody(StrictBody):
    """Goods that are exchanged."""

    lines = many(ExchangeLineBody, allow_empty=False, max_length=MAX_LINES)


class ResendLineBody(StrictBody):
    """`reason` may stand here as it does elsewhere; whether the goods are lost, their parcel says."""

    line_item_id = StrictText(max_length=16)
    quantity = StrictInteger(min_value=1, max_value=MAX_QUANTITY)
    reason = serializers.ChoiceField(choices=Reason.choices, required=False, default=Reason.LOST)


class ResendLinesBody(StrictBody):
    """Lost goods that are sent again."""

    lines = many(ResendLineBody, allow_empty=False, max_length=MAX_LINES)


class ParcelBody(StrictBody):
    """By whom goods are sent, and under which number."""

    carrier = StrictText(max_length=80, required=False, allow_blank=True, default="")
    tracking_number = StrictText(max_length=80, required=False, allow_blank=True, default="")


def parse_choices(body: object) -> list[LineChoice]:
    """`{"lines": [{"line_item_id", "quantity", "reason"?, "action"?}], "reason"?}` as choices.

    Raises InvalidInput with the field as a path (`lines[0].quantity`): 1.5, "1", true and null are no quantities.
    """
    facts = validated(ChoicesBody, body)
    choices = []
    for index, line in enumerate(facts["lines"]):
        reason = line.get("reason") or facts.get("reason")
        if reason is None:
            raise InvalidInput(f"lines[{index}].reason", _("Say why these goods leave the order."))
        choices.append(LineChoice(line["line_item_id"], line["quantity"], reason, line["action"]))
    return choices


def clean_note(note: Any, *, field: str = "note", required: bool = False) -> str:
    """A reason in somebody's own words. Raises InvalidInput when it is missing, too long or not plain text."""
    text = note.strip() if isinstance(note, str) else note
    if text in (None, ""):
        if required:
            raise errors.note_missing(field)
        return ""
    if not isinstance(text, str) or len(text) > MAX_NOTE or not readable(text, allow="\n\r\t"):
        raise errors.note_unusable(field, MAX_NOTE)
    return text


def describe(choices: list[LineChoice]) -> dict[str, Any]:
    """The choices as the audit keeps them."""
    return {
        "lines": [
            {
                "line_item_id": choice.line_item_id,
                "quantity": choice.quantity,
                "reason": choice.reason,
                "action": choice.action,
            }
            for choice in choices
        ]
    }
