"""1 hear: what a customer says becomes a row, and a turn is queued that answers it. The page need not wait for that."""

import unicodedata

import redis
import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as translate

from agent import cards, events, people, turns
from agent.models import Conversation, Message
from agent.states import Author, ConversationState, TurnState
from orders import audit
from orders.actors import Actor, customer_actor
from orders.errors import InvalidInput, Refusal
from orders.models import Customer, Order

log = structlog.get_logger(__name__)
ALLOWED_CONTROLS = {"\n", "\t"}
MAX_CLIENT_REF = 64


def say(*, order: Order, customer: Customer, text: str, language: str, client_ref: str | None = None) -> Message:
    """Keep the customer's words and see to it that they are answered.

    The same `client_ref` again gives the same message. Raises `InvalidInput` for text that cannot be used and `Refusal`
    `too_many_messages` (status 429, details.retry_after in seconds) for a flood; nothing is kept then.
    """
    text = readable(text)
    if client_ref and (known := _known(order, customer, client_ref)):
        return known
    _within_limit(customer)
    actor = customer_actor(customer)
    conversation = open_conversation(order=order, customer=customer, language=language, actor=actor)
    with events.writing(conversation.pk) as locked:
        if locked.state == ConversationState.CLOSED:
            raise Refusal(
                "conversation_closed",
                translate("This conversation has just been closed."),
                hint=translate("Send it once more to start a new one."),
                retryable=True,
            )
        if client_ref and (known := _known(order, customer, client_ref)):
            return known
        return _keep(locked, actor, text, language, client_ref)


def _keep(locked: Conversation, actor: Actor, text: str, language: str, client_ref: str | None) -> Message:
    cards.decline_open(locked, actor=actor, why="The customer wrote something else instead.")
    locked.language = language
    locked.save(update_fields=["language", "updated_at"])
    message = Message.objects.create(
        conversation=locked,
        author=Author.CUSTOMER,
        content=[{"type": "text", "text": text}],
        client_ref=client_ref or None,
    )
    people.tell_message(locked, message, name=actor.name)
    audit.record(
        action="message.said",
        actor=actor,
        subject_type="conversation",
        subject_id=str(locked.pk),
        order=locked.order,
        chosen={"text": text},
    )
    if locked.owner_id is None:
        turns.queue_turn(locked, afresh=True)
    return message


def try_again(*, conversation: Conversation) -> bool:
    """Queue a new turn after one has failed. False if there is nothing to try again."""
    with events.writing(conversation.pk) as locked:
        last = locked.turns.order_by("-id").first()
        if locked.owner_id or last is None or last.state != TurnState.FAILED:
            return False
        turns.queue_turn(locked)
        return True


def open_conversation(*, order: Order, customer: Customer, language: str, actor: Actor) -> Conversation:
    """The open conversation, made if there is none; two requests at once get the same one."""
    wanted = {"order": order, "customer": customer, "state": ConversationState.OPEN}
    if found := Conversation.objects.filter(**wanted).first():
        return found
    try:
        with transaction.atomic():
            made = Conversation.objects.create(**wanted, language=language)
            audit.record(
                action="conversation.opened",
                actor=actor,
                subject_type="conversation",
                subject_id=str(made.pk),
                order=order,
            )
            return made
    except IntegrityError:
        return Conversation.objects.get(**wanted)


def readable(text: str) -> str:
    """The text without white space around it. Raises `InvalidInput` for empty, too long, or with control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise InvalidInput("text", translate("Please write something first."))
    if len(text) > settings.CHAT_MESSAGE_MAX_CHARACTERS:
        raise InvalidInput(
            "text",
            translate("The message is too long: at most %(limit)s characters, and it has %(count)s.")
            % {"limit": settings.CHAT_MESSAGE_MAX_CHARACTERS, "count": len(text)},
            hint=translate("Shorten it, or send it in several parts."),
        )
    if any(unicodedata.category(char) in {"Cc", "Cs"} and char not in ALLOWED_CONTROLS for char in text):
        raise InvalidInput(
            "text",
            translate("The message contains characters that cannot be shown."),
            hint=translate("Remove them and send it again."),
        )
    return text


def _known(order: Order, customer: Customer, client_ref: str) -> Message | None:
    if len(client_ref) > MAX_CLIENT_REF:
        raise InvalidInput("client_ref", translate("client_ref is too long: at most 64 characters."))
    return Message.objects.filter(
        conversation__order=order,
        conversation__customer=customer,
        conversation__state=ConversationState.OPEN,
        client_ref=client_ref,
    ).first()


def _within_limit(customer: Customer) -> None:
    """At most so many messages a minute, counted in Redis. While Redis is away nobody is kept out."""
    key = f"refund-desk:said:{customer.pk}"
    try:
        with events.carrier().pipeline() as pipe:
            pipe.incr(key)
            pipe.expire(key, 60, nx=True)
            pipe.ttl(key)
            said, _, left = pipe.execute()
    except redis.RedisError as error:
        log.warning("limit.not_counted", error=str(error))
        return
    if said > settings.CHAT_MESSAGES_PER_MINUTE:
        wait = max(int(left), 1)
        raise Refusal(
            "too_many_messages",
            translate("That was a lot of messages at once. Please wait %(seconds)s seconds.") % {"seconds": wait},
            hint=translate("What you have sent so far is kept; send this one again after that."),
            retryable=True,
            status=429,
            details={"retry_after": wait},
        )
