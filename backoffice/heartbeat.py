"""A worker's sign of life: its name in Redis, per queue, with when it was last heard of; it fades unless renewed.

It is a step of Celery's consumer, not a thread of its own: a worker that has lost its broker stops it too.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

import redis
import structlog
from celery import bootsteps
from django.conf import settings

EVERY_SECONDS = 4.0
FADES_AFTER_SECONDS = 15
log = structlog.get_logger(__name__)


def key(queue: str) -> str:
    """A sorted set: the workers of a queue by when they were last heard of, in seconds of the clock of Redis."""
    return f"refund-desk:workers:{queue}"


def client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1.5, socket_connect_timeout=1.5)


@cache
def _of_this_worker() -> redis.Redis:
    """To make a client takes longer than what it is asked every few seconds."""
    return client()


def beat(queues: Iterable[str], worker: str) -> None:
    """Say once that this worker consumes these queues. A Redis that is away is logged: the next beat tries again."""
    try:
        connection = _of_this_worker()
        now = _clock(connection)
        pipe = connection.pipeline(transaction=False)
        for queue in queues:
            pipe.zadd(key(queue), {worker: now})
            pipe.zremrangebyscore(key(queue), "-inf", now - FADES_AFTER_SECONDS)
            pipe.expire(key(queue), FADES_AFTER_SECONDS)
        pipe.execute()
    except redis.RedisError as error:
        log.warning("worker.heartbeat_not_written", error=str(error))


def fade(queues: Iterable[str], worker: str) -> None:
    """Say that this worker goes; those that stay are still there."""
    try:
        pipe = _of_this_worker().pipeline(transaction=False)
        for queue in queues:
            pipe.zrem(key(queue), worker)
        pipe.execute()
    except redis.RedisError as error:
        log.warning("worker.heartbeat_not_ended", error=str(error))


def workers(connection: redis.Redis, queues: Iterable[str]) -> dict[str, int]:
    """How many workers of each queue have lately been heard of. Raises `redis.RedisError`."""
    queues = list(queues)
    oldest = _clock(connection) - FADES_AFTER_SECONDS
    pipe = connection.pipeline(transaction=False)
    for queue in queues:
        pipe.zcount(key(queue), oldest, "+inf")
    return dict(zip(queues, pipe.execute(), strict=True))


def _clock(connection: redis.Redis) -> float:
    """One clock for all machines."""
    seconds, microseconds = connection.time()
    return float(seconds) + microseconds / 1_000_000


class Heartbeat(bootsteps.StartStopStep):
    requires = ("celery.worker.consumer.tasks:Tasks",)
    entry: Any = None
    queues: tuple[str, ...] = ()
    worker: str = ""

    def start(self, parent: Any) -> None:
        self.queues = tuple(queue.name for queue in parent.task_consumer.queues)
        self.worker = parent.hostname
        beat(self.queues, self.worker)
        self.entry = parent.timer.call_repeatedly(EVERY_SECONDS, beat, (self.queues, self.worker))

    def stop(self, parent: Any) -> None:
        if self.entry is not None:
            self.entry.cancel()
            self.entry = None
            fade(self.queues, self.worker)
