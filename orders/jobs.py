"""Handing a job to Celery. The database is the truth: a job that the broker did not take is found by a sweeper.

A job carries the id of the request that caused it, so that every line its worker logs, and every event of the history
that it writes, names the request; and a job that causes another one hands it on.
"""

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import structlog
from celery.app.task import Task
from celery.signals import task_postrun, task_prerun
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

Args = ParamSpec("Args")
Result = TypeVar("Result")
log = structlog.get_logger(__name__)
# Custom headers of Celery's messages; the names must be none that Celery uses itself.
REQUEST_ID = "request_id"
# Where a job keeps what has to be unbound after it.
BOUND = "bound_for_log"


def enqueue_on_commit(task: "Task[Any, Any]", *args: Any) -> None:
    """Send `task` once the surrounding transaction is committed; a broker that is away is logged, not raised."""
    headers = _headers()

    def send() -> None:
        try:
            task.apply_async(args, retry=False, headers=headers)
            log.info("job.sent", task=task.name, args=args)
        except (OperationalError, RedisError, OSError) as error:
            log.warning("job.not_sent", task=task.name, args=args, error=str(error))

    transaction.on_commit(send)


def _headers() -> dict[str, str]:
    request_id = structlog.contextvars.get_contextvars().get(REQUEST_ID)
    return {REQUEST_ID: request_id} if request_id else {}


@task_prerun.connect
def _say_for_whom(task: "Task[Any, Any]", task_id: str, **kwargs: Any) -> None:
    """From here on every line names the job, and the request that caused it."""
    bound = {"job_id": task_id, **_caused_by(task)}
    if not task.request.is_eager:
        # A thread of the pool has run other jobs before; what one of them left bound would be told of this one.
        structlog.contextvars.clear_contextvars()
    setattr(task.request, BOUND, structlog.contextvars.bind_contextvars(**bound))


@task_postrun.connect
def _say_no_more(task: "Task[Any, Any]", **kwargs: Any) -> None:
    structlog.contextvars.reset_contextvars(**getattr(task.request, BOUND, {}))


def _caused_by(task: "Task[Any, Any]") -> dict[str, str]:
    request_id = (task.request.headers or {}).get(REQUEST_ID)
    return {REQUEST_ID: str(request_id)} if request_id else {}


def one_at_a_time(job: Callable[Args, Result]) -> Callable[Args, Result | None]:
    """A sweep that is still at work in this process is not begun beside itself: the second call does nothing.

    A sweep that waits for somebody else's server therefore holds one thread and not, round by round, all of them. What
    the second call would have found, the next round finds.
    """
    at_work = Lock()

    @wraps(job)
    def guarded(*args: Args.args, **kwargs: Args.kwargs) -> Result | None:
        if not at_work.acquire(blocking=False):
            return None
        try:
            return job(*args, **kwargs)
        finally:
            at_work.release()

    return guarded
