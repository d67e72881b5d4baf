"""Tools that ask: a quote, and the cards by which the customer confirms one. None of them moves goods or money."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from agent.states import CardKind
from agent.tools.base import Arguments, CardSpec, Context, Outcome, Tool, closed, line_choices
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import Order
from orders.money import format_money
from refunds import quotes
from refunds.exchange_check import Unit, check_exchange, parse_exchange
from refunds.models import RefundQuote
from refunds.present import quote_as_dict
from refunds.refund_words import quote_state_words
from refunds.states import Asker, QuoteAction, QuoteState

EXCHANGE_CARD_LIFE = timedelta(minutes=15)
NEXT_TOOL = {
    QuoteAction.CANCEL: "refund_items",
    QuoteAction.LOST: "refund_items",
    QuoteAction.RETURN: "create_return",
}


def quote_refund(context: Context, arguments: Arguments) -> Outcome:
    quote = quotes.ask(
        order=context.order,
        choices=quotes.parse_choices({"lines": arguments["lines"]}),
        actor=context.actor,
        asker=Asker.AGENT,
        asker_ref=_asker_ref(context),
        conversation_ref=str(context.conversation.pk),
        tool_call_ref=context.call.ref,
    )
    tool = NEXT_TOOL[QuoteAction(quote.action)]
    return {
        **quote_as_dict(quote),
        "next": f"Tell the customer this amount and why, and in the same reply call {tool} with this quote_id. "
        "Nothing happens before the customer presses the button.",
    }


def _asker_ref(context: Context) -> str:
    return quotes.asker_ref(context.actor, conversation=context.conversation.pk)


def _open_quote(context: Context, quote_id: str) -> RefundQuote:
    """The quote, if it was asked for in this conversation and can still be redeemed. Others' quotes do not exist."""
    asked_here = {"asker": Asker.AGENT, "asker_ref": _asker_ref(context)}
    # Locked, so that nothing becomes of it before its card is there to follow.
    quotes_here = RefundQuote.objects.select_for_update(no_key=True).filter(order=context.order, **asked_here)
    quote = quotes_here.filter(pk=quote_id).first()
    if quote is None:
        raise NotFound(
            translate("There is no refund quote with this id on this order."),
            hint=translate("Use the quote_id that quote_refund returned."),
            field="quote_id",
        )
    if quote.state == QuoteState.OPEN and quote.expires_at > timezone.now():
        return quote
    raise Refusal(
        "quote_stale",
        translate("This refund quote can no longer be used (%(state)s).") % {"state": quote_state_words(quote)},
        hint=translate("Call quote_refund again for the same goods and use the new quote_id."),
    )


def refund_items(context: Context, arguments: Arguments) -> Outcome:
    quote = _open_quote(context, arguments["quote_id"])
    if quote.action == QuoteAction.RETURN:
        raise Refusal(
            "wrong_tool",
            translate("This quote is for goods that have to come back first."),
            hint=translate("Call create_return with the same quote_id."),
        )
    return CardSpec(kind=CardKind.REFUND, quote=quote, expires_at=quote.expires_at)


def create_return(context: Context, arguments: Arguments) -> Outcome:
    quote_id, exchange = arguments["quote_id"], arguments["exchange_lines"]
    if (quote_id is None) == (exchange is None):
        raise InvalidInput(
            "quote_id",
            translate(
                "Give either quote_id (return for a refund) or exchange_lines (exchange), and null for the other."
            ),
            hint=translate("For a refund, call quote_refund first; for an exchange no quote is needed."),
        )
    if quote_id is not None:
        return _return_card(context, quote_id)
    try:
        return exchange_card(context.order, exchange)
    except Refusal as error:
        if error.field.startswith("lines"):  # the model knows them by another name
            error.field = f"exchange_{error.field}"
        raise


def exchange_card(order: Order, lines: list[dict[str, Any]]) -> CardSpec:
    """A button that exchanges. Raises as `parse_exchange` and `check_exchange`."""
    units = check_exchange(order, parse_exchange({"lines": lines}))
    payload: dict[str, Any] = {
        "exchange_lines": lines,
        "lines": [_shown(unit, order.currency) for unit in units],
    }
    if any(unit.product for unit in units):
        payload["explanation"] = translate(
            "We send you what you have chosen, at the same price, once yours has come back. It costs nothing."
        )
    return CardSpec(kind=CardKind.EXCHANGE, expires_at=timezone.now() + EXCHANGE_CARD_LIFE, payload=payload)


def _shown(unit: Unit, currency: str) -> dict[str, Any]:
    """The chosen goods as the card shows them; `becomes` names another product that comes in their place."""
    return {
        "line_item_id": unit.line.line_item_id,
        "name": unit.shipment_line.name,
        "quantity": unit.quantity,
        "reason": unit.reason,
        "display_price": format_money(unit.line.unit_price, currency),
        "becomes": unit.product.name if unit.product else "",
    }


def _return_card(context: Context, quote_id: str) -> CardSpec:
    quote = _open_quote(context, quote_id)
    if quote.action != QuoteAction.RETURN:
        raise Refusal(
            "wrong_tool",
            translate("This quote is for goods that need not come back."),
            hint=translate("Call refund_items with the same quote_id."),
        )
    return CardSpec(kind=CardKind.RETURN, quote=quote, expires_at=quote.expires_at)


QUOTE_REFUND = Tool(
    name="quote_refund",
    schema=closed(lines=line_choices("The goods that leave the order, one entry per line.", with_action=True)),
    handler=quote_refund,
    reads=False,
    suspends=False,
    working=_("Working out your refund"),
    examples=(
        {
            "order_number": "5531",
            "lines": [{"line_item_id": "li_2", "quantity": 1, "reason": "late_delivery", "action": None}],
        },
    ),
)

REFUND_ITEMS = Tool(
    name="refund_items",
    schema=closed(quote_id={"type": "string", "description": "The quote_id (rq_…) that quote_refund returned."}),
    handler=refund_items,
    reads=False,
    suspends=True,
    working=_("Preparing your refund to confirm"),
    examples=({"order_number": "5531", "quote_id": "rq_0123456789abcdefghjk"},),
)

CREATE_RETURN = Tool(
    name="create_return",
    schema=closed(
        quote_id={
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "description": "The quote_id of a quote with action return; null for an exchange.",
        },
        exchange_lines={
            "anyOf": [
                line_choices("The delivered goods to exchange, one entry per line.", with_product=True),
                {"type": "null"},
            ],
            "description": "The goods to exchange; null for a return with a quote_id.",
        },
    ),
    handler=create_return,
    reads=False,
    suspends=True,
    working=_("Preparing your return or exchange to confirm"),
    examples=(
        {
            "order_number": "5531",
            "quote_id": None,
            "exchange_lines": [{"line_item_id": "li_1", "quantity": 1, "reason": "defective", "product_id": None}],
        },
        {
            "order_number": "5531",
            "quote_id": None,
            "exchange_lines": [{"line_item_id": "li_1", "quantity": 1, "reason": "other", "product_id": "EAR-BLACK"}],
        },
    ),
)
