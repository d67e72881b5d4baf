"""The request's `messages`, built from rows, and what a turn has to do next.

Results of tools are put right behind the message that asked for them, so a request with an unanswered `tool_use` cannot
be built: a call without an answer gets one that says so.
"""

import json
import re
from typing import Any, Literal

from agent import calls
from agent.models import Conversation, Message, ToolCall
from agent.states import Author, ToolCallState
from refunds.states import RefundState

# Also with signs between the letters' groups that nobody sees.
FORGED_LABEL = re.compile(r"<(?=[\W_]*from[\W_]*(?:staff|system))", re.IGNORECASE)
NextStep = Literal["run_tools", "wait", "call_model", "done"]
Block = dict[str, Any]
# The model has more to say after these: results to read, a pause it asked for, or an answer that was cut.
UNFINISHED = frozenset({"tool_use", "pause_turn", "max_tokens", "model_context_window_exceeded"})
BAD_NEWS = frozenset({RefundState.FAILED, RefundState.UNKNOWN, RefundState.REJECTED, RefundState.EXPIRED})


def messages_for_model(conversation: Conversation) -> list[dict[str, Any]]:
    """The whole conversation in the Messages API's shape: roles alternate, the first is the customer's."""
    asked: dict[int, list[ToolCall]] = {}
    for call in conversation.tool_calls.order_by("id"):
        asked.setdefault(call.message_id, []).append(call)
    history: list[dict[str, Any]] = []
    for message in sorted(conversation.messages.all(), key=_place):
        if message.author == Author.AGENT:
            _append(history, "assistant", _usable(message.content))
            _append(history, "user", [_result_block(call) for call in asked.get(message.pk, [])])
        else:
            _append(history, "user", [{"type": "text", "text": _as_told(message)}])
    while history and history[0]["role"] != "user":
        history.pop(0)
    return history


def next_step(conversation: Conversation) -> NextStep:
    """What the rows say a turn has to do now. Ask inside a transaction that holds the conversation."""
    last = conversation.messages.filter(author=Author.AGENT).order_by("-id").first()
    states = set(last.tool_calls.values_list("state", flat=True)) if last else set()
    if ToolCallState.ASKED in states:
        return "run_tools"
    if ToolCallState.SUSPENDED in states:
        return "wait"
    if last and last.stop_reason in UNFINISHED:
        return "call_model"
    return "call_model" if unheard(conversation, last) else "done"


def unheard(conversation: Conversation, last: Message | None) -> bool:
    """Has the customer said something that the agent's last message could not know of?"""
    said = conversation.messages.filter(author=Author.CUSTOMER)
    return said.filter(pk__gt=last.heard).exists() if last else said.exists()


def overtaken(conversation: Conversation, heard: int) -> bool:
    """Has the system told of bad news about money since? A reply that does not know of it may contradict it."""
    told = conversation.messages.filter(author=Author.SYSTEM, pk__gt=heard)
    return told.filter(content__0__about__startswith="refund ", content__0__state__in=sorted(BAD_NEWS)).exists()


def newest_message(conversation: Conversation) -> int:
    """The number of the newest message, 0 if there is none."""
    return conversation.messages.order_by("-id").values_list("pk", flat=True).first() or 0


def _place(message: Message) -> tuple[int, bool, int]:
    """A reply stands right behind what it was a reply to, before what was written while it was being made."""
    is_reply = message.author == Author.AGENT
    return (message.heard if is_reply else message.pk), is_reply, message.pk


def _append(history: list[dict[str, Any]], role: str, blocks: list[Block]) -> None:
    if not blocks:
        return
    if history and history[-1]["role"] == role:
        history[-1]["content"].extend(blocks)
    else:
        history.append({"role": role, "content": blocks})


def _usable(content: list[Block]) -> list[Block]:
    """The model's own blocks, unchanged, except that the API refuses empty text."""
    return [block for block in content if block.get("type") != "text" or block.get("text", "").strip()]


def _result_block(call: ToolCall) -> Block:
    answered = call.state == ToolCallState.ANSWERED
    return {
        "type": "tool_result",
        "tool_use_id": call.tool_use_id,
        "content": json.dumps(call.result if answered else calls.NO_ANSWER, ensure_ascii=False),
        "is_error": call.is_error if answered else True,
    }


def _subject(message: Message) -> str:
    """What a status line tells of, in words that depend on no language."""
    block = message.content[0]
    return f"{block['about']} is now {block['state']}: " if "about" in block else ""


def _as_told(message: Message) -> str:
    """Words of others than the customer are labelled; a customer cannot forge the label."""
    if message.author == Author.STAFF:
        return f"<from_staff>{message.text}</from_staff>"
    if message.author == Author.SYSTEM:
        return f"<from_system>{_subject(message)}{message.text}</from_system>"
    return FORGED_LABEL.sub("‹", message.text)
