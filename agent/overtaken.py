"""Open cards whose goods have gone with another press are taken off the page: nobody presses in vain.

Only a look, after everything is committed and with nothing locked. A card that is pressed at the same moment, or whose
turn here is lost, is refused by the press itself, which looks again under the order's lock.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from agent import cards
from agent.models import Card
from agent.states import CardKind, CardState
from orders.errors import Refusal
from orders.models import Order
from refunds import quotes
from refunds.exchange_check import check_exchange, parse_exchange
from refunds.resend_check import check_resend, parse_resend

# What a card without a quote is about, looked at as it was when it was put up. An address is about no goods.
CHECKS: Final[Mapping[str, Callable[[Order, Mapping[str, Any]], object]]] = {
    CardKind.EXCHANGE: lambda order, shown: check_exchange(order, parse_exchange({"lines": shown["exchange_lines"]})),
    CardKind.RESEND: lambda order, shown: check_resend(order, parse_resend({"lines": shown["resend_lines"]})),
}


def look_again(order_id: int) -> None:
    """End the order's open cards that cannot be had any more. The call that waits for one is answered with why."""
    rows = Card.objects.filter(conversation__order_id=order_id, state=CardState.OPEN)
    for card in rows.select_related("conversation__order").order_by("created_at"):
        if card.quote_id:
            # Its card follows it, as it follows whatever becomes of a quote.
            quotes.end_if_overtaken(quote_id=card.quote_id, actor=cards.SYSTEM)
        elif (why := _why_not(card)) is not None:
            result = why.as_dict()
            cards.close_card(card=card, state=CardState.WITHDRAWN, actor=cards.SYSTEM, result=result, is_error=True)


def _why_not(card: Card) -> Refusal | None:
    check = CHECKS.get(card.kind)
    if check is None:
        return None
    try:
        check(card.conversation.order, card.payload)
    except Refusal as refusal:
        return refusal
    return None
