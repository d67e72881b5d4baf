"""The tool that asks whether lost goods are to be sent again. The card's press does it, elsewhere."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agent.states import CardKind
from agent.tools.base import Arguments, CardSpec, Context, Outcome, Tool, closed, line_choices
from orders.models import Order
from refunds.exchange_check import Unit
from refunds.resend_check import check_resend, parse_resend
from refunds.states import Reason

CARD_LIFE = timedelta(minutes=15)


def resend_items(context: Context, arguments: Arguments) -> Outcome:
    return resend_card(context.order, arguments["lines"])


def resend_card(order: Order, lines: list[dict[str, Any]]) -> CardSpec:
    """A button that sends lost goods again. Raises as `parse_resend` and `check_resend`."""
    units = check_resend(order, parse_resend({"lines": lines}))
    return CardSpec(
        kind=CardKind.RESEND,
        expires_at=timezone.now() + CARD_LIFE,
        payload={"resend_lines": lines, "lines": _shown(units)},
    )


def _shown(units: Sequence[Unit]) -> list[dict[str, Any]]:
    """The goods as the card shows them: what was really in the lost parcel is what is sent."""
    return [
        {
            "line_item_id": unit.line.line_item_id,
            "name": unit.shipment_line.name,
            "quantity": unit.quantity,
            "reason": Reason.LOST.value,
        }
        for unit in units
    ]


RESEND_ITEMS = Tool(
    name="resend_items",
    schema=closed(lines=line_choices("The lost goods to send again, one entry per line.", with_reason=False)),
    handler=resend_items,
    reads=False,
    suspends=True,
    working=_("Preparing to send it again"),
    examples=({"order_number": "5531", "lines": [{"line_item_id": "li_2", "quantity": 1}]},),
)
