"""How far staff have read, and who of them has a conversation open now.

How far is a row, because it has to outlive a restart. Who looks now is known to Redis alone: when Redis does not know,
nobody is shown, and nothing else depends on it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import redis
import structlog
from django.contrib.auth.models import User
from django.utils import timezone

from agent.events import carrier
from agent.models import Conversation, ReadMark
from orders.actors import Actor

log = structlog.get_logger(__name__)
# The page says every few seconds that it is still open; one word may be late.
OPEN_FOR: Final = timedelta(seconds=12)
# Two members of a row in Redis: whoever types is there as well.
TYPING: Final = "typing:"


@dataclass(frozen=True, slots=True)
class Colleague:
    """Somebody else who has the conversation open; `types`: with words in the answer that are not sent yet."""

    name: str
    types: bool


def mark(*, conversation: Conversation, reader: User, read_to: int) -> None:
    """What is up to this message has stood before the reader. A mark only moves forward."""
    now = timezone.now()
    moved = ReadMark.objects.filter(conversation=conversation, staff=reader, read_to__lt=read_to)
    if moved.update(read_to=read_to, read_at=now):
        return
    mark = ReadMark(conversation=conversation, staff=reader, read_to=read_to, read_at=now)
    # Two pages of one person at once: the first one's row stays, and is moved by the next word.
    ReadMark.objects.bulk_create([mark], ignore_conflicts=True)


def marks(conversation: Conversation) -> list[ReadMark]:
    """Who has read how far, the latest reader first."""
    return list(conversation.read_marks.select_related("staff").order_by("-read_at"))


def _key(conversation_id: int) -> str:
    return f"refund-desk:open:{conversation_id}"


def looks(*, conversation_id: int, reader: Actor, types: bool) -> list[Colleague]:
    """Note that the reader has it open, and tell who else has."""
    assert reader.user is not None
    me, now = str(reader.user.pk), timezone.now().timestamp()
    key = _key(conversation_id)
    try:
        with carrier().pipeline(transaction=False) as pipe:
            pipe.zremrangebyscore(key, 0, now - OPEN_FOR.total_seconds())
            pipe.zadd(key, {me: now, **({f"{TYPING}{me}": now} if types else {})})
            pipe.expire(key, OPEN_FOR)
            pipe.zrange(key, 0, -1)
            members = [each.decode() for each in pipe.execute()[-1]]
    except redis.RedisError as error:
        log.warning("reading.not_known", error=type(error).__name__)
        return []
    return _colleagues(members, me)


def _colleagues(members: Iterable[str], me: str) -> list[Colleague]:
    typing = {each.removeprefix(TYPING) for each in members if each.startswith(TYPING)}
    here = {each for each in members if not each.startswith(TYPING)} - {me}
    if not here:
        return []
    found = User.objects.filter(pk__in=[int(each) for each in here]).order_by("username")
    return [Colleague(each.get_full_name() or each.username, str(each.pk) in typing) for each in found]
