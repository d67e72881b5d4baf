"""When the customer last had the page before their eyes, and what it showed: the page says so, while it is visible.

An event stream that is open says nothing: a tab in the background, a laptop that sleeps and a phone in a pocket keep
theirs. A page that is visible may show nothing new: its stream may have died, so it says how far it is, and is silent
where it has heard nothing of late. One key at Redis per order and customer; a Redis that has forgotten it, or is away,
knows of nobody, and then a customer is rather told once too often than not at all. A page without JavaScript says
nothing and counts as not there.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import redis
import structlog
from django.conf import settings
from django.utils import timezone

from agent.events import carrier
from agent.stream import Position, parse_event_id

log = structlog.get_logger(__name__)
# A visible page says so every 20 seconds (static/js/chat/presence.js); one word may be late, and one may be lost.
SAID_AT_LEAST_EVERY: Final = timedelta(seconds=45)
# Longer than an e-mail is tried for.
KEPT: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Look:
    """`at`: when the page was last visible. `shown`: the newest event that it had then; 0-0 where it had none."""

    at: datetime
    shown: Position


def _key(order_id: int, customer_id: int) -> str:
    return f"refund-desk:seen:{order_id}:{customer_id}"


def seen(order_id: int, customer_id: int, shown: Position) -> None:
    """The customer has the page about the order before their eyes, or has had until this moment."""
    look = f"{timezone.now().timestamp()} {shown.conversation_id}-{shown.number}"
    try:
        carrier().set(_key(order_id, customer_id), look, ex=KEPT)
    except redis.RedisError as error:
        log.warning("presence.not_noted", error=type(error).__name__)


def last_seen(order_id: int, customer_id: int) -> Look | None:
    """The last that the page has said of itself. None: nothing within a day, or Redis does not know."""
    try:
        said = carrier().get(_key(order_id, customer_id))
    except redis.RedisError as error:
        log.warning("presence.not_known", error=type(error).__name__)
        return None
    if not isinstance(said, bytes):
        return None
    at, _, shown = said.decode().partition(" ")
    return Look(datetime.fromtimestamp(float(at), UTC), parse_event_id(shown) or Position())


def away_from(look: Look | None) -> datetime | None:
    """When somebody who last looked then counts as having left; None: they have left.

    `CUSTOMER_MAIL_AFTER_SECONDS` is what that takes, and no less than a visible page may keep silent for.
    """
    if look is None:
        return None
    away = look.at + max(timedelta(seconds=settings.CUSTOMER_MAIL_AFTER_SECONDS), SAID_AT_LEAST_EVERY)
    return away if away > timezone.now() else None
