"""The web process's one ear at Redis: it reads the streams of all open pages over one connection and hands them out.

A connection and a wait of its own for every page would cost more than everything else a page does. Pages stand where
they stand: each has its own cursor, and leaves out what it has. When Redis breaks, every page is told, looks at the
database, and comes back.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import redis.asyncio
import redis.exceptions
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

# Between two reads the next pieces gather, so that one answer brings those of many pages: a read names the streams of
# all of them, and its cost grows with their number. Nobody notices so short a wait.
GATHER_SECONDS_PER_PAGE = 0.0005
LONGEST_GATHERING = 0.05
AT_ONCE = 500
SLACK_SECONDS = 3
WAKING_SECONDS = 60
CONNECTIONS_FOR_ASKING = 8
MOST_WAITING = 5000
BEGINNING = "0-0"
Entry = tuple[str, dict[str, str]]
BROKEN = (redis.exceptions.RedisError, TimeoutError, OSError)
T = TypeVar("T")


async def in_time(answer: Awaitable[T], seconds: float) -> T:
    """Raises TimeoutError: a connection that died quietly would be waited on for ever.

    The client's own limit is not used, because it can swallow the cancelling of a page that leaves (Python 3.11).
    """
    async with asyncio.timeout(seconds):
        return await answer


def _order(entry_id: str) -> tuple[int, int]:
    milliseconds, _, number = entry_id.partition("-")
    return int(milliseconds), int(number)


def _decoded(rows: Any) -> list[Entry]:
    return [
        (entry_id.decode(), {name.decode(): value.decode() for name, value in fields.items()})
        for entry_id, fields in rows
    ]


class Place:
    """One page's place at a stream: what has come for it since `cursor`, or why nothing comes any more."""

    def __init__(self, cursor: str) -> None:
        self.cursor = cursor
        self._waiting: deque[Entry] = deque()
        self._something = asyncio.Event()
        self._broken: BaseException | None = None

    async def next(self, seconds: float) -> list[Entry]:
        """What has come, at the latest after `seconds`. Raises what has broken the ear."""
        try:
            await in_time(self._something.wait(), seconds)
        except TimeoutError:
            return []
        if self._broken:
            raise self._broken
        self._something.clear()
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    def put(self, entries: list[Entry]) -> None:
        at = _order(self.cursor)
        fresh = [entry for entry in entries if _order(entry[0]) > at]
        if not fresh:
            return
        self.cursor = fresh[-1][0]
        self._waiting.extend(fresh)
        self._something.set()
        if len(self._waiting) > MOST_WAITING:
            self.end(TimeoutError("the page does not read what comes for it"))

    def end(self, error: BaseException) -> None:
        self._waiting.clear()
        self._broken = error
        self._something.set()


class Ear:
    """Of one event loop and one Redis. `look_seconds`: how long a read may bring nothing."""

    def __init__(self, url: str, look_seconds: float) -> None:
        self._look_seconds = look_seconds
        once = Retry(NoBackoff(), 0)
        self._reading = redis.asyncio.Redis.from_url(url, socket_timeout=None, socket_connect_timeout=1, retry=once)
        pool = redis.asyncio.BlockingConnectionPool.from_url(
            url, max_connections=CONNECTIONS_FOR_ASKING, timeout=None, socket_connect_timeout=1, retry=once
        )
        self._asking = redis.asyncio.Redis.from_pool(pool)
        self._places: dict[str, set[Place]] = {}
        # A stream that only wakes the reader, so that a page that comes does not wait for the end of a read.
        self._bell = f"refund-desk:ear:{secrets.token_hex(8)}"
        self._cursors: dict[str, str] = {self._bell: BEGINNING}
        self._reader: asyncio.Task[None] | None = None
        self.pages = 0

    async def so_far(self, key: str) -> list[Entry]:
        """All that Redis still has of a stream. Raises one of `BROKEN`."""
        return _decoded(await in_time(self._asking.xrange(key), self._look_seconds + SLACK_SECONDS))

    async def join(self, key: str, cursor: str) -> Place:
        """A place that gets everything after `cursor`. Raises one of `BROKEN`."""
        place = Place(cursor)
        self._places.setdefault(key, set()).add(place)
        at = self._cursors.get(key, cursor)
        # Another page may be further on already: what lies between is read once more, and left out by whoever has it.
        self._cursors[key] = min(at, cursor, key=_order)
        try:
            if self._reader is None or self._reader.done():
                self._reader = asyncio.ensure_future(self._read())
            elif at != self._cursors[key] or len(self._places[key]) == 1:
                await in_time(self._ring(), self._look_seconds + SLACK_SECONDS)
        except BaseException:
            self.leave(key, place)
            raise
        return place

    def leave(self, key: str, place: Place) -> None:
        places = self._places.get(key, set())
        places.discard(place)
        if not places:
            self._places.pop(key, None)
            self._cursors.pop(key, None)

    async def close(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        await self._reading.aclose()
        await self._asking.aclose()
        await self._asking.connection_pool.aclose()

    async def _ring(self) -> None:
        async with self._asking.pipeline(transaction=False) as pipe:
            pipe.xadd(self._bell, {"wake": "up"}, maxlen=1)
            pipe.expire(self._bell, WAKING_SECONDS)
            await pipe.execute()

    async def _read(self) -> None:
        try:
            while True:
                asked = dict(self._cursors)
                self._hand_out(asked, await self._answer(asked))
                await asyncio.sleep(min(self.pages * GATHER_SECONDS_PER_PAGE, LONGEST_GATHERING))
        except Exception as error:
            # Whatever it was: pages that wait for a reader that is gone would hear nothing any more.
            for places in self._places.values():
                for place in places:
                    place.end(ConnectionError(str(error)))

    async def _answer(self, asked: dict[str, str]) -> dict[str, list[Entry]]:
        streams: dict[Any, Any] = dict(asked)
        waiting = self._reading.xread(streams, count=AT_ONCE, block=max(int(self._look_seconds * 1000), 1))
        answer: Any = await in_time(waiting, self._look_seconds + SLACK_SECONDS)
        if not answer:
            return {}
        # A list of pairs, or a dict of lists, by protocol version.
        rows = {key: found[0] for key, found in answer.items()} if isinstance(answer, dict) else dict(answer)
        return {key.decode(): _decoded(found) for key, found in rows.items()}

    def _hand_out(self, asked: dict[str, str], answer: dict[str, list[Entry]]) -> None:
        for key, entries in answer.items():
            # A page has joined further back meanwhile: the next read begins there, so that nobody gets them in
            # the wrong order.
            if self._cursors.get(key) != asked[key]:
                continue
            self._cursors[key] = entries[-1][0]
            for place in list(self._places.get(key, ())):
                place.put(entries)


_ears: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Ear]]" = WeakKeyDictionary()


@asynccontextmanager
async def listening(url: str, look_seconds: float) -> AsyncIterator[Ear]:
    """The ear of this process, opened for the first page and closed behind the last."""
    ears = _ears.setdefault(asyncio.get_running_loop(), {})
    ear = ears.get(url) or ears.setdefault(url, Ear(url, look_seconds))
    ear.pages += 1
    try:
        yield ear
    finally:
        ear.pages -= 1
        if not ear.pages:
            del ears[url]
            await ear.close()
