"""6 tell: what the page hears, in order.

Durable events are rows, numbered per conversation under the conversation's row lock, so that numbers are committed in
order and without gaps. Redis only carries them to open pages faster, together with ephemeral events (pieces of a text
that is still being written) which nobody needs once the message is there. All go into one stream, which every web
process reads for all its pages (`agent/ears.py`).
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import redis
import structlog
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from psycopg.types.json import Jsonb
from redis.backoff import NoBackoff
from redis.retry import Retry

from agent import plain
from agent.models import Conversation, ConversationEvent
from agent.save_points import reached
from orders.models import AuditEvent

log = structlog.get_logger(__name__)
TOLD_KEY = "refund-desk:told"
# Far more than a web process is ever behind, and no more than an hour of it: what was said stands in the database.
KEPT_IN_REDIS = 20_000
KEPT_SECONDS = 3600
# What the inbox of staff hears: which conversations have something new, and nothing of what.
DESK = "desk"
TOLD_TO_DESK = frozenset({"message", "card", "status", "turn", "conversation"})
# Far more than a worker has threads: each that shows a reply keeps one.
CONNECTIONS = 600


def carrier() -> "redis.Redis":
    """The process's Redis client for publishing."""
    return _client(settings.REDIS_URL)


@cache
def _client(url: str) -> "redis.Redis":
    # One more try for a connection that a restart has cut; a Redis that is away may not keep a customer waiting.
    retry = Retry(NoBackoff(), 1)
    # Whoever finds none free waits for one, and loses nothing.
    pool = redis.BlockingConnectionPool.from_url(
        url, max_connections=CONNECTIONS, timeout=2, socket_timeout=2, socket_connect_timeout=1, retry=retry
    )
    return redis.Redis.from_pool(pool)


def page_key(order_id: int, customer_id: int) -> str:
    """Pages listen per order and customer: the next conversation then needs no new connection."""
    return f"{order_id}:{customer_id}"


@contextmanager
def saving(save: str) -> Iterator[None]:
    """The two points of a transaction at which a test may kill (`agent/save_points.py`). Inside `atomic`."""
    if save:
        # Registered before anything else is: a process that dies here has committed, and told nobody.
        transaction.on_commit(lambda: reached(f"{save}.after"))
    yield
    if save:
        reached(f"{save}.before")


@contextmanager
def writing(conversation_id: int, save: str = "") -> Iterator[Conversation]:
    """A transaction that holds the conversation's row: the first lock of everything the agent's side writes.

    `save` is its name in `agent/save_points.py`.
    """
    with transaction.atomic(), saving(save):
        conversation = locked("talk.id = %s", conversation_id)
        if conversation is None:
            raise Conversation.DoesNotExist(conversation_id)
        yield conversation


def locked(condition: str, *values: Any) -> Conversation | None:
    """The conversation (`talk`) that meets a condition in SQL; this transaction holds its row from then on."""
    return plain.one(Conversation, f"{_ALL_OF_TALK} where {condition} for no key update of talk", *values)


_ALL_OF_TALK = "select talk.* from agent_conversation talk"


def add(
    conversation: Conversation, kind: str, data: Mapping[str, Any], *, tells: AuditEvent | None = None
) -> ConversationEvent:
    """Write a durable event; call it inside `writing`. Open pages are told on commit.

    `tells` is the move it tells of: a second event for the same move is refused by the database.
    """
    content = dict(data)
    with connection.cursor() as cursor:
        values: list[Any] = [conversation.pk, kind, Jsonb(content), tells.pk if tells else None, timezone.now()]
        cursor.execute(_NEXT_EVENT, values)
        number, pk = cursor.fetchone()
    conversation.last_event = number
    event = ConversationEvent(pk=pk, conversation=conversation, number=number, kind=kind, data=content, tells=tells)
    told = _for_page(conversation, kind, content) | {"id": event_id(event)}
    if kind in TOLD_TO_DESK:
        told[DESK] = str(conversation.pk)
    transaction.on_commit(lambda: _publish(told))
    return event


def _for_page(conversation: Conversation, kind: str, data: Mapping[str, Any]) -> dict[str, str]:
    page = page_key(conversation.order_id, conversation.customer_id)
    return {"page": page, "kind": kind, "data": json.dumps(data, ensure_ascii=False)}


# In one statement, because a turn tells of several things: to count, to read the count and to insert were three.
_NEXT_EVENT = """
with next as (update agent_conversation set last_event = last_event + 1 where id = %s returning id, last_event)
insert into agent_conversationevent (conversation_id, number, kind, data, tells_id, created_at)
select id, last_event, %s, %s, %s::bigint, %s from next
returning number, id
"""


def tell_now(
    conversation: Conversation, kind: str, data: Mapping[str, Any], *, by: Callable[[], "redis.Redis"] = carrier
) -> bool:
    """Publish an ephemeral event (draft, delta, draft_dropped). A page that misses it gets the message later.

    False: Redis did not take it. `by` gives the client.
    """
    return _publish(_for_page(conversation, kind, data), by)


def tell_desk(conversation_id: int) -> None:
    """Tell the inbox of staff, and no customer, that something about the conversation is new. On commit."""
    transaction.on_commit(lambda: _publish({DESK: str(conversation_id)}))


def event_id(event: ConversationEvent) -> str:
    """What a browser sends back as Last-Event-ID: the conversation and the number in it."""
    return f"{event.conversation_id}-{event.number}"


def _publish(told: dict[str, str], by: Callable[[], "redis.Redis"] = carrier) -> bool:
    fields = [part for field in told.items() for part in field]
    try:
        client = by()
        client.execute_command("XADD", TOLD_KEY, "MAXLEN", "~", KEPT_IN_REDIS, "*", *fields)  # type: ignore[no-untyped-call]
        _life.lengthen(client)
    except redis.RedisError as error:
        # Pages poll the database while Redis is away: a durable event arrives late, never not at all.
        log.warning("event.not_published", kind=told.get("kind", DESK), error=str(error))
        return False
    return True


class _Life:
    """The stream's: it ends by itself an hour after the last word, also where no sweeper runs. Told now and then."""

    EVERY_SECONDS: Final = 60

    def __init__(self) -> None:
        self._due = 0.0

    def lengthen(self, client: "redis.Redis") -> None:
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + self.EVERY_SECONDS
            client.expire(TOLD_KEY, KEPT_SECONDS)


_life = _Life()


def forget_old() -> None:
    """Take out of Redis what was told an hour ago: it keeps no conversations. The sweeper does it every round."""
    try:
        seconds, _ = carrier().time()
        carrier().xtrim(TOLD_KEY, minid=f"{seconds - KEPT_SECONDS}000-0", approximate=False)
    except redis.RedisError as error:
        log.warning("event.not_forgotten", error=str(error))
