"""The tool that asks for a person."""

from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from agent import people
from agent.tools.base import Arguments, Context, Outcome, Tool, closed

REASONS = ["customer_asked", "rules_leave_it_open", "cannot_help", "complaint"]


def hand_off_to_human(context: Context, arguments: Arguments) -> Outcome:
    people.ask_for_person(
        conversation=context.conversation,
        actor=context.actor,
        reason=arguments["reason"],
        summary=arguments["summary"],
    )
    return {
        "status": "handed_off",
        "message": translate("A colleague has been asked to take over this conversation and will answer here."),
    }


HAND_OFF_TO_HUMAN = Tool(
    name="hand_off_to_human",
    schema=closed(
        reason={"type": "string", "enum": REASONS, "description": "Why a person is needed."},
        summary={
            "type": "string",
            "description": "What the customer wants and what has been found out so far, in two or three sentences for "
            "the colleague. At most 1,000 characters.",
        },
    ),
    handler=hand_off_to_human,
    reads=False,
    suspends=False,
    working=_("Calling a colleague"),
)
