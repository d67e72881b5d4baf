"""Asking: a colleague's words become a row, and a job that works on them. The rows are the truth."""

from datetime import timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as translate

from agent.calls import NO_ANSWER
from agent.copilot import leases, words
from agent.models import Conversation, CopilotMessage, CopilotThread
from agent.states import LIVE_RUNS, CopilotAuthor, CopilotState, ToolCallState
from agent.text import readable
from orders import audit
from orders.actors import Actor
from orders.errors import Refusal
from orders.jobs import enqueue_on_commit

PERMISSION: Final = "agent.use_copilot"
MAX_CHARACTERS: Final = 2000
# After so long without a worker the page offers to try again, whatever the sweeper does.
WITHOUT_WORKER_TOO_LONG: Final = timedelta(seconds=20)


def ask(
    *,
    actor: Actor,
    text: str,
    language: str,
    thread: CopilotThread | None = None,
    conversation: Conversation | None = None,
    client_ref: str | None = None,
) -> CopilotThread:
    """Keep the question, in a new thread if none is given, and see to it that it is worked on.

    The same `client_ref` again gives the same thread. Raises `NotAllowed`, `InvalidInput`, and a Refusal while the
    question before is worked on.
    """
    user = actor.require_staff(PERMISSION)
    text = readable(text, limit=MAX_CHARACTERS)
    known = _asked_under(client_ref)
    if known is not None:
        return known
    try:
        with transaction.atomic():
            if thread is None:
                thread = CopilotThread.objects.create(user=user, conversation=conversation, language=language)
            return _ask(thread, actor, text, language, client_ref)
    except IntegrityError:
        known = _asked_under(client_ref)
        if known is None:
            raise
        return known


def _asked_under(client_ref: str | None) -> CopilotThread | None:
    known = CopilotMessage.objects.filter(client_ref=client_ref).first() if client_ref else None
    return known.thread if known else None


def _ask(thread: CopilotThread, actor: Actor, text: str, language: str, client_ref: str | None) -> CopilotThread:
    with leases.writing(thread.pk, "copilot_asked") as locked:
        _require_quiet(locked)
        locked.language = language
        _give_up(locked)
        asked = CopilotMessage.objects.create(
            thread=locked,
            author=CopilotAuthor.STAFF,
            content=[{"type": "text", "text": text}],
            client_ref=client_ref,
        )
        _queue(locked)
        audit.record(
            action="copilot.asked",
            actor=actor,
            subject_type="copilot_thread",
            subject_id=str(locked.pk),
            order_id=locked.conversation.order_id if locked.conversation else None,
            chosen={"message": asked.pk, "text": text},
        )
    return locked


def try_again(*, actor: Actor, thread: CopilotThread) -> None:
    """Go on with the question that was interrupted or has failed. Nothing where it is at work or answered."""
    actor.require_staff(PERMISSION)
    with leases.writing(thread.pk, "copilot_tried_again") as locked:
        if may_be_tried_again(locked):
            _queue(locked)


def may_be_tried_again(thread: CopilotThread) -> bool:
    if thread.state == CopilotState.FAILED:
        return words.may_help_again(thread.error)
    return _nobody_comes(thread)


def is_at_work(thread: CopilotThread) -> bool:
    """Whether something new can be expected without anybody pressing a button."""
    live = thread.state in LIVE_RUNS
    return live and not may_be_tried_again(thread)


def _nobody_comes(thread: CopilotThread) -> bool:
    """Without a worker for longer than the sweeper takes to find it."""
    late = timezone.now() - WITHOUT_WORKER_TOO_LONG
    if thread.state == CopilotState.RUNNING:
        return thread.lease_until is not None and thread.lease_until < late
    return thread.state == CopilotState.QUEUED and (thread.queued_at is None or thread.queued_at < late)


def _require_quiet(thread: CopilotThread) -> None:
    if is_at_work(thread):
        raise Refusal(
            "copilot_at_work",
            translate("The copilot is still at work on your last question."),
            hint=translate("Wait for its answer, or begin a new thread."),
        )


def _give_up(thread: CopilotThread) -> None:
    """What an interrupted run had asked for and not got would be out of place in the next one."""
    waiting = thread.calls.filter(state=ToolCallState.ASKED)
    waiting.update(state=ToolCallState.ANSWERED, result=NO_ANSWER, is_error=True, answered_at=timezone.now())


def _queue(thread: CopilotThread) -> None:
    leases.end(thread, CopilotState.QUEUED)
    thread.queued_at = timezone.now()
    send_job(thread)


def send_job(thread: CopilotThread) -> None:
    from agent.tasks import run_copilot  # the task module imports the loop, which imports this one

    enqueue_on_commit(run_copilot, thread.pk)


def thread_of(user: User, thread_id: int) -> CopilotThread:
    """One of one's own. Raises Http404 for a colleague's and for none alike."""
    rows = CopilotThread.objects.select_related("conversation__order", "conversation__customer")
    found = rows.filter(user=user, pk=thread_id).first()
    if found is None:
        raise Http404
    return found
