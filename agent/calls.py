"""A tool call gets its one answer here, whether from the executor or from a card."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from agent import events
from agent.models import Conversation, ToolCall
from agent.states import ToolCallState

NO_ANSWER = {
    "code": "no_answer",
    "message": "This call was never carried out.",
    "hint": "Ask again if it is still wanted.",
    "retryable": True,
}


def answer(call: ToolCall, result: Mapping[str, Any], *, is_error: bool = False) -> bool:
    """Keep the answer; False if the call had one already. Inside `events.writing`."""
    return (
        ToolCall.objects.filter(pk=call.pk)
        .exclude(state=ToolCallState.ANSWERED)
        .update(state=ToolCallState.ANSWERED, result=dict(result), is_error=is_error, answered_at=timezone.now())
        == 1
    )


def give_up(conversation: Conversation) -> list[ToolCall]:
    """Answer what was asked for and has not been run: its turn is over, and later it would be out of place.

    Inside `events.writing`. The page's line about the work ends too.
    """
    asked = list(conversation.tool_calls.filter(state=ToolCallState.ASKED).select_related("message"))
    for call in asked:
        answer(call, NO_ANSWER, is_error=True)
        begun = conversation.events.filter(kind="work", data__tool_call_id=call.tool_use_id).last()
        if begun is not None:
            events.add(conversation, "work", {**begun.data, "state": "failed"})
    return asked


def suspend(call: ToolCall) -> None:
    """The call waits for a card. Inside `events.writing`."""
    ToolCall.objects.filter(pk=call.pk, state=ToolCallState.ASKED).update(state=ToolCallState.SUSPENDED)
