"""The tool that asks for a person."""

from django.utils.translation import gettext as translate
from django.utils.translation import gettext_lazy as _

from agent import people, waiting
from agent.tools.base import Arguments, Context, Outcome, Tool, closed
from orders.errors import Refusal
from orders.prose import sentences

CUSTOMER_ASKED = "customer_asked"
JUST_GIVEN_BACK = "just_given_back"
REASONS = [CUSTOMER_ASKED, "rules_leave_it_open", "cannot_help", "complaint"]


def hand_off_to_human(context: Context, arguments: Arguments) -> Outcome:
    if arguments["reason"] != CUSTOMER_ASKED and people.just_given_back(context.conversation):
        raise Refusal(
            JUST_GIVEN_BACK,
            translate("A colleague has just given this conversation back to you, and nothing is new since."),
            hint=translate("Go on from what the colleague has said; the customer can ask for a person at any time."),
        )
    people.ask_for_person(
        conversation=context.conversation,
        actor=context.actor,
        reason=arguments["reason"],
        summary=arguments["summary"],
    )
    return {
        "status": "handed_off",
        "message": _who_comes_when(),
    }


def _who_comes_when() -> str:
    coming = translate("A colleague has been asked to take over this conversation and will answer here.")
    opening = waiting.opening_words()
    later = translate("Nobody is there now: colleagues are here again on %(when)s. Tell the customer so.")
    return sentences(coming, later % {"when": opening}) if opening else coming


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
