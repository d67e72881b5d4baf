"""quote_refund for colleagues: what goods would come to, by the one service that knows. It is a preview."""

from django.utils.translation import gettext_lazy as _

from agent.tools.base import ORDER_NUMBER, Arguments, Outcome, StaffContext, Tool, line_choices
from agent.tools.copilot_common import allow, closed, order_of
from refunds import quotes
from refunds.present import quote_as_dict
from refunds.states import Asker


def quote_refund(context: StaffContext, arguments: Arguments) -> Outcome:
    allow(context, "orders.view_order", "refunds.ask_quote")
    quote = quotes.ask(
        order=order_of(arguments["order_number"]),
        choices=quotes.parse_choices({"lines": arguments["lines"]}),
        actor=context.actor,
        asker=Asker.STAFF,
        # Not the colleague's own reference: a preview does not take the place of what they have open on their screen.
        asker_ref=f"copilot:{context.user.pk}",
        tool_call_ref=context.call.ref,
    )
    return {
        **quote_as_dict(quote),
        "next": "This is a preview. Tell the colleague the amount and why, and that the refund itself is made on the "
        "page of the order or offered to the customer in the conversation. You cannot make it.",
    }


QUOTE_REFUND_FOR_STAFF = Tool(
    name="quote_refund",
    schema=closed(
        order_number=ORDER_NUMBER,
        lines=line_choices("The goods that would leave the order, one entry per line.", with_action=True),
    ),
    handler=quote_refund,
    reads=False,
    suspends=False,
    working=_("Working out a refund"),
    examples=(
        {
            "order_number": "5531",
            "lines": [{"line_item_id": "li_2", "quantity": 1, "reason": "late_delivery", "action": None}],
        },
    ),
    for_staff=True,
    prompt="quote_refund_for_staff",
)
