"""People of the shop in a conversation: asked for, taking over, answering, giving back, closing.

While a person owns a conversation the agent publishes nothing: every write of a turn looks at `owner` under the
conversation's lock (`agent/loop.py`).
"""

from django.utils import translation
from django.utils.translation import gettext as translate

from agent import calls, cards, events, history, mails, turns
from agent.models import Conversation, Message
from agent.states import Author, ConversationState, TurnState
from agent.text import readable
from orders import audit
from orders.actors import Actor
from orders.errors import InvalidInput, Refusal

PERMISSION = "agent.answer_conversation"
MAX_REPLY_CHARACTERS = 4000
MAX_SUMMARY_CHARACTERS = 1000


def ask_for_person(*, conversation: Conversation, actor: Actor, reason: str, summary: str) -> None:
    """Mark the conversation as waiting for a person. Asking again changes nothing but the summary."""
    if len(summary) > MAX_SUMMARY_CHARACTERS:
        raise InvalidInput(
            "summary",
            translate("The summary is too long: at most %(count)s characters.") % {"count": MAX_SUMMARY_CHARACTERS},
        )
    with events.writing(conversation.pk) as locked:
        known = locked.needs_person
        locked.needs_person, locked.hand_off_summary = True, summary
        locked.save(update_fields=["needs_person", "hand_off_summary", "updated_at"])
        _record(locked, actor, "conversation.person_asked", chosen={"reason": reason, "summary": summary})
        if not known:
            tell_state(locked)


def customer_asks_for_person(*, conversation: Conversation, actor: Actor) -> None:
    """The customer's own button: no model is asked, and the page says at once that a person will come."""
    with events.writing(conversation.pk) as locked:
        if locked.needs_person:
            return
        ask_for_person(conversation=locked, actor=actor, reason="customer_asked", summary="")
        with translation.override(locked.language):
            say_as_system(locked, translate("We have asked a colleague to join. They will answer here."))


def take_over(*, conversation: Conversation, actor: Actor) -> None:
    """Make the actor the owner. Open cards stay with the customer; a running turn may not publish any more.

    Raises `NotAllowed`, and `Refusal` when a colleague has it.
    """
    actor.require(PERMISSION)
    with events.writing(conversation.pk) as locked:
        if locked.owner_id and locked.owner != actor.user:
            raise Refusal(
                "taken_over",
                translate("%(name)s is already answering this conversation.") % {"name": locked.owner},
                hint=translate("Ask them to give it back first."),
            )
        if locked.state == ConversationState.CLOSED:
            raise _closed()
        if locked.owner_id and not locked.needs_person:
            return
        locked.owner, locked.needs_person = actor.user, False
        locked.save(update_fields=["owner", "needs_person", "updated_at"])
        _end_turn(locked)
        _record(locked, actor, "conversation.taken_over")
        tell_state(locked)


def give_back(*, conversation: Conversation, actor: Actor) -> None:
    """Let the agent answer again, starting with what the customer has said meanwhile."""
    actor.require(PERMISSION)
    with events.writing(conversation.pk) as locked:
        if locked.owner_id is None:
            return
        locked.owner = None
        locked.save(update_fields=["owner", "updated_at"])
        _record(locked, actor, "conversation.given_back")
        tell_state(locked)
        if _agent_has_to_answer(locked):
            turns.queue_turn(locked)


def _agent_has_to_answer(conversation: Conversation) -> bool:
    """Not where a person had the last word."""
    last = conversation.messages.exclude(author=Author.SYSTEM).order_by("-id").first()
    if last is None or last.author == Author.STAFF:
        return False
    return last.author == Author.CUSTOMER or history.next_step(conversation) in {"call_model", "run_tools"}


def reply(*, conversation: Conversation, actor: Actor, text: str) -> Message:
    """Answer as a person. Whoever answers owns the conversation."""
    actor.require(PERMISSION)
    text = readable(text, limit=MAX_REPLY_CHARACTERS)
    with events.writing(conversation.pk) as locked:
        take_over(conversation=locked, actor=actor)
        message = Message.objects.create(
            conversation=locked, author=Author.STAFF, staff=actor.user, content=[{"type": "text", "text": text}]
        )
        tell_message(locked, message, name=actor.name)
        mails.answered(locked, message.pk)
        _record(locked, actor, "conversation.answered", chosen={"text": text})
        return message


def close(*, conversation: Conversation, actor: Actor) -> None:
    """End the conversation. Open cards are withdrawn; the customer's next words open a new one."""
    actor.require(PERMISSION)
    with events.writing(conversation.pk) as locked:
        if locked.state == ConversationState.CLOSED:
            return
        _end_turn(locked)
        cards.withdraw_open(locked, actor=actor)
        cards.resume(locked, go_on=False)
        locked.state, locked.needs_person = ConversationState.CLOSED, False
        locked.save(update_fields=["state", "needs_person", "updated_at"])
        _record(locked, actor, "conversation.closed")
        tell_state(locked)


def say_as_system(conversation: Conversation, text: str) -> Message:
    """A line the system writes by itself. Inside `events.writing`, in the conversation's language."""
    message = Message.objects.create(
        conversation=conversation, author=Author.SYSTEM, content=[{"type": "text", "text": text}]
    )
    tell_message(conversation, message)
    return message


def tell_model(conversation: Conversation, text: str, *, about: str, state: str) -> None:
    """Keep what the page was told in another way (a status line) as a message too. Inside `events.writing`.

    The model reads it in its place from the next request on; the page shows the line once. `about`: what it is, with
    its number ("refund rf_…"), which stands in `state` now.
    """
    content = [{"type": "text", "text": text, "about": about, "state": state}]
    Message.objects.create(conversation=conversation, author=Author.SYSTEM, content=content)


def tell_message(conversation: Conversation, message: Message, *, name: str = "", draft: str = "") -> None:
    """Show a message on the page. Inside `events.writing`. `draft` names the draft that it replaces."""
    data = {
        "message_id": message.pk,
        "author": message.author,
        "name": name,
        "text": message.text,
        "at": message.created_at.isoformat(),
    }
    events.add(conversation, "message", {**data, "draft": draft} if draft else data)


def tell_state(conversation: Conversation) -> None:
    """Tell the page who answers now. Inside `events.writing`."""
    owner = conversation.owner
    events.add(
        conversation,
        "conversation",
        {
            "state": conversation.state,
            "needs_person": conversation.needs_person,
            "owner": (owner.get_full_name() or owner.get_username()) if owner else None,
        },
    )


def _end_turn(conversation: Conversation) -> None:
    """A queued or running turn has nothing to say any more; a waiting one stays, its cards are the customer's."""
    turn = turns.live_turn(conversation)
    if turn and turn.state != TurnState.WAITING:
        turns.move(conversation, turn, turn.state, TurnState.DONE)
    calls.give_up(conversation)


def _record(conversation: Conversation, actor: Actor, action: str, chosen: dict[str, str] | None = None) -> None:
    audit.record(
        action=action,
        actor=actor,
        subject_type="conversation",
        subject_id=str(conversation.pk),
        order_id=conversation.order_id,
        chosen=chosen,
    )


def _closed() -> Refusal:
    return Refusal("conversation_closed", translate("This conversation is closed."))
