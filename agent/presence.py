"""When the customer last had the page before their eyes: the page says so itself, while it is visible.

An event stream that is open says nothing: a tab in the background, a laptop that sleeps and a phone in a pocket keep
theirs. One key at Redis per order and customer; a Redis that has forgotten it, or is away, knows of nobody, and then a
customer is rather told once too often than not at all. A page without JavaScript says nothing and counts as not there.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import redis
import structlog
from django.conf import settings
from django.utils import timezone

from agent.events import carrier

log = structlog.get_logger(__name__)
# A visible page says so every 20 seconds (static/js/chat/presence.js); one word may be late, and one may be lost.
SAID_AT_LEAST_EVERY: Final = timedelta(seconds=45)
# Longer than an e-mail is tried for.
KEPT: Final = timedelta(days=1)


def _key(order_id: int, customer_id: int) -> str:
    return f"refund-desk:seen:{order_id}:{customer_id}"


def seen(order_id: int, customer_id: int) -> None:
    """The customer has the page about the order before their eyes, or has had until this moment."""
    try:
        carrier().set(_key(order_id, customer_id), timezone.now().timestamp(), ex=KEPT)
    except redis.RedisError as error:
        log.warning("presence.not_noted", error=type(error).__name__)


def last_seen(order_id: int, customer_id: int) -> datetime | None:
    """When the page was last visible. None: not within a day, or Redis does not know."""
    try:
        said = carrier().get(_key(order_id, customer_id))
    except redis.RedisError as error:
        log.warning("presence.not_known", error=type(error).__name__)
        return None
    return datetime.fromtimestamp(float(said), UTC) if isinstance(said, bytes) else None


def away_from(seen_at: datetime | None) -> datetime | None:
    """When somebody who was last seen then counts as having left; None: they have left.

    `CUSTOMER_MAIL_AFTER_SECONDS` is what that takes, and no less than a visible page may keep silent for.
    """
    if seen_at is None:
        return None
    away = seen_at + max(timedelta(seconds=settings.CUSTOMER_MAIL_AFTER_SECONDS), SAID_AT_LEAST_EVERY)
    return away if away > timezone.now() else None
