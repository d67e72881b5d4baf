"""The one tool that names an amount: it proposes a compensation, which pays nothing before staff approve it."""

from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from agent.tools.base import Arguments, Context, Outcome, Tool, closed
from orders.errors import Refusal
from orders.money import format_money
from refunds import compensation

CURRENCY = "TWD"
NEXT = (
    "Nothing was paid or promised. Tell the customer that a colleague will look at it and decide, and that you cannot "
    "say how. The decision will be written in this chat."
)


def propose_compensation(context: Context, arguments: Arguments) -> Outcome:
    if context.order.currency != CURRENCY:
        raise Refusal(
            "other_currency",
            translate("A compensation for this order cannot be proposed in NT$."),
            hint=translate("Offer the customer a person with hand_off_to_human."),
        )
    approval = compensation.propose(
        order=context.order,
        amount=arguments["compensation_ntd"],
        reason=arguments["reason"],
        actor=context.actor,
        request_ref=context.call.ref,
        conversation_ref=str(context.conversation.pk),
        field="compensation_ntd",
    )
    display = format_money(approval.amount, approval.currency)
    return {
        "status": "proposed",
        "approval_id": approval.pk,
        "state": approval.state,
        "amount": approval.amount,
        "display": display,
        "next": _again(display) + NEXT if approval.request_ref != context.call.ref else NEXT,
    }


def _again(display: str) -> str:
    return f"A proposal of {display} waits already in this chat: this is it, and nothing new was proposed. "


PROPOSE_COMPENSATION = Tool(
    name="propose_compensation",
    schema=closed(
        compensation_ntd={
            "type": "integer",
            "description": "What the customer asks for, in whole NT$, at least 1. Only a number they have said.",
        },
        reason={
            "type": "string",
            "description": "What went wrong and what the customer wants, in one to three sentences for the colleague "
            "who decides. At most 500 characters.",
        },
    ),
    handler=propose_compensation,
    reads=False,
    suspends=False,
    working=_("Asking a colleague about it"),
    examples=(
        {
            "order_number": "5531",
            "compensation_ntd": 100,
            "reason": "The parcel came a week late and the customer had to ask three times. They ask for NT$100.",
        },
    ),
)
