"""The page's event stream: what the database has after a given event, then what Redis brings; no gap, no repeat.

Redis may be emptied or away at any moment: a number that is missing is read from the database, and so is everything
while nothing else tells. No database connection is held between two looks.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import structlog
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections

from agent import ears
from agent.draft_text import DraftText
from agent.ears import Ear, Place, Told
from agent.events import event_id, page_key
from agent.models import Conversation, ConversationEvent
from agent.states import ConversationState

log = structlog.get_logger(__name__)
LOOK_SECONDS = 15
WITHOUT_REDIS_SECONDS = 1
MAX_ID = 36  # two 64-bit numbers at most, so that no query can overflow
# An event and no comment: a page can hear it, and so notices when it hears nothing any more.
PING = b"event: ping\ndata: {}\n\n"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where a page is: the newest durable event it has."""

    conversation_id: int = 0
    number: int = 0

    def next_is(self, other: "Position") -> bool:
        return (other.conversation_id, other.number) == (self.conversation_id, self.number + 1)


def parse_event_id(value: str) -> Position | None:
    """`12-34` → position; None for anything that was never sent by us."""
    conversation, dash, number = value.partition("-")
    digits = (conversation + number).isascii() and conversation.isdigit() and number.isdigit()
    return Position(int(conversation), int(number)) if dash and digits and len(value) <= MAX_ID else None


def frame(kind: str, data: str, number: str = "") -> bytes:
    head = f"id: {number}\n" if number else ""
    return f"{head}event: {kind}\ndata: {data}\n\n".encode()


@dataclass
class Listener:
    """One open page: whose events, up to where, and its place at Redis (None: look at the database first)."""

    order_id: int
    customer_id: int
    position: Position
    place: Place | None = None
    draft: DraftText = field(default_factory=DraftText)
    checked_at: float = field(default_factory=time.monotonic)

    @property
    def key(self) -> str:
        return page_key(self.order_id, self.customer_id)


async def follow(
    *, order_id: int, customer_id: int, position: Position, may_stay: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    """Server-sent events until the reader leaves (which cancels it) or may not read any more.

    `may_stay` is asked again every `LOOK_SECONDS`: links are revoked and sessions end while a page is open.
    """
    page = Listener(order_id, customer_id, position)
    yield b"retry: 1000\n\n"
    async with ears.listening(settings.REDIS_URL, LOOK_SECONDS) as ear:
        try:
            while await _still_welcome(page, may_stay):
                try:
                    async for piece in _listen(ear, page):
                        yield piece
                except ears.BROKEN as error:
                    log.info("stream.without_redis", error=str(error))
                    _leave(ear, page)
                    async for piece in _from_database(page):
                        yield piece
                    yield PING
                    await asyncio.sleep(WITHOUT_REDIS_SECONDS)
        finally:
            _leave(ear, page)


def _leave(ear: Ear, page: Listener) -> None:
    if page.place is not None:
        ear.leave(page.key, page.place)
        page.place = None


async def _still_welcome(page: Listener, may_stay: Callable[[], Awaitable[bool]]) -> bool:
    if time.monotonic() - page.checked_at < LOOK_SECONDS:
        return True
    page.checked_at = time.monotonic()
    return await may_stay()


async def _listen(ear: Ear, page: Listener) -> AsyncIterator[bytes]:
    """One wait for Redis and what it brings; at the beginning, and whenever it brings nothing, the database."""
    if page.place is None:
        page.place, page.draft = await ear.join(page.key)
        async for piece in _from_database(page):
            yield piece
        if page.draft.text:
            yield frame("draft", _json({"draft": page.draft.key, "text": page.draft.text}))
    news = await page.place.next(LOOK_SECONDS)
    for told in news:
        sent = _from_told(told, page)
        if sent:
            yield sent
        elif sent is None:
            async for piece in _from_database(page):
                yield piece
    if not news:
        async for piece in _from_database(page):
            yield piece
        yield PING


def _from_told(told: Told, page: Listener) -> bytes | None:
    """What a page is sent of it, b"" for nothing; None: something is missing before it that the database has."""
    parsed = parse_event_id(told.number)
    if parsed is None:
        return frame(told.kind, told.text) if page.draft.take(told.kind, told.data) else b""
    if page.position.next_is(parsed):
        page.position = parsed
        page.draft.take(told.kind, told.data)
        return frame(told.kind, told.text, told.number)
    return None if parsed > page.position else b""


async def _from_database(page: Listener) -> AsyncIterator[bytes]:
    """Everything after the page's position; a draft whose message is among it is over."""
    for event in await sync_to_async(_events_after)(page.order_id, page.customer_id, page.position):
        page.position = Position(event.conversation_id, event.number)
        # These name their draft, or end any. Whether a turn's event came before or after a draft is not known here.
        if event.kind in {"message", "conversation"}:
            page.draft.take(event.kind, event.data)
        yield frame(event.kind, _json(event.data), event_id(event))


def _events_after(order_id: int, customer_id: int, position: Position) -> list[ConversationEvent]:
    """Later events of the conversation a page is in, and of those that came after it; else of the open one."""
    try:
        mine = Conversation.objects.filter(order_id=order_id, customer_id=customer_id)
        # A number that was never given out is as good as none.
        if mine.filter(pk=position.conversation_id, last_event__gte=position.number).exists():
            begun = ConversationEvent.objects.filter(
                conversation_id=position.conversation_id, number__gt=position.number
            )
            later = ConversationEvent.objects.filter(conversation__in=mine.filter(pk__gt=position.conversation_id))
            return [*begun.order_by("number"), *later.order_by("conversation_id", "number")]
        current = mine.filter(state=ConversationState.OPEN).first() or mine.order_by("-pk").first()
        return list(current.events.order_by("number")) if current else []
    finally:
        connections.close_all()


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)
