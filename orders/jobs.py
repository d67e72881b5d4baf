"""Handing a job to Celery. The database is the truth: a job that the broker did not take is found by a sweeper."""

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import structlog
from celery.app.task import Task
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

Args = ParamSpec("Args")
Result = TypeVar("Result")
log = structlog.get_logger(__name__)


def enqueue_on_commit(task: "Task[Any, Any]", *args: Any) -> None:
    """Send `task` once the surrounding transaction is committed; a broker that is away is logged, not raised."""

    def send() -> None:
        try:
            task.apply_async(args, retry=False)
        except (OperationalError, RedisError, OSError) as error:
            log.warning("job.not_sent", task=task.name, args=args, error=str(error))

    transaction.on_commit(send)


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
