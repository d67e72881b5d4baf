"""How much one question may take, and how much one colleague's copilot may cost in 24 hours. Settings, all of it."""

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db.models import F, Sum
from django.utils import timezone
from django.utils.translation import gettext as translate

from agent.limits import MICRO_IN_A_CENT
from agent.models import CopilotCall, CopilotMessage, CopilotRequest, CopilotThread
from agent.states import CopilotAuthor
from orders.errors import Refusal

DAY: Final = timedelta(hours=24)
MAX_CALLS_PER_MESSAGE: Final = 8


def reached(thread: CopilotThread, question: CopilotMessage) -> str:
    """The name of the limit that keeps the model from being asked once more; empty where there is none."""
    said = thread.messages.filter(author=CopilotAuthor.COPILOT, pk__gt=question.pk).count()
    if said >= settings.AGENT_MAX_STEPS:
        return "steps"
    read = F("input_tokens") + F("written_tokens") + F("cached_tokens") + F("output_tokens")
    tokens = question.requests.aggregate(all=Sum(read))["all"] or 0
    if tokens >= settings.AGENT_MAX_TURN_TOKENS:
        return "tokens"
    return "staff_spend" if spent(thread.user_id) >= _most() else ""


def spent(user_id: int) -> int:
    """What a colleague's copilot has cost in the last 24 hours, in millionths of a dollar."""
    today = CopilotRequest.objects.filter(thread__user=user_id, started_at__gt=timezone.now() - DAY)
    return today.aggregate(all=Sum("cost_micro"))["all"] or 0


def _most() -> int:
    return settings.COPILOT_MAX_CENTS_PER_STAFF_DAY * MICRO_IN_A_CENT


def check_call(call: CopilotCall, question: CopilotMessage) -> None:
    """Raises a Refusal for a call too many: in its reply, for its question, or the same as before."""
    if list(call.message.calls.values_list("pk", flat=True)).index(call.pk) >= MAX_CALLS_PER_MESSAGE:
        raise Refusal(
            "too_many_calls",
            translate("Too many calls in one reply: this one was not run."),
            hint=translate("Make at most %(count)s calls at once.") % {"count": MAX_CALLS_PER_MESSAGE},
        )
    before = CopilotCall.objects.filter(thread=call.thread_id, message__pk__gt=question.pk, pk__lt=call.pk)
    if before.count() >= settings.AGENT_MAX_TOOL_CALLS_PER_TURN:
        raise Refusal(
            "too_many_calls_in_turn",
            translate("Too many calls for one answer: this one was not run."),
            hint=translate("Call no more tools now. Say what you have found, and what you have not looked at."),
        )
    if before.filter(name=call.name, arguments=call.arguments).count() >= settings.AGENT_MAX_SAME_CALLS:
        raise Refusal(
            "same_call_again",
            translate("You have made this very call %(count)s times already: it was not run again.")
            % {"count": settings.AGENT_MAX_SAME_CALLS},
            hint=translate("Use the answers you have, change the arguments, or say what is missing."),
        )
