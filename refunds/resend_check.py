"""Whether lost goods can be sent again, and which units that would take. It changes nothing, so the agent may ask."""

from collections.abc import Iterable, Sequence

from orders.models import Order
from orders.strict import validated
from refunds.choices import LineChoice, ResendLinesBody
from refunds.exchange_check import Unit, check_units, require_stock
from refunds.states import Reason


def parse_resend(body: object) -> list[LineChoice]:
    """`{"lines": [{"line_item_id", "quantity"}]}` as choices; a `reason` may stand there. Raises InvalidInput."""
    return resend_choices(validated(ResendLinesBody, body)["lines"])


def resend_choices(lines: Iterable[dict[str, object]]) -> list[LineChoice]:
    """Choices from the validated `lines` of a new parcel: what is lost follows from shipments and not from words."""
    return [LineChoice(**{**line, "reason": Reason.LOST}, action="resend") for line in lines]  # type: ignore[arg-type]


def check_resend(order: Order, choices: Sequence[LineChoice]) -> list[Unit]:
    """Which lost units would be sent again, as the same product. Changes nothing.

    Raises InvalidInput or a Refusal in words, among them `out_of_stock`.
    """
    units = check_units(order, [_lost(choice) for choice in choices], "resend")
    require_stock(units, lost=True)
    return units


def _lost(choice: LineChoice) -> LineChoice:
    return LineChoice(choice.line_item_id, choice.quantity, Reason.LOST, "resend")
