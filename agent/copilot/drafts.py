"""A suggested answer beside a conversation. It holds for what was read: when the talk moves on, it is dropped."""

from typing import Final

from django.contrib.auth.models import User
from django.utils.translation import gettext as translate

from agent import events, history
from agent.models import Conversation, CopilotDraft
from agent.states import ConversationState
from agent.text import MAX_REPLY_CHARACTERS, readable
from orders import audit
from orders.actors import staff_actor
from orders.errors import InvalidInput, Refusal

MOVED_ON: Final = "conversation_moved_on"


def keep(
    *,
    conversation: Conversation,
    beside: Conversation | None,
    user: User,
    call_ref: str,
    text: str,
    read_to: int,
) -> CopilotDraft:
    """Keep a draft; the same `call_ref` again gives the same. `beside`: the conversation the colleague works on.

    Raises a Refusal where the conversation is another one, is closed, or has moved on since `read_to`.
    """
    text = readable(text, limit=MAX_REPLY_CHARACTERS)
    if beside is not None and beside.pk != conversation.pk:
        raise Refusal(
            "another_conversation",
            translate("The colleague has another conversation before them."),
            hint=translate("Draft for conversation %(number)s, or tell them to open the other one.")
            % {"number": beside.pk},
            field="conversation_id",
        )
    with events.writing(conversation.pk, "copilot_drafted") as locked:
        known = CopilotDraft.objects.filter(call_ref=call_ref).first()
        if known is not None:
            return known
        _require_current(locked, read_to)
        draft = CopilotDraft.objects.create(
            conversation=locked, user=user, call_ref=call_ref, text=text, read_to=read_to
        )
        audit.record(
            action="copilot.drafted",
            actor=staff_actor(user),
            subject_type="conversation",
            subject_id=str(locked.pk),
            order_id=locked.order_id,
            chosen={"draft": draft.pk, "text": text},
        )
        return draft


def _require_current(conversation: Conversation, read_to: int) -> None:
    newest = history.newest_message(conversation)
    if read_to > newest:
        raise InvalidInput(
            "read_to",
            translate("read_to is not a place in this conversation."),
            hint=translate("Read the conversation with tickets_search and give its read_to."),
        )
    if conversation.state != ConversationState.OPEN:
        raise Refusal("conversation_closed", translate("This conversation is closed: nobody can answer in it."))
    if read_to < newest:
        raise Refusal(
            MOVED_ON,
            translate("The conversation has moved on since you read it: the draft was dropped."),
            hint=translate("Read it again with tickets_search, and draft anew with its new read_to."),
        )


def current(conversation: Conversation, user: User) -> CopilotDraft | None:
    """The colleague's newest draft, as long as nothing has been said in the conversation since."""
    draft = CopilotDraft.objects.filter(conversation=conversation, user=user).order_by("-pk").first()
    return draft if draft and draft.read_to == history.newest_message(conversation) else None
