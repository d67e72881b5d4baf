"""A finished reply becomes rows: the message, its tool calls, what it cost. Then the page's draft gives way to it."""

from django.utils import translation

from agent import client, history, model_calls, people
from agent.drafts import Draft
from agent.farewells import end_in_words
from agent.model_calls import Request
from agent.models import Conversation, Message, ToolCall, Turn
from agent.states import Author
from agent.tools import executor
from agent.turns import Lease, holding

GOOD_ENDINGS = frozenset({"end_turn", "stop_sequence", "tool_use", "pause_turn"})


def keep(lease: Lease, reply: client.Reply, draft: Draft, request: Request) -> None:
    """Keep a whole reply, or end the turn in words. Raises `LeaseLost`."""
    with holding(lease) as (conversation, turn):
        model_calls.finish(request.call, turn, reply, draft)
        if conversation.owner_id:
            return
        if history.overtaken(conversation, request.heard):
            # The page reads of a refusal already: words that know nothing of it may not be the last. It is said anew.
            return
        content = whole_blocks(reply)
        if not _says_anything(content):
            end_in_words(conversation, turn, "empty" if reply.stop_reason in GOOD_ENDINGS else reply.stop_reason)
            return
        message = Message.objects.create(
            conversation=conversation,
            turn=turn,
            author=Author.AGENT,
            content=content,
            stop_reason=reply.stop_reason,
            heard=request.heard,
        )
        if message.text.strip():
            people.tell_message(conversation, message, draft=draft.key)
        _ask_tools(conversation, turn, message)
        if reply.stop_reason not in GOOD_ENDINGS:
            end_in_words(conversation, turn, reply.stop_reason)
    draft.kept = bool(message.text.strip())


def whole_blocks(reply: client.Reply) -> list[client.Block]:
    """Calls run on stop reason `tool_use` only: a reply that was cut may hold half of the arguments.

    What a refusal had begun to say is dropped: sent back, it would make the model refuse whatever comes next.
    """
    if reply.stop_reason == "refusal":
        return []
    if reply.stop_reason == "tool_use":
        return reply.content
    return [block for block in reply.content if block.get("type") != "tool_use"]


def _says_anything(content: list[client.Block]) -> bool:
    return any(block.get("type") == "tool_use" or block.get("text", "").strip() for block in content)


def _ask_tools(conversation: Conversation, turn: Turn, message: Message) -> None:
    with translation.override(conversation.language):
        for block in message.content:
            if block.get("type") == "tool_use":
                call = ToolCall.objects.create(
                    conversation=conversation,
                    turn=turn,
                    message=message,
                    tool_use_id=block["id"],
                    name=block["name"][:64],
                    arguments=block["input"],
                )
                executor.tell_work(conversation, call, "started")
