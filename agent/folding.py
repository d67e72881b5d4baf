"""A long conversation is kept within the window: its older part is told in short, as facts from rows.

`Conversation.folded_before` is where the part that is told word by word begins. It moves rarely and far, and what the
older part was is written down once, at that moment, as a message: until the next move every request begins with the
very same bytes.
"""

import structlog
from django.conf import settings

from agent import earlier, history, request
from agent.models import Conversation, Message
from agent.repair import History
from agent.states import Author, ToolCallState

log = structlog.get_logger(__name__)
# How far a count by characters may be off: what the last request really was is believed within these bounds only, so
# that one odd number cannot make the conversation fold at every step.
LEAST_FACTOR, GREATEST_FACTOR = 0.8, 1.6


def messages_within_window(conversation: Conversation) -> History:
    """The next request's messages; folded first when it would be longer than the settings allow. Inside `holding`."""
    messages = history.messages_for_model(conversation)
    # Far from the limit it does not matter by how much the estimate is off.
    if request.estimated_tokens(messages) * GREATEST_FACTOR <= settings.AGENT_MAX_CONTEXT_TOKENS:
        return messages
    if length(conversation, messages) <= settings.AGENT_MAX_CONTEXT_TOKENS or not fold(conversation):
        return messages
    return history.messages_for_model(conversation)


def fold(conversation: Conversation, *, harder: bool = False) -> bool:
    """Move the beginning of what is told word by word until that is a third of the room in the window.

    `harder`: a quarter at most of what it is now, for a model that would not take it. False: there is nothing left to
    fold. Inside `holding`.
    """
    places = _places(conversation)
    if not places:
        return False
    whole = _spoken(conversation, conversation.folded_before)
    room = settings.AGENT_MAX_CONTEXT_TOKENS - request.estimated_tokens([])
    most = min(room // 3, whole // 4 if harder else whole)
    place = next((each for each in places if _spoken(conversation, each) <= most), places[-1])
    conversation.folded_before = place
    conversation.save(update_fields=["folded_before", "updated_at"])
    content = [{"type": "text", "text": earlier.told(conversation), history.FOLDS: place}]
    Message.objects.create(conversation=conversation, author=Author.SYSTEM, content=content)
    log.info("conversation.folded", before=place, harder=harder)
    return True


def length(conversation: Conversation, messages: History) -> int:
    """The tokens of a request with these messages: by characters, put right by what the last one really had."""
    return round(request.estimated_tokens(messages) * _factor(conversation, messages))


def _factor(conversation: Conversation, messages: History) -> float:
    """Real tokens for each that is estimated. The newest reply's request is everything in front of that reply."""
    used = conversation.model_calls.exclude(stop_reason="").order_by("-pk").first()
    replies = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    if used is None or not replies:
        return 1.0
    real = used.input_tokens + used.written_tokens + used.cached_tokens
    factor = real / request.estimated_tokens(messages[: replies[-1]])
    return min(max(factor, LEAST_FACTOR), GREATEST_FACTOR)


def _spoken(conversation: Conversation, place: int) -> int:
    """The tokens of what would be told word by word from there on."""
    return request.message_tokens(history.spoken(conversation, since=place))


def _places(conversation: Conversation) -> list[int]:
    """Where the spoken part may begin: at what the customer said, in front of every call that still waits for its
    answer, and never behind the oldest of their words that the model has still to answer, folded up to there or not.
    """
    every = conversation.messages.filter(author=Author.CUSTOMER)
    said = every.filter(pk__gt=conversation.folded_before)
    waiting = conversation.tool_calls.exclude(state=ToolCallState.ANSWERED).order_by("message__heard").first()
    last = history.newest_reply(conversation)
    unheard = every.filter(pk__gt=last.heard if last else 0).order_by("pk").first()
    if waiting is not None:
        said = said.filter(pk__lte=waiting.message.heard)
    if unheard is not None:
        said = said.filter(pk__lte=unheard.pk)
    first = conversation.messages.order_by("pk").values("pk")[:1]
    return list(said.exclude(pk__in=first).order_by("pk").values_list("pk", flat=True))
