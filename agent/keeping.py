"""A finished reply becomes rows: the message, its tool calls, what it cost. Then the page's draft gives way to it."""

import structlog
from django.utils import translation

from agent import claims, client, deeds, endings, history, model_calls, people, retracting, turns
from agent.drafts import Draft
from agent.endings import Ending, Keep, Repair, Retry, Words
from agent.farewells import end_in_words
from agent.model_calls import Request
from agent.models import Conversation, Message, ToolCall, Turn
from agent.states import Author, ConversationState, TurnState
from agent.tools import executor
from agent.turns import Lease, holding

log = structlog.get_logger(__name__)


def keep(lease: Lease, reply: client.Reply, draft: Draft, request: Request) -> Ending | bool:
    """Keep a whole reply, or end the turn in words. The ending, if the reply has to be asked for again; else whether
    the turn is over, as far as is known here: most turns have nothing more to do, and are closed in this transaction.

    What it cost is kept in any case. Raises `LeaseLost`.
    """
    with holding(lease, "reply_kept", to_end=True) as (conversation, turn):
        model_calls.finish(request.call, reply, draft)
        if conversation.owner_id or conversation.state == ConversationState.CLOSED:
            return False
        # Whatever is written, pages are told of it: without a new event there is nothing to read.
        news = history.written_since(conversation, request.heard) if conversation.last_event > request.told else []
        if any(map(history.is_bad_news, news)):
            # The page reads of a refusal already: words that know nothing of it may not be the last. It is said anew.
            return False
        said_more = any(each.author == Author.CUSTOMER for each in news)
        content = whole_blocks(reply)
        ending = _ending(conversation, reply, content)
        if isinstance(ending.what, Retry | Repair):
            model_calls.name_ending(request.call, ending)
            return ending
        if not _says_anything(content):
            _say_farewell(conversation, turn, ending, said_more=said_more)
            return False
        said = _words(content)
        false = claims.unfounded(conversation, said, _calls(content))
        if false:
            if retracting.take_back(conversation, turn, request.call, draft, said, false):
                end_in_words(conversation, turn, retracting.ENDING, hand_off=True)
            return False
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
        _say_farewell(conversation, turn, ending, said_more=said_more)
        over = isinstance(ending.what, Keep) and message.stop_reason not in history.UNFINISHED and not said_more
        if over:
            turns.move(conversation, turn, TurnState.RUNNING, TurnState.DONE)
    draft.kept = bool(message.text.strip())
    return over


def _ending(conversation: Conversation, reply: client.Reply, content: list[client.Block]) -> Ending:
    """The line of the table for a reply that came to its end."""
    ending = endings.of_stop(reply.stop_reason)
    asked = [block["id"] for block in content if block.get("type") == "tool_use"]
    if asked and conversation.tool_calls.filter(tool_use_id__in=asked).exists():
        return endings.BY_NAME["malformed_reply"]
    nothing_said = isinstance(ending.what, Keep) and not _says_anything(content)
    return endings.BY_NAME["empty"] if nothing_said else ending


def _say_farewell(conversation: Conversation, turn: Turn, ending: Ending, *, said_more: bool) -> None:
    """The turn ends in words, if that is what the table says of the ending.

    They are about what the reply had heard of; what the customer has said since is answered by another turn.
    """
    if isinstance(ending.what, Words):
        if ending.alarm:
            log.error("model.failed", ending=ending.name)
        words = ending.what
        end_in_words(conversation, turn, ending.name, farewell=words.farewell, hand_off=words.hand_off)
        if said_more:
            turns.queue_turn(conversation)


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


def _words(content: list[client.Block]) -> str:
    return "\n\n".join(block["text"] for block in content if block.get("type") == "text")


def _calls(content: list[client.Block]) -> list[deeds.Call]:
    return [(block["name"], block["input"]) for block in content if block.get("type") == "tool_use"]


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
