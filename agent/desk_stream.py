"""What the inbox of staff hears, over the process's one ear at Redis: which conversations have something new.

An inbox that hears of news asks for its list again, so nothing is lost with a stream: it begins with news, and while
Redis is away it brings news every few seconds.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import structlog
from django.conf import settings

from agent import ears, stream
from agent.ears import Place, Told
from agent.events import DESK

log = structlog.get_logger(__name__)
# One answer to many events of the same moment.
GATHER_SECONDS = 0.5
WITHOUT_REDIS_SECONDS = 5


def news(told: list[Told]) -> bytes:
    """Which conversations; none where that is not known."""
    numbers = sorted({int(each.desk) for each in told})
    return stream.frame("news", json.dumps({"conversations": numbers}))


async def follow(*, may_stay: Callable[[], Awaitable[bool]]) -> AsyncIterator[bytes]:
    """Server-sent events until the reader leaves, or may not read any more: that is asked every `LOOK_SECONDS`."""
    yield b"retry: 1000\n\n"
    place: Place | None = None
    asked_at = time.monotonic()
    async with ears.listening(settings.REDIS_URL, stream.LOOK_SECONDS) as ear:
        try:
            while True:
                if time.monotonic() - asked_at >= stream.LOOK_SECONDS:
                    asked_at = time.monotonic()
                    if not await may_stay():
                        return
                try:
                    if place is None:
                        place, _ = await ear.join(DESK)
                        # What was told while nobody listened here.
                        yield news([])
                    entries = await place.next(stream.LOOK_SECONDS)
                except ears.BROKEN as error:
                    log.info("stream.without_redis", error=str(error))
                    if place is not None:
                        ear.leave(DESK, place)
                        place = None
                    yield news([])
                    await asyncio.sleep(WITHOUT_REDIS_SECONDS)
                    continue
                yield news(entries) if entries else stream.PING
                await asyncio.sleep(GATHER_SECONDS)
        finally:
            if place is not None:
                ear.leave(DESK, place)
