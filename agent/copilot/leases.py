"""Who works on a thread: a token and a time on its row, renewed while the model talks. One run at a time."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.utils import timezone

from agent import turns
from agent.events import saving
from agent.models import CopilotThread
from agent.states import CopilotState
from agent.turns import LeaseLost

keeper: Final = turns.Keeper(CopilotThread)


@dataclass(frozen=True, slots=True)
class Lease:
    thread_id: int
    token: str


@contextmanager
def writing(thread_id: int, save: str = "") -> Iterator[CopilotThread]:
    """A transaction that holds the thread's row; pages that look at it have something new afterwards.

    `save` is its name in `agent/save_points.py`.
    """
    with transaction.atomic(), saving(save):
        thread = CopilotThread.objects.select_for_update(no_key=True, of=("self",)).get(pk=thread_id)
        yield thread
        thread.version += 1
        thread.save()


def is_free(thread: CopilotThread) -> bool:
    """Whether a job may begin: it is wanted, or whoever worked on it has given no sign of life."""
    return thread.state == CopilotState.QUEUED or is_abandoned(thread)


def is_abandoned(thread: CopilotThread) -> bool:
    return (
        thread.state == CopilotState.RUNNING and thread.lease_until is not None and thread.lease_until < timezone.now()
    )


def take(thread_id: int) -> Lease | None:
    """Get hold of a thread. None: nothing is wanted of it, or somebody else has it."""
    with transaction.atomic(), saving("copilot_taken"):
        thread = CopilotThread.objects.select_for_update(no_key=True).filter(pk=thread_id).first()
        if thread is None or not is_free(thread):
            return None
        thread.state, thread.lease_token = CopilotState.RUNNING, secrets.token_hex(16)
        thread.lease_until = turns.lease_end()
        thread.version += 1
        thread.save()
    return Lease(thread_id, thread.lease_token)


@contextmanager
def holding(lease: Lease, save: str = "") -> Iterator[CopilotThread]:
    """`writing`, and only while the lease is still ours. Raises `LeaseLost`."""
    with writing(lease.thread_id, save) as thread:
        ours = thread.state == CopilotState.RUNNING and thread.lease_token == lease.token
        if not ours or thread.lease_until is None or thread.lease_until <= timezone.now():
            raise LeaseLost(lease.thread_id)
        yield thread


def end(thread: CopilotThread, state: CopilotState, *, error: str = "") -> None:
    """The run is over, or waits for another worker. Inside `holding`."""
    thread.state, thread.error = state, error[:60]
    thread.lease_token, thread.lease_until = "", None
