"""1 hear: what a customer says becomes a row, and a turn is queued that answers it. The page need not wait for that."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as translate
from django.utils.translation import ngettext

from agent import cards, events, flood, people, plain, turns
from agent.models import Conversation, Message
from agent.states import Author, ConversationState, TurnState
from agent.text import readable
from orders import audit
from orders.actors import Actor, customer_actor
from orders.errors import InvalidInput, Refusal
from orders.models import Customer, Order

log = structlog.get_logger(__name__)
MAX_CLIENT_REF = 64
WROTE: Final = "Nobody pressed a button: the customer wrote something else, so the card was taken back."


def say(*, order: Order, customer: Customer, text: str, language: str, client_ref: str | None = None) -> Message:
    """Keep the customer's words and see to it that they are answered.

    The same `client_ref` again gives the same message. Raises `InvalidInput` for text that cannot be used and `Refusal`
    `too_many_messages` (status 429, details.retry_after in seconds) for a flood; nothing is kept then.
    """
    text = readable(text, limit=settings.CHAT_MESSAGE_MAX_CHARACTERS)
    client_ref = _usable_ref(client_ref)
    if client_ref and (known := _known(order, customer, client_ref)):
        return known
    _within_limit(customer)
    with talking("message_said", order=order, customer=customer, language=language) as locked:
        if client_ref and (known := _known(order, customer, client_ref)):
            return known
        return _keep(locked, customer_actor(customer), text, language, client_ref)


def _keep(locked: Conversation, actor: Actor, text: str, language: str, client_ref: str | None) -> Message:
    cards.decline_open(locked, actor=actor, why=WROTE)
    locked.language, locked.updated_at = language, timezone.now()
    plain.row(_SPOKEN_TO, language, locked.updated_at, locked.pk)
    message = Message.objects.create(
        conversation=locked,
        author=Author.CUSTOMER,
        content=[{"type": "text", "text": text}],
        client_ref=client_ref,
    )
    people.tell_message(locked, message, name=actor.name)
    audit.record(
        action="message.said",
        actor=actor,
        subject_type="conversation",
        subject_id=str(locked.pk),
        order_id=locked.order_id,
        chosen={"text": text},
    )
    if locked.owner_id is None:
        turns.queue_turn(locked, afresh=True)
    else:
        people.customer_waits(locked)
        cards.resume(locked, go_on=False)
    return message


_SPOKEN_TO: Final = "update agent_conversation set language = %s, updated_at = %s where id = %s"


def try_again(*, conversation: Conversation) -> bool:
    """Queue a new turn after one has failed. False if there is nothing to try again.

    It counts as a message: raises `Refusal` `too_many_messages` for a flood.
    """
    _within_limit(conversation.customer)
    with events.writing(conversation.pk, "tried_again") as locked:
        last = locked.turns.order_by("-id").first()
        over = locked.owner_id is not None or locked.state == ConversationState.CLOSED
        if over or last is None or last.state != TurnState.FAILED:
            return False
        turns.queue_turn(locked)
        return True


def ask_for_person(*, order: Order, customer: Customer, language: str) -> None:
    """The customer's own button; it also works before anything has been said."""
    with talking("person_called", order=order, customer=customer, language=language) as locked:
        people.customer_asks_for_person(conversation=locked, actor=customer_actor(customer))


@contextmanager
def talking(
    save: str, *, order: Order, customer: Customer, language: str, actor: Actor | None = None
) -> Iterator[Conversation]:
    """`events.writing` of the open conversation, opened if there is none; two requests at once get the same one.

    `actor`: who opens it, where that is not the customer.
    """
    with transaction.atomic(), events.saving(save):
        found = None
        while found is None:
            found = _open_one(order, customer) or _new_one(order, customer, language, actor or customer_actor(customer))
        yield found


_IS_OPEN: Final = "talk.order_id = %s and talk.customer_id = %s and talk.state = %s"


def _open_one(order: Order, customer: Customer) -> Conversation | None:
    return events.locked(_IS_OPEN, order.pk, customer.pk, ConversationState.OPEN.value)


def _new_one(order: Order, customer: Customer, language: str, actor: Actor) -> Conversation | None:
    """None if another request was faster: that one has been waited for here."""
    try:
        with transaction.atomic():
            made = Conversation.objects.create(order=order, customer=customer, language=language)
    except IntegrityError:
        return None
    audit.record(
        action="conversation.opened",
        actor=actor,
        subject_type="conversation",
        subject_id=str(made.pk),
        order=order,
    )
    return made


def _usable_ref(client_ref: str | None) -> str | None:
    if client_ref and (len(client_ref) > MAX_CLIENT_REF or not client_ref.isprintable()):
        raise InvalidInput(
            "client_ref", translate("client_ref is at most %(count)s printable characters.") % {"count": MAX_CLIENT_REF}
        )
    return client_ref or None


def _known(order: Order, customer: Customer, client_ref: str) -> Message | None:
    return Message.objects.filter(
        conversation__order=order,
        conversation__customer=customer,
        client_ref=client_ref,
    ).last()


def _within_limit(customer: Customer) -> None:
    wait = flood.seconds_to_wait("said", customer.pk, most=settings.CHAT_MESSAGES_PER_MINUTE)
    if wait:
        raise Refusal(
            "too_many_messages",
            ngettext(
                "That was a lot of messages at once. Please wait %(seconds)s second.",
                "That was a lot of messages at once. Please wait %(seconds)s seconds.",
                wait,
            )
            % {"seconds": wait},
            hint=translate("What you have sent so far is kept; go on after that, or ask for a person."),
            retryable=True,
            status=429,
            details={"retry_after": wait},
        )
