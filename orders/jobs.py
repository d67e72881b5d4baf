"""Handing a job to Celery. The database is the truth: a job that the broker did not take is found by a sweeper."""

from typing import Any

import structlog
from celery.app.task import Task
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)


def enqueue_on_commit(task: "Task[Any, Any]", *args: Any) -> None:
    """Send `task` once the surrounding transaction is committed; a broker that is away is logged, not raised."""

    def send() -> None:
        try:
            task.apply_async(args, retry=False)
        except (OperationalError, RedisError, OSError) as error:
            log.warning("job.not_sent", task=task.name, args=args, error=str(error))

    transaction.on_commit(send)
