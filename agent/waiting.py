"""Waiting for a person: since when, behind how many, how long it usually takes, and when people are there again.

A customer waits from asking for a person, or from writing to the one who has the conversation, until somebody answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.db.models import Q
from django.utils import formats, timezone
from django.utils.translation import gettext as translate
from django.utils.translation import ngettext

from agent import hours
from agent.models import Conversation
from agent.states import Author, ConversationState
from orders.models import AuditEvent

LOOKED_AT = timedelta(days=3)
ANSWERS_LOOKED_AT = 30
FEWEST_ANSWERS = 3
ANSWERED = "conversation.answered"
ASKED = "conversation.person_asked"
REFUND_FAILED = "refund_failed"


@dataclass(frozen=True, slots=True)
class Wait:
    """`ahead`: how many others have waited longer for whoever is free; None once somebody has the conversation."""

    since: datetime
    ahead: int | None
    usual: timedelta | None


def wait_of(conversation: Conversation) -> Wait | None:
    """None where the customer waits for nobody."""
    since = conversation.waiting_since
    if since is None or conversation.state == ConversationState.CLOSED:
        return None
    ahead = None if conversation.owner_id else _before(conversation, since)
    return Wait(since, ahead, usual_wait())


def _before(conversation: Conversation, since: datetime) -> int:
    earlier = Q(waiting_since__lt=since) | Q(waiting_since=since, pk__lt=conversation.pk)
    others = Conversation.objects.filter(earlier, state=ConversationState.OPEN, needs_person=True, owner=None)
    return others.count()


def usual_wait() -> timedelta | None:
    """The median of the newest answers' waits; None where too few are known. Nights are no measure of it."""
    recent = AuditEvent.objects.filter(action=ANSWERED, at__gt=timezone.now() - LOOKED_AT)
    answers = recent.filter(outcome__has_key="waited_seconds").order_by("-at").values_list("at", "outcome")
    waits = [
        outcome["waited_seconds"]
        for at, outcome in answers[:ANSWERS_LOOKED_AT]
        if hours.open_now(at - timedelta(seconds=outcome["waited_seconds"]))
    ]
    return timedelta(seconds=median(waits)) if len(waits) >= FEWEST_ANSWERS else None


def unanswered_since(conversation: Conversation) -> datetime | None:
    """When the customer wrote first of what nobody has answered yet."""
    said = conversation.messages.filter(author=Author.CUSTOMER)
    answers = conversation.messages.filter(author__in=[Author.AGENT, Author.STAFF]).order_by("-pk")
    newest = answers.values_list("pk", "heard", "author").first()
    if newest is not None:
        number, heard, author = newest
        said = said.filter(pk__gt=heard if author == Author.AGENT else number)
    return said.order_by("pk").values_list("created_at", flat=True).first()


def has_written(conversation: Conversation) -> bool:
    return conversation.messages.filter(author=Author.CUSTOMER).exists()


def only_money_called(conversation: Conversation) -> bool:
    """Nobody has asked for a person but the desk, over money that was refused, and nothing the customer wrote is open.

    Then a colleague has something to see to, and the customer waits for no answer.
    """
    calls = AuditEvent.objects.filter(subject_type="conversation", subject_id=str(conversation.pk), action=ASKED)
    over_money = calls.filter(chosen__reason=REFUND_FAILED)
    if unanswered_since(conversation) is not None or calls.exclude(pk__in=over_money).exists():
        return False
    return over_money.exists()


def person_is_coming() -> str:
    """What the customer reads when a person has been asked for."""
    if hours.open_now():
        return translate("We have asked a colleague to join. They will answer here.")
    return translate("We have left word for our colleagues. They are here again on %(when)s and will answer here.") % {
        "when": opening_words()
    }


def person_has_it(name: str) -> str:
    """What the customer reads when they ask for a person whom they have already."""
    return translate("%(name)s has this conversation and will answer here.") % {"name": name}


def assistant_answers_again() -> str:
    """What the customer reads who waited for a person when the conversation is given back."""
    return translate("The assistant answers you again. You can ask for a person at any time.")


def conversation_is_closed() -> str:
    """What the customer reads who waited for a person when the conversation is closed."""
    return translate("A colleague has closed this conversation. If you write again, a new one begins.")


def opening_words() -> str:
    """When people are there again, in the shop's time: “Tuesday, December 1, 09:00”; empty while they are."""
    if hours.open_now():
        return ""
    opening = hours.next_opening()
    if opening is None:
        return translate("another day")
    return translate("%(weekday)s, %(day)s, %(time)s") % {
        "weekday": formats.date_format(opening, "l"),
        "day": formats.date_format(opening, "MONTH_DAY_FORMAT"),
        "time": f"{opening:%H:%M}",
    }


def sentences_for_customer(conversation: Conversation) -> list[str]:
    """What there is to say about the wait, sentence by sentence; empty where the customer waits for nobody."""
    wait = wait_of(conversation)
    return list(_sentences(conversation, wait)) if wait else []


def _sentences(conversation: Conversation, wait: Wait) -> Iterator[str]:
    yield translate("You have been waiting since %(time)s.") % {"time": _clock(wait.since)}
    if not hours.open_now():
        yield translate("Our colleagues are here again on %(when)s.") % {"when": opening_words()}
    else:
        if wait.ahead is not None:
            yield _place_in_line(wait.ahead)
        if wait.usual is not None:
            yield _usually(wait.usual)
    if conversation.customer.email:
        yield translate("You need not keep this page open: we also write to you by e-mail.")


def _clock(moment: datetime) -> str:
    local = timezone.localtime(moment)
    if local.date() == timezone.localdate():
        return f"{local:%H:%M}"
    return f"{formats.date_format(local, 'MONTH_DAY_FORMAT')} {local:%H:%M}"


def _place_in_line(ahead: int) -> str:
    if ahead == 0:
        return translate("Nobody is before you.")
    words = ngettext("%(count)s other customer is before you.", "%(count)s other customers are before you.", ahead)
    return words % {"count": ahead}


def _usually(usual: timedelta) -> str:
    minutes = max(round(usual.total_seconds() / 60), 1)
    if minutes < 100:
        words = ngettext(
            "Lately it took about %(count)s minute until somebody answered.",
            "Lately it took about %(count)s minutes until somebody answered.",
            minutes,
        )
        return words % {"count": minutes}
    whole = round(minutes / 60)
    words = ngettext(
        "Lately it took about %(count)s hour until somebody answered.",
        "Lately it took about %(count)s hours until somebody answered.",
        whole,
    )
    return words % {"count": whole}
