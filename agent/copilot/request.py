"""What the model is sent: the thread from rows, in the API's order, with a prefix that stays.

Tools and prompt never change. What time it is stands behind each question, as it was when it was asked, so that older
questions read the same in every later request.
"""

from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from agent.history import result_block, unlabelled
from agent.models import CopilotCall, CopilotMessage, CopilotThread
from agent.prompts import read_prompt
from agent.repair import History, repaired
from agent.request import MARK, message_tokens
from agent.states import CopilotAuthor

DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
LEFT_OUT: Final = "<from_system>Earlier questions of this thread are left out here.</from_system>"


def system() -> list[dict[str, Any]]:
    return [{"type": "text", "text": read_prompt("copilot"), **MARK}]


def messages_for(thread: CopilotThread, *, only_last: bool = False) -> History:
    """The thread, or as many of its newest questions as fit. `only_last`: the newest alone."""
    rows = list(thread.messages.order_by("pk"))
    questions = [place for place, row in enumerate(rows) if row.author == CopilotAuthor.STAFF]
    starts = questions[-1:] if only_last else questions
    calls = _calls(thread)
    for start in starts:
        told = _told(thread, rows[start:], calls, cut=start > 0)
        if message_tokens(told) <= settings.AGENT_MAX_CONTEXT_TOKENS or start == questions[-1]:
            return repaired(told)
    return repaired([])


def _calls(thread: CopilotThread) -> dict[int, list[CopilotCall]]:
    found: dict[int, list[CopilotCall]] = {}
    for call in thread.calls.order_by("pk"):
        found.setdefault(call.message_id, []).append(call)
    return found


def _told(
    thread: CopilotThread, rows: Sequence[CopilotMessage], calls: dict[int, list[CopilotCall]], *, cut: bool
) -> History:
    history: History = [{"role": "user", "content": [{"type": "text", "text": LEFT_OUT}]}] if cut else []
    for row in rows:
        if row.author == CopilotAuthor.STAFF:
            history.append({"role": "user", "content": _question(thread, row)})
        else:
            history.append({"role": "assistant", "content": row.content})
            history.append({"role": "user", "content": [result_block(call) for call in calls.get(row.pk, [])]})
    return history


def _question(thread: CopilotThread, row: CopilotMessage) -> list[dict[str, Any]]:
    texts = [unlabelled(row.text), f"<from_system>{when_and_where(thread, row)}</from_system>"]
    return [{"type": "text", "text": text} for text in texts]


def when_and_where(thread: CopilotThread, row: CopilotMessage) -> str:
    """The moment of the question with its zone, and the conversation that it is asked beside, by numbers alone."""
    now = timezone.localtime(row.created_at)
    told = f"It is now {now.isoformat(timespec='seconds')}, {DAYS[now.weekday()]}, in {settings.TIME_ZONE}."
    beside = thread.conversation
    if beside is None:
        return told
    return (
        f"{told} The colleague has conversation_id {beside.pk} before them, about order_number {beside.order.number} "
        f"of customer_id {beside.customer.external_id}."
    )
