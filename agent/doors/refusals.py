"""Tokens that open nothing, and orders that a token does not open: counted by reason, with a line in the log.

Anybody may send a wrong token, as often as they like: so it is counted in Redis, and never writes to the database. What
was shown is told to nobody, neither whole nor in part; a token of ours is named by its number.
"""

from enum import StrEnum
from typing import Final

import redis
import structlog

from agent.events import carrier

log = structlog.get_logger(__name__)
KEY: Final = "refund-desk:tokens-refused"


class Reason(StrEnum):
    """Why. The last two tell of orders: whoever asks hears the same for both."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    REVOKED = "revoked"
    ACCOUNT = "account"
    FOREIGN_ORDER = "foreign_order"
    NO_SUCH_ORDER = "no_such_order"


def note(reason: Reason, *, token_id: int | None = None) -> None:
    """Counts this one. While Redis is away it is only logged."""
    log.warning("token.refused", reason=reason, tool_token_id=token_id)
    try:
        carrier().hincrby(KEY, reason, 1)
    except redis.RedisError as error:
        log.warning("token.refusal_not_counted", error=type(error).__name__)


def counted(connection: redis.Redis) -> dict[str, int]:
    """How often each reason was noted, since Redis was empty. Raises `redis.RedisError`."""
    kept = connection.hmget(KEY, list(Reason))
    return {str(reason): int(number or 0) for reason, number in zip(Reason, kept, strict=True)}
