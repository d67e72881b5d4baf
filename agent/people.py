"""People of the shop in a conversation: asked for, taking over, answering, giving back, closing.

While a person owns a conversation the agent publishes nothing: every write of a turn looks at `owner` under the
conversation's lock (`turns.holding`), and pages leave out what was still being written (`draft_text.DraftText`).
"""

from collections.abc import Callable
from typing import Any, Final

import structlog
from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as translate

from agent import calls, cards, events, hand_off, history, limits, mails, turns, waiting
from agent.models import Conversation, Message
from agent.states import Author, ConversationState, TurnState
from agent.text import MAX_REPLY_CHARACTERS, readable
from orders import audit
from orders.actors import Actor
from orders.errors import InvalidInput, Refusal

log = structlog.get_logger(__name__)
PERMISSION = "agent.answer_conversation"
MAX_SUMMARY_CHARACTERS = 1000
# What the model reads where a person has given the conversation back to it.
GIVEN_BACK: Final = {"about": "this conversation", "state": "yours again"}
GIVEN_BACK_NOTE: Final = (
    "A colleague has looked into it and given the conversation back to you. Go on from what they have said; ask for a "
    "person again only if the customer asks for one or brings up something new."
)


def ask_for_person(*, conversation: Conversation, actor: Actor, reason: str, summary: str) -> None:
    """Mark the conversation as waiting for a person. Asking again changes nothing but reason and summary.

    Where no summary is given it is made from rows.
    """
    if len(summary) > MAX_SUMMARY_CHARACTERS:
        raise InvalidInput(
            "summary",
            translate("The summary is too long: at most %(count)s characters.") % {"count": MAX_SUMMARY_CHARACTERS},
        )
    with events.writing(conversation.pk, "person_asked") as locked:
        known = locked.needs_person
        locked.needs_person, locked.hand_off_reason = True, reason
        locked.hand_off_summary = _summary(locked, summary.strip(), known=known)
        locked.waiting_since = locked.waiting_since or timezone.now()
        locked.save(
            update_fields=["needs_person", "hand_off_reason", "hand_off_summary", "waiting_since", "updated_at"]
        )
        chosen = {"reason": reason, "summary": locked.hand_off_summary}
        _record(locked, actor, "conversation.person_asked", chosen=chosen)
        if not known:
            tell_state(locked)


def _summary(conversation: Conversation, given: str, *, known: bool) -> str:
    """Words that somebody wrote are kept until there are others. A summary that breaks keeps no person away."""
    if given or (known and conversation.hand_off_summary):
        return given or conversation.hand_off_summary
    try:
        with transaction.atomic():
            return hand_off.summary(conversation)
    except OperationalError:
        raise
    except Exception:
        log.exception("hand_off.without_summary", conversation_id=conversation.pk)
        return ""


def customer_asks_for_person(*, conversation: Conversation, actor: Actor) -> None:
    """The customer's own button: no model is asked, and the page says at once that a person will come.

    Where somebody has the conversation already nobody else is asked for: the page says who it is. That the desk itself
    has called somebody over money is no answer to this press.
    """
    with events.writing(conversation.pk, "call_noted") as locked, translation.override(locked.language):
        if locked.owner is not None:
            customer_waits(locked)
            _say_who_has_it(locked, waiting.person_has_it(_name(locked.owner)))
        elif not locked.needs_person or locked.hand_off_reason == waiting.REFUND_FAILED:
            ask_for_person(conversation=locked, actor=actor, reason="customer_asked", summary="")
            say_as_system(locked, waiting.person_is_coming())


def _say_who_has_it(conversation: Conversation, text: str) -> None:
    """Not again where it is the last that was said: a button can be pressed often."""
    last = conversation.messages.order_by("-pk").first()
    if last is None or (last.author, last.text) != (Author.SYSTEM, text):
        say_as_system(conversation, text)


def customer_waits(conversation: Conversation) -> None:
    """The customer has written to the person who has the conversation. Inside `events.writing`."""
    if conversation.waiting_since is None:
        conversation.waiting_since = timezone.now()
        conversation.save(update_fields=["waiting_since", "updated_at"])
        tell_state(conversation)


