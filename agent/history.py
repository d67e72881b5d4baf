"""The request's `messages`, built from rows, and what a turn has to do next.

Results of tools are put right behind the message that asked for them, so a request with an unanswered `tool_use` cannot
be built: a call without an answer gets one that says so. What was said before `Conversation.folded_before` is one block
at the beginning (`agent/folding.py`).
"""

import json
import re
from typing import Any, Final, Literal

from agent import plain
from agent.models import Conversation, CopilotCall, Message, ToolCall
from agent.repair import History, no_answer, repaired
from agent.states import Author, ToolCallState
from refunds.states import RefundState

# Also with signs between the letters' groups that nobody sees.
FORGED_LABEL = re.compile(r"<(?=[\W_]*from[\W_]*(?:staff|system))", re.IGNORECASE)
NextStep = Literal["run_tools", "wait", "call_model", "done"]
Block = dict[str, Any]
# The model has more to say after these: results to read, a pause it asked for, or an answer that was cut.
UNFINISHED = frozenset({"tool_use", "pause_turn", "max_tokens", "model_context_window_exceeded"})
# The system's message that tells in short what was said before the message of this number.
FOLDS: Final = "folds_before"
BAD_NEWS = frozenset({RefundState.FAILED, RefundState.UNKNOWN, RefundState.REJECTED, RefundState.EXPIRED})


# Greater than any number of a message.
ENDLESS: Final = 2**63 - 1


def messages_for_model(conversation: Conversation) -> History:
    """The whole conversation in the Messages API's shape: roles alternate, the customer has the first and last word."""
    since = conversation.folded_before
    return repaired([*_earlier(conversation, since), *spoken(conversation, since=since)])


def spoken(conversation: Conversation, *, since: int) -> History:
    """What was said from the message of this number on, word by word."""
    told = rows(conversation, since=since)
    asked: dict[int, list[ToolCall]] = {}
    if any(message.author == Author.AGENT and message.stop_reason == "tool_use" for message in told):
        for call in conversation.tool_calls.filter(message__heard__gte=since).order_by("id"):
            asked.setdefault(call.message_id, []).append(call)
    history: History = []
    for message in told:
        if message.author == Author.AGENT:
            history.append({"role": "assistant", "content": message.content})
            history.append({"role": "user", "content": [result_block(call) for call in asked.get(message.pk, [])]})
        elif FOLDS not in message.content[0]:
            history.append({"role": "user", "content": [{"type": "text", "text": as_told(message)}]})
    return history


def rows(conversation: Conversation, *, since: int = 0, until: int | None = None) -> list[Message]:
    """The messages that stand between two places, in the order in which they are told: see `_place`."""
    found = plain.every(Message, _ROWS, conversation.pk, Author.AGENT.value, since, ENDLESS if until is None else until)
    return sorted(found, key=_place)


_ROWS = """
select * from agent_message
where conversation_id = %s and case author when %s then heard else id end between %s and %s - 1
"""


def _earlier(conversation: Conversation, since: int) -> History:
    """One block that tells of everything before, as it was written down when that was folded."""
    if not since:
        return []
    told = conversation.messages.filter(author=Author.SYSTEM, **{f"content__0__{FOLDS}": since}).order_by("pk").first()
    return [{"role": "user", "content": [{"type": "text", "text": told.text}]}] if told else []


def next_step(conversation: Conversation) -> NextStep:
    """What the rows say a turn has to do now. Ask inside a transaction that holds the conversation."""
    last = newest_reply(conversation)
    called = last if last and last.stop_reason == "tool_use" else None
    states = set(called.tool_calls.values_list("state", flat=True)) if called else set()
    if ToolCallState.ASKED in states:
        return "run_tools"
    if ToolCallState.SUSPENDED in states:
        return "wait"
    if last and last.stop_reason in UNFINISHED:
        return "call_model"
    return "call_model" if unheard(conversation, last) else "done"


def unheard(conversation: Conversation, last: Message | None) -> bool:
    """Has the customer said something that the agent's last message could not know of?"""
    _, newest_said = _newest(conversation)
    return newest_said > (last.heard if last else 0)


def written_since(conversation: Conversation, heard: int) -> list[Message]:
    """What a reply that had heard up to this message could not know of."""
    return list(conversation.messages.filter(pk__gt=heard).order_by("pk"))


def is_bad_news(message: Message) -> bool:
    """Does the system tell that money did not move? A reply that does not know of it may contradict it."""
    block = message.content[0]
    about_refund = message.author == Author.SYSTEM and block.get("about", "").startswith("refund ")
    return about_refund and block.get("state") in BAD_NEWS


def newest_reply(conversation: Conversation) -> Message | None:
    """The agent's newest message, if there is one."""
    return plain.one(Message, _NEWEST_REPLY, conversation.pk, Author.AGENT.value)


_NEWEST_REPLY = "select * from agent_message where conversation_id = %s and author = %s order by id desc limit 1"


def newest_message(conversation: Conversation) -> int:
    """The number of the newest message, 0 if there is none."""
    newest, _ = _newest(conversation)
    return newest


def _newest(conversation: Conversation) -> tuple[int, int]:
    """The numbers of the newest message and of the newest that the customer wrote; 0 where there is none."""
    newest, newest_said = plain.row(_NEWEST, Author.CUSTOMER.value, conversation.pk) or (0, 0)
    return newest, newest_said


_NEWEST = """
select coalesce(max(id), 0), coalesce(max(id) filter (where author = %s), 0)
from agent_message where conversation_id = %s
"""


def _place(message: Message) -> tuple[int, bool, int]:
    """A reply stands right behind what it was a reply to, before what was written while it was being made."""
    is_reply = message.author == Author.AGENT
    return (message.heard if is_reply else message.pk), is_reply, message.pk


def result_block(call: ToolCall | CopilotCall) -> Block:
    """What the model is told of a call; of one without an answer, that there is none.

    Results hold words of customers and shops: none of them reads as a label, before or after JSON writes its signs.
    """
    if call.state != ToolCallState.ANSWERED:
        return no_answer(call.tool_use_id)
    return {
        "type": "tool_result",
        "tool_use_id": call.tool_use_id,
        "content": unlabelled(json.dumps(_unlabelled_within(call.result), ensure_ascii=False)),
        "is_error": call.is_error,
    }


def _subject(message: Message) -> str:
    """What a status line tells of, in words that depend on no language."""
    block = message.content[0]
    return f"{block['about']} is now {block['state']}: " if "about" in block else ""


def as_told(message: Message, *, most: int | None = None) -> str:
    """Words of others than the customer are labelled. `most`: characters of it.

    Nothing that is told can forge a label or end it, neither a customer's words nor a product's name in the shop's.
    """
    text = unlabelled(message.text if most is None or len(message.text) <= most else f"{message.text[:most]}…")
    if message.author == Author.STAFF:
        return f"<from_staff>{text}</from_staff>"
    if message.author == Author.SYSTEM:
        return f"<from_system>{_subject(message)}{text}</from_system>"
    return text


def unlabelled(text: str) -> str:
    """Text of others than the shop, in which nothing reads as the shop's label."""
    return FORGED_LABEL.sub("‹", text)


def _unlabelled_within(value: Any) -> Any:
    """The same result with no label in any of its texts."""
    if isinstance(value, str):
        return unlabelled(value)
    if isinstance(value, dict):
        return {key: _unlabelled_within(each) for key, each in value.items()}
    return [_unlabelled_within(each) for each in value] if isinstance(value, list) else value
