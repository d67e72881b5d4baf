"""The sweeper: the database is the truth. What it says is unfinished gets a job, whatever became of the last one."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeVar

import structlog
from django.db.models import Q
from django.utils import timezone

from agent import cards, events, money, turns
from agent.models import Conversation, Turn
from agent.states import ConversationState, ToolCallState, TurnState
from orders import audit

log = structlog.get_logger(__name__)
QUEUED_TOO_LONG = timedelta(seconds=8)
AT_ONCE = 200
T = TypeVar("T")


def sweep() -> None:
    _turns_without_worker()
    _turns_that_need_not_wait()
    _each(cards.expire, cards.cards_behind())
    _each(money.tell_late, money.untold())


def _each(repair: Callable[[T], None], things: Iterable[T]) -> None:
    """One that cannot be repaired must not keep the others waiting."""
    for thing in things:
        try:
            repair(thing)
        except Exception:
            log.exception("sweep.broke", repair=repair.__name__, thing=str(thing))


def _turns_without_worker() -> None:
    """Queued turns whose job was lost, and running ones whose worker is gone. A job too many does no harm."""
    now = timezone.now()
    lost = Q(state=TurnState.QUEUED, queued_at__lt=now - QUEUED_TOO_LONG) | Q(
        state=TurnState.RUNNING, lease_until__lt=now
    )
    for turn in Turn.objects.filter(lost).order_by("queued_at")[:AT_ONCE]:
        with audit.for_the_same_request(subject_type="turn", subject_id=str(turn.pk)):
            log.info("turn.found", conversation_id=turn.conversation_id, turn_id=turn.pk, state=turn.state)
            turns.send_job(turn)


def _turns_that_need_not_wait() -> None:
    """Waiting turns none of whose cards is open any more: the worker died between the answer and the queue."""
    waiting = Conversation.objects.filter(state=ConversationState.OPEN, turns__state=TurnState.WAITING)
    ids = waiting.exclude(tool_calls__state=ToolCallState.SUSPENDED).values_list("pk", flat=True)
    _each(_resume, ids[:AT_ONCE])


def _resume(conversation_id: int) -> None:
    with events.writing(conversation_id) as locked:
        cards.resume(locked, go_on=True)