def take_over(*, conversation: Conversation, actor: Actor, taken_from: int | None = None) -> None:
    """Make the actor the owner. Open cards stay with the customer; a running turn may not publish any more.

    `taken_from` is the id of the colleague who has it, where it is to be taken from them. Raises `NotAllowed`, and
    `Refusal` when somebody else has it, or nobody any more.
    """
    actor.require(PERMISSION)
    with events.writing(conversation.pk, "taken_over") as locked:
        if locked.state == ConversationState.CLOSED:
            raise _closed()
        before = locked.owner if locked.owner != actor.user else None
        if locked.owner != actor.user and locked.owner_id != taken_from:
            raise _somebody_elses(locked)
        if locked.owner == actor.user and not locked.needs_person:
            return
        unowned = locked.owner_id is None
        # Whoever answers looks after it from then on, also when the assistant has it again.
        locked.owner, locked.assignee, locked.needs_person = actor.user, actor.user, False
        if unowned:
            # Having a conversation is no answer yet; but who has asked nothing waits for none.
            unasked = waiting.only_money_called(locked)
            locked.waiting_since = None if unasked else locked.waiting_since or waiting.unanswered_since(locked)
        locked.save(update_fields=["owner", "assignee", "needs_person", "waiting_since", "updated_at"])
        _end_turn(locked)
        _record(locked, actor, "conversation.taken_over", chosen={"taken_from": before.username} if before else None)
        tell_state(locked)


def _require_mine(conversation: Conversation, actor: Actor) -> None:
    """What a colleague has is theirs until it is taken over from them. Raises `Refusal`."""
    if conversation.owner_id and conversation.owner != actor.user:
        raise _somebody_elses(conversation)


def give_back(*, conversation: Conversation, actor: Actor) -> None:
    """Let the agent answer again, starting with what the customer has said meanwhile. Who waited for a person is told.

    Raises `Refusal` where a colleague has it, and where it may not any more: it would only ask for a person again.
    """
    actor.require(PERMISSION)
    with events.writing(conversation.pk, "given_back") as locked:
        if locked.owner_id is None:
            return
        _require_mine(locked, actor)
        if limits.conversation_is_full(locked):
            raise Refusal(
                "assistant_at_its_limit",
                translate("The assistant has done all that it may in this conversation."),
                hint=translate("Answer it, or close it: what the customer writes next opens a new one."),
            )
        waited = locked.waiting_since is not None
        locked.owner, locked.needs_person, locked.waiting_since = None, False, None
        locked.save(update_fields=["owner", "needs_person", "waiting_since", "updated_at"])
        _record(locked, actor, "conversation.given_back")
        if waited:
            _wait_is_over(locked, waiting.assistant_answers_again)
        tell_model(locked, GIVEN_BACK_NOTE, **GIVEN_BACK)
        tell_state(locked)
        if _agent_has_to_answer(locked):
            turns.queue_turn(locked)


def just_given_back(conversation: Conversation) -> bool:
    """Has a person given it back, and the customer not written since? Then nothing is new to ask a person for."""
    notes = conversation.messages.filter(author=Author.SYSTEM, content__0__about=GIVEN_BACK["about"])
    back = notes.order_by("-pk").values_list("pk", flat=True).first()
    return back is not None and not conversation.messages.filter(author=Author.CUSTOMER, pk__gt=back).exists()


def _agent_has_to_answer(conversation: Conversation) -> bool:
    """Not where a person had the last word."""
    last = conversation.messages.exclude(author=Author.SYSTEM).order_by("-id").first()
    if last is None or last.author == Author.STAFF:
        return False
    return last.author == Author.CUSTOMER or history.next_step(conversation) in {"call_model", "run_tools"}


def reply(*, conversation: Conversation, actor: Actor, text: str, client_ref: str | None = None) -> Message:
    """Answer as a person. Whoever answers owns the conversation.

    The same `client_ref` (at most 64 characters) again gives the same message. Raises `Refusal` where a colleague has
    the conversation, and where the reference was that of other words.
    """
    actor.require(PERMISSION)
    text = readable(text, limit=MAX_REPLY_CHARACTERS)
    with events.writing(conversation.pk, "answered") as locked:
        if client_ref and (known := locked.messages.filter(author=Author.STAFF, client_ref=client_ref).first()):
            return _the_same(known, text)
        take_over(conversation=locked, actor=actor)
        locked.refresh_from_db()
        message = Message.objects.create(
            conversation=locked,
            author=Author.STAFF,
            staff=actor.user,
            content=[{"type": "text", "text": text}],
            client_ref=client_ref,
        )
        tell_message(locked, message, name=actor.name)
        mails.answered(locked, message.pk)
        _record(locked, actor, "conversation.answered", chosen={"text": text}, outcome=end_wait(locked))
        return message


