"""A tool call gets its one answer here, whether from the executor or from a card."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from agent.models import ToolCall
from agent.states import ToolCallState


def answer(call: ToolCall, result: Mapping[str, Any], *, is_error: bool = False) -> bool:
    """Keep the answer; False if the call had one already. Inside `events.writing`."""
    return (
        ToolCall.objects.filter(pk=call.pk)
        .exclude(state=ToolCallState.ANSWERED)
        .update(state=ToolCallState.ANSWERED, result=dict(result), is_error=is_error, answered_at=timezone.now())
        == 1
    )


def suspend(call: ToolCall) -> None:
    """The call waits for a card. Inside `events.writing`."""
    ToolCall.objects.filter(pk=call.pk, state=ToolCallState.ASKED).update(state=ToolCallState.SUSPENDED)
