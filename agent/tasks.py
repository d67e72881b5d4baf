"""2: the agent's Celery jobs. A job carries an id; what there is to do stands in the database."""

from typing import Any

import structlog
from celery import Task, shared_task
from celery.signals import worker_shutting_down

from agent import loop, mails, stopping
from agent import sweep as sweeper
from agent.copilot import loop as copilot_loop
from orders.jobs import one_at_a_time

log = structlog.get_logger(__name__)


class Unbooked(Task[Any, Any]):
    """A job of which the broker keeps no books."""

    # By name: only a worker needs what that module imports.
    Request = "agent.unbooked:UnbookedRequest"


@shared_task(name="agent.tasks.run_turn", base=Unbooked)
def run_turn(turn_id: int) -> None:
    """Work on one turn. Harmless when delivered twice, or after the turn is over."""
    loop.run(turn_id)


@shared_task(name="agent.tasks.run_copilot", base=Unbooked)
def run_copilot(thread_id: int) -> None:
    """Work on what a colleague has asked the copilot. Harmless when delivered twice, or after it is answered."""
    copilot_loop.run(thread_id)


@shared_task(name="agent.tasks.sweep")
@one_at_a_time
def sweep() -> None:
    """Find what lost jobs and lost signals have left, and bring it on its way."""
    sweeper.sweep()


@shared_task(name="agent.tasks.send_mails")
@one_at_a_time
def send_mails() -> int:
    """Tell customers who have left the page; how many e-mails have left."""
    return mails.send_due()


@worker_shutting_down.connect
def _ask_turns_to_stop(**kwargs: Any) -> None:
    # The threads pool waits for its tasks, and a model may talk for a minute: running turns hand themselves on instead.
    stopping.requested.set()
