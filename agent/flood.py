"""At most so many of one thing a minute from one customer, counted in Redis. While Redis is away nobody is kept out."""

from typing import Final

import redis
import structlog

from agent.events import carrier

log = structlog.get_logger(__name__)
MINUTE: Final = 60


def seconds_to_wait(what: str, customer_id: int, *, most: int) -> int:
    """Counts this one. 0 where it is within `most` a minute, else the seconds until the next may come.

    The minute begins with the first of them; `what` names what is counted, like `said`.
    """
    key = f"refund-desk:{what}:{customer_id}"
    try:
        with carrier().pipeline() as pipe:
            pipe.incr(key)
            pipe.expire(key, MINUTE, nx=True)
            pipe.ttl(key)
            count, _, left = pipe.execute()
    except redis.RedisError as error:
        log.warning("limit.not_counted", what=what, error=type(error).__name__)
        return 0
    return max(int(left), 1) if count > most else 0