def _the_same(known: Message, text: str) -> Message:
    """A form that was sent twice, unless other words stand in it now: those would be lost without a word."""
    if known.text != text:
        raise Refusal(
            "already_sent",
            translate("This form has sent another answer already."),
            hint=translate("Your new words are in the field: send them from here."),
        )
    return known


def end_wait(conversation: Conversation) -> dict[str, int]:
    """A person has answered, in words or by a card. How long the customer has waited for it, if they did.

    Inside `events.writing`.
    """
    since = conversation.waiting_since
    if since is None:
        return {}
    conversation.waiting_since = None
    conversation.save(update_fields=["waiting_since", "updated_at"])
    tell_state(conversation)
    return {"waited_seconds": round((timezone.now() - since).total_seconds())}


def close(*, conversation: Conversation, actor: Actor) -> None:
    """End the conversation. Open cards are withdrawn; the customer's next words open a new one.

    Who waited for a person, or for the assistant's answer, is told. Raises `Refusal` where a colleague has it.
    """
    actor.require(PERMISSION)
    with events.writing(conversation.pk, "closed") as locked:
        if locked.state == ConversationState.CLOSED:
            return
        _require_mine(locked, actor)
        _end_turn(locked)
        cards.withdraw_open(locked, actor=actor)
        waited = locked.waiting_since or (locked.owner_id is None and waiting.unanswered_since(locked))
        locked.state, locked.needs_person, locked.waiting_since = ConversationState.CLOSED, False, None
        locked.save(update_fields=["state", "needs_person", "waiting_since", "updated_at"])
        cards.resume(locked, go_on=False)
        _record(locked, actor, "conversation.closed")
        if waited:
            _wait_is_over(locked, waiting.conversation_is_closed)
        tell_state(locked)


def _wait_is_over(conversation: Conversation, words: Callable[[], str]) -> None:
    """No person will answer whoever has waited for one: said on the page, and by e-mail to who has left it."""
    with translation.override(conversation.language):
        message = say_as_system(conversation, words())
    mails.wait_over(conversation, message)


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
    owner, since = conversation.owner, conversation.waiting_since
    events.add(
        conversation,
        "conversation",
        {
            "state": conversation.state,
            "needs_person": conversation.needs_person,
            "waiting_since": since.isoformat() if since else None,
            "owner": _name(owner) if owner else None,
        },
    )


def _name(user: User) -> str:
    return user.get_full_name() or user.get_username()


def _end_turn(conversation: Conversation) -> None:
    """A queued or running turn has nothing to say any more; a waiting one stays, its cards are the customer's."""
    turn = turns.live_turn(conversation)
    if turn and turn.state != TurnState.WAITING:
        turns.move(conversation, turn, turn.state, TurnState.DONE)
    calls.give_up(conversation)


def _record(
    conversation: Conversation,
    actor: Actor,
    action: str,
    chosen: dict[str, str] | None = None,
    outcome: dict[str, Any] | None = None,
) -> None:
    audit.record(
        action=action,
        actor=actor,
        subject_type="conversation",
        subject_id=str(conversation.pk),
        order_id=conversation.order_id,
        chosen=chosen,
        outcome=outcome,
    )


def _somebody_elses(conversation: Conversation) -> Refusal:
    if conversation.owner is None:
        return Refusal(
            "given_back_meanwhile",
            translate("Your colleague does not have this conversation any more."),
            hint=translate("Take it over again if it still needs you."),
        )
    return Refusal(
        "taken_over",
        translate("%(name)s is already answering this conversation.") % {"name": _name(conversation.owner)},
        hint=translate("Take it over from them first if you are to go on with it."),
    )


def _closed() -> Refusal:
    return Refusal("conversation_closed", translate("This conversation is closed."))
