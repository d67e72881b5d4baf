"""Runs without a worker: what the sweeper does about a job that was lost, or a worker that has died.

Another worker goes on, as often as it takes within the time that one question may have. What no worker brings to its
end by then, because it kills them or because there are none, ends in words: the colleague may try again.
"""

from datetime import timedelta
from typing import Final

import structlog
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from agent import rounds, sent_again
from agent.copilot import leases, threads
from agent.models import CopilotThread
from agent.save_points import reached
from agent.states import CopilotState
from orders import audit

log = structlog.get_logger(__name__)
# As for turns: a job is usually taken at once.
QUEUED_TOO_LONG: Final = timedelta(seconds=8)


def found() -> list[CopilotThread]:
    """Threads that nobody works on and somebody waits for. Redis says who was sent a job lately."""
    now = timezone.now()
    lost = Q(state=CopilotState.QUEUED, queued_at__lt=now - QUEUED_TOO_LONG)
    lost |= Q(state=CopilotState.RUNNING, lease_until__lt=now)
    rows = rounds.next_of("lost runs", CopilotThread.objects.filter(lost))
    times = sent_again.times(rows)
    if times is None:
        return rows
    lately = now.timestamp() - sent_again.NOT_BEFORE_SECONDS
    return [thread for thread in rows if times[thread.pk] <= lately or is_too_old(thread)]


def is_too_old(thread: CopilotThread) -> bool:
    longest = timedelta(seconds=settings.AGENT_MAX_TURN_SECONDS)
    return thread.queued_at is None or thread.queued_at < timezone.now() - longest


def see_to(thread: CopilotThread) -> None:
    """A job for another worker, or an end in words."""
    with audit.for_the_same_request(subject_type="copilot_thread", subject_id=str(thread.pk)):
        log.info("copilot.found", thread=thread.pk, state=thread.state)
        reached("copilot_lost_found")
        if is_too_old(thread):
            _give_up(thread.pk)
        else:
            threads.send_job(thread)
            sent_again.note(thread)


def _give_up(thread_id: int) -> None:
    with leases.writing(thread_id, "copilot_given_up") as thread:
        if leases.is_free(thread) and is_too_old(thread):  # a worker may have come meanwhile
            leases.end(thread, CopilotState.FAILED, error="left")
