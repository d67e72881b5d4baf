"""A worker's sign of life: a key per queue in Redis that fades unless a consumer keeps renewing it.

It is a step of Celery's consumer, not a thread of its own: a worker that has lost its broker stops it too.
"""

from collections.abc import Iterable
from typing import Any

import redis
import structlog
from celery import bootsteps
from django.conf import settings

EVERY_SECONDS = 4.0
FADES_AFTER_SECONDS = 15
log = structlog.get_logger(__name__)


def key(queue: str) -> str:
    return f"refund-desk:worker:{queue}"


def client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1.5, socket_connect_timeout=1.5)


def beat(queues: Iterable[str]) -> None:
    """Say once that somebody consumes these queues. A Redis that is away is logged: the next beat tries again."""
    try:
        with client() as connection:
            for queue in queues:
                connection.set(key(queue), "alive", ex=FADES_AFTER_SECONDS)
    except redis.RedisError as error:
        log.warning("worker.heartbeat_not_written", error=str(error))


def fade(queues: Iterable[str]) -> None:
    """Say that this consumer goes; others of the same queue say within seconds that they are still there."""
    try:
        with client() as connection:
            connection.delete(*[key(queue) for queue in queues])
    except redis.RedisError as error:
        log.warning("worker.heartbeat_not_ended", error=str(error))


class Heartbeat(bootsteps.StartStopStep):
    requires = ("celery.worker.consumer.tasks:Tasks",)
    entry: Any = None
    queues: tuple[str, ...] = ()

    def start(self, parent: Any) -> None:
        self.queues = tuple(queue.name for queue in parent.task_consumer.queues)
        beat(self.queues)
        self.entry = parent.timer.call_repeatedly(EVERY_SECONDS, beat, (self.queues,))

    def stop(self, parent: Any) -> None:
        if self.entry is not None:
            self.entry.cancel()
            self.entry = None
            fade(self.queues)
