"""When the sweeper last sent a job to a turn or a copilot's run that nobody works on: kept in Redis, as the jobs are.

So what is lost with Redis is lost together, and where Redis is away nothing is held back.
"""

import time
from collections.abc import Sequence
from typing import Final, TypeVar

import redis
import structlog

from agent.events import carrier
from agent.models import CopilotThread, Turn

log = structlog.get_logger(__name__)
# A job that was sent again may be lost as well: with `SWEEP_SECONDS` its turn is found again within 30 seconds.
NOT_BEFORE_SECONDS: Final = 15
KEPT_SECONDS: Final = 600
NEVER: Final = 0.0


Row = TypeVar("Row", Turn, CopilotThread)


def key(turn: Turn | CopilotThread) -> str:
    """Of this turn, and of this time that it waits for a worker: queued anew or lost anew, it is another one."""
    since = turn.lease_until or turn.queued_at
    kind = "turn" if isinstance(turn, Turn) else "copilot"
    return f"refund-desk:sent-again:{kind}:{turn.pk}:{turn.state}:{since.timestamp() if since else NEVER}"


def times(turns: Sequence[Row]) -> dict[int, float] | None:
    """By turn, when a job was last sent again, in seconds since 1970 or `NEVER`. None: Redis does not say."""
    if not turns:
        return {}
    try:
        kept = carrier().mget([key(turn) for turn in turns])
    except redis.RedisError as error:
        log.warning("sent_again.not_read", error=str(error))
        return None
    return {turn.pk: float(value or NEVER) for turn, value in zip(turns, kept, strict=True)}


def note(turn: Turn | CopilotThread) -> None:
    """A job has just been sent again. After it was sent: a sweeper that dies in between sends one too many."""
    try:
        carrier().set(key(turn), time.time(), ex=KEPT_SECONDS)
    except redis.RedisError as error:
        log.warning("sent_again.not_kept", key=key(turn), error=str(error))
