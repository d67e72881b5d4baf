"""The sweeper: the database is the truth. What it says is unfinished gets a job, whatever became of the last one.

A turn is found within 30 seconds: a job that was lost after `QUEUED_TOO_LONG` and `SWEEP_SECONDS`, a worker that died
after `AGENT_LEASE_SECONDS` and `SWEEP_SECONDS` at most. Of more than `JOBS_AT_ONCE`, every round finds others; so it is
with everything else that is looked for (`rounds.py`).
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeVar

import structlog
from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as translate

from agent import cards, events, money, people, rounds, sent_again, turns
from agent.copilot import lost
from agent.models import Conversation, Message, Turn
from agent.save_points import reached
from agent.states import Author, ConversationState, ToolCallState, TurnState
from agent.turns import QUEUED_TOO_LONG
from orders import audit

log = structlog.get_logger(__name__)
JOBS_AT_ONCE = 1000
# Reading them is cheap; sending a job to each in one round is not.
LOST_LOOKED_AT = 10_000
T = TypeVar("T")


def sweep() -> None:
    _each(_send_again, _turns_without_worker)
    _each(_resume, _turns_that_need_not_wait)
    _each(_say_that_it_is_late, _untold_of_lateness)
    _each(lost.see_to, lost.found)
    _each(cards.expire, cards.cards_behind)
    _each(money.tell_late, money.untold)
    events.forget_old()


def _each(repair: Callable[[T], None], find: Callable[[], Iterable[T]]) -> None:
    """Neither one that cannot be repaired nor a search that breaks may keep the others waiting."""
    try:
        things = list(find())
    except Exception:
        log.exception("sweep.found_nothing", repair=repair.__name__)
        return
    for thing in things:
        try:
            repair(thing)
        except Exception:
            log.exception("sweep.broke", repair=repair.__name__, thing=str(thing))


def _turns_without_worker() -> list[Turn]:
    """Queued turns whose job was lost, and running ones whose worker is gone. A job too many does no harm.

    First those that no round has sent a job to yet: while jobs wait for workers that are too few, the oldest turns stay
    the oldest.
    """
    now = timezone.now()
    lost = Q(state=TurnState.QUEUED, queued_at__lt=now - QUEUED_TOO_LONG) | Q(
        state=TurnState.RUNNING, lease_until__lt=now
    )
    found = list(Turn.objects.filter(lost).order_by("queued_at")[:LOST_LOOKED_AT])
    times = sent_again.times(found)
    if times is None:  # No job gets through either: a few are tried.
        return found[: rounds.AT_ONCE]
    due = [turn for turn in found if times[turn.pk] <= now.timestamp() - sent_again.NOT_BEFORE_SECONDS]
    return sorted(due, key=lambda turn: times[turn.pk])[:JOBS_AT_ONCE]


def _send_again(turn: Turn) -> None:
    with audit.for_the_same_request(subject_type="turn", subject_id=str(turn.pk)):
        log.info("turn.found", conversation_id=turn.conversation_id, turn_id=turn.pk, state=turn.state)
        reached("lost_turn_found")
        turns.send_job(turn)
        sent_again.note(turn)


def _turns_that_need_not_wait() -> Iterable[int]:
    """Waiting turns none of whose cards is open any more: the worker died between the answer and the queue."""
    waiting = Conversation.objects.filter(state=ConversationState.OPEN, turns__state=TurnState.WAITING)
    answered = waiting.exclude(tool_calls__state=ToolCallState.SUSPENDED)
    return [conversation.pk for conversation in rounds.next_of("need not wait", answered)]


def _resume(conversation_id: int) -> None:
    with events.writing(conversation_id, "turn_resumed") as locked:
        cards.resume(locked, go_on=True)


def _late_turns() -> QuerySet[Turn]:
    """Turns that no worker has got to for long, whatever jobs were sent, and whose customer has not been told so.

    Not where a person is there or on the way: that has been said.
    """
    late = timezone.now() - timedelta(seconds=settings.AGENT_LATE_SECONDS)
    waits = Q(state=TurnState.QUEUED, queued_at__lt=late) | Q(state=TurnState.RUNNING, lease_until__lt=late)
    told = Message.objects.filter(turn=OuterRef("pk"), author=Author.SYSTEM, created_at__gt=OuterRef("queued_at"))
    alone = Q(conversation__owner=None, conversation__needs_person=False, conversation__state=ConversationState.OPEN)
    return Turn.objects.filter(waits, alone, ~Exists(told))


def _untold_of_lateness() -> Iterable[int]:
    return [turn.pk for turn in rounds.next_of("late", _late_turns())]


def _say_that_it_is_late(turn_id: int) -> None:
    """Once each time that the turn was queued. It stays queued: a worker that comes back answers."""
    conversation_id = Turn.objects.values_list("conversation_id", flat=True).get(pk=turn_id)
    with events.writing(conversation_id, "lateness_told") as locked, translation.override(locked.language):
        if not _late_turns().filter(pk=turn_id).exists():
            return
        text = translate(
            "The assistant has not got to your message yet. It is kept, and is answered as soon as possible. You need "
            "not wait for that: you can ask for a person."
        )
        content = [{"type": "text", "text": text, "about": "your answer", "state": "late"}]
        said = Message.objects.create(conversation=locked, turn_id=turn_id, author=Author.SYSTEM, content=content)
        people.tell_message(locked, said)
