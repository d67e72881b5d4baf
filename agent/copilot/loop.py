"""A run: from the rows to the rows, step by step, until the copilot has said what it has to say.

A worker that dies leaves rows from which another goes on (`lost.py`); a job that comes twice, or late, does nothing.
"""

import time
from typing import Literal

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError
from django.utils import translation

from agent import client, stopping
from agent.copilot import calls, leases, replies, threads
from agent.copilot.leases import Lease
from agent.models import CopilotCall, CopilotMessage, CopilotThread
from agent.states import CopilotAuthor, CopilotState, ToolCallState
from agent.turns import LeaseLost

log = structlog.get_logger(__name__)
Step = Literal["run_tools", "call_model", "done"]


def run(thread_id: int) -> None:
    """Work on what was asked last. Delivered twice, or late, it does nothing."""
    lease = leases.take(thread_id)
    if lease is None:
        return
    with leases.keeper.keep(lease), structlog.contextvars.bound_contextvars(copilot_thread=thread_id):
        try:
            _work(lease)
        except LeaseLost:
            log.info("copilot.left", thread=thread_id)
        except client.Stopped:
            _hand_on(lease)
        except (OperationalError, InterfaceError) as error:
            # The database is away. When the lease is over, the sweeper sees to it that somebody goes on.
            log.warning("copilot.database_away", thread=thread_id, error=str(error))
        except Exception:
            log.exception("copilot.broke", thread=thread_id)
            _fail_if_ours(lease)


def _work(lease: Lease) -> None:
    deadline = time.monotonic() + settings.AGENT_MAX_TURN_SECONDS
    thread = CopilotThread.objects.select_related("user").get(pk=lease.thread_id)
    question = thread.messages.filter(author=CopilotAuthor.STAFF).latest("pk")
    user = User.objects.get(pk=thread.user_id)
    if not user.has_perm(threads.PERMISSION):
        replies.fail(lease, "not_allowed")
        return
    with translation.override(thread.language):
        while (step := _decide(lease)) != "done":
            if step == "run_tools":
                _run_tools(lease, user, question)
            else:
                replies.ask_model(lease, question, deadline)


def _decide(lease: Lease) -> Step:
    """What the rows say comes next. What is over is ended in the transaction that finds it out."""
    with leases.holding(lease, "copilot_decided") as thread:
        step = next_step(thread)
        if step == "done":
            leases.end(thread, CopilotState.IDLE)
        return step


def next_step(thread: CopilotThread) -> Step:
    last = thread.messages.order_by("-pk")[0]
    if last.author == CopilotAuthor.STAFF or last.stop_reason == "pause_turn":
        return "call_model"
    if last.stop_reason != "tool_use":
        return "done"
    return "run_tools" if last.calls.filter(state=ToolCallState.ASKED).exists() else "call_model"


def _run_tools(lease: Lease, user: User, question: CopilotMessage) -> None:
    asked = CopilotCall.objects.filter(thread=lease.thread_id, state=ToolCallState.ASKED).order_by("pk")
    for call_id in list(asked.values_list("pk", flat=True)):
        stopping.leave_if_asked()
        calls.run(lease, call_id, user=user, question=question)


def _fail_if_ours(lease: Lease) -> None:
    try:
        replies.fail(lease, "out_of_order")
    except LeaseLost:
        log.info("copilot.left", thread=lease.thread_id)


def _hand_on(lease: Lease) -> None:
    """This worker is going down: another one goes on."""
    try:
        with leases.holding(lease, "copilot_handed_on") as thread:
            leases.end(thread, CopilotState.QUEUED)
            threads.send_job(thread)
    except LeaseLost:
        log.info("copilot.left", thread=lease.thread_id)
