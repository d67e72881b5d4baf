"""6 tell: what the page hears, in order.

Durable events are rows, numbered per conversation under the conversation's row lock, so that numbers are committed in
order and without gaps. Redis only carries them to open pages faster, together with ephemeral events (pieces of a text
that is still being written) which nobody needs once the message is there.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import redis
import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F
from redis.backoff import NoBackoff
from redis.retry import Retry

from agent.models import Conversation, ConversationEvent
from orders.models import AuditEvent

log = structlog.get_logger(__name__)
KEPT_IN_REDIS = 2000
STREAM_LIFE_SECONDS = 24 * 3600


def carrier() -> "redis.Redis":
    """The process's Redis client for publishing."""
    return _client(settings.REDIS_URL)


@cache
def _client(url: str) -> "redis.Redis":
    # One more try for a connection that a restart has cut; a Redis that is away may not keep a customer waiting.
    retry = Retry(NoBackoff(), 1)
    return redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=1, retry=retry)


def stream_key(order_id: int, customer_id: int) -> str:
    """Pages listen per order and customer: the next conversation then needs no new connection."""
    return f"refund-desk:chat:{order_id}:{customer_id}"


@contextmanager
def writing(conversation_id: int) -> Iterator[Conversation]:
    """A transaction that holds the conversation's row: the first lock of everything the agent's side writes."""
    with transaction.atomic():
        yield Conversation.objects.select_for_update(no_key=True).get(pk=conversation_id)


def add(
    conversation: Conversation, kind: str, data: Mapping[str, Any], *, tells: AuditEvent | None = None
) -> ConversationEvent:
    """Write a durable event; call it inside `writing`. Open pages are told on commit.

    `tells` is the move it tells of: a second event for the same move is refused by the database.
    """
    Conversation.objects.filter(pk=conversation.pk).update(last_event=F("last_event") + 1)
    conversation.refresh_from_db(fields=["last_event"])
    event = ConversationEvent.objects.create(
        conversation=conversation, number=conversation.last_event, kind=kind, data=dict(data), tells=tells
    )
    key = stream_key(conversation.order_id, conversation.customer_id)
    fields = {"kind": kind, "id": event_id(event), "data": json.dumps(event.data, ensure_ascii=False)}
    transaction.on_commit(lambda: _publish(key, fields))
    return event


def tell_now(conversation: Conversation, kind: str, data: Mapping[str, Any]) -> None:
    """Publish an ephemeral event (draft, delta, draft_dropped). A page that misses it gets the message later."""
    key = stream_key(conversation.order_id, conversation.customer_id)
    _publish(key, {"kind": kind, "data": json.dumps(dict(data), ensure_ascii=False)})


def event_id(event: ConversationEvent) -> str:
    """What a browser sends back as Last-Event-ID: the conversation and the number in it."""
    return f"{event.conversation_id}-{event.number}"


def _publish(key: str, fields: dict[str, str]) -> None:
    try:
        with carrier().pipeline(transaction=False) as pipe:
            pipe.xadd(key, fields, maxlen=KEPT_IN_REDIS, approximate=True)  # type: ignore[arg-type]
            pipe.expire(key, STREAM_LIFE_SECONDS)
            pipe.execute()
    except redis.RedisError as error:
        # Pages poll the database while Redis is away: a durable event arrives late, never not at all.
        log.warning("event.not_published", stream=key, kind=fields["kind"], error=str(error))
