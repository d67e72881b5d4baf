"""The web process's one ear at Redis: it reads what is told of all conversations, and gives each open page its own.

One read names one stream, however many pages are open: to name a stream for each of them cost more than everything
else that a page does. What is being written is known here, so that a page that comes in the middle of a reply is given
its beginning. When Redis breaks, every page is told, looks at the database, and comes back.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import redis.asyncio
import redis.exceptions
from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from agent.draft_text import DraftText
from agent.events import DESK, TOLD_KEY

# Between two reads the next pieces gather, so that one answer brings those of many pages. Nobody notices that wait.
GATHER_SECONDS_PER_PAGE = 0.0005
LONGEST_GATHERING = 0.04
AT_ONCE = 1000
SLACK_SECONDS = 3
MOST_WAITING = 5000
LONGEST_TICK = 1.0
BROKEN = (redis.exceptions.RedisError, TimeoutError, OSError)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that was told: whose pages (`page`), the frame they are sent (`kind`, `text`, `number`; "" for what is
    no durable event), its data, and of which conversation the inbox hears (`desk`, "" for none).
    """

    page: str
    kind: str
    text: str
    data: dict[str, Any]
    number: str
    desk: str


def _told(fields: dict[str, str]) -> Told:
    get, text = fields.get, fields.get("data", "{}")
    return Told(get("page", ""), get("kind", ""), text, json.loads(text), get("id", ""), get(DESK, ""))


async def in_time(answer: Awaitable[T], seconds: float) -> T:
    """Raises TimeoutError: a connection that died quietly would be waited on for ever.

    The client's own limit is not used, because it can swallow the cancelling of a page that leaves (Python 3.11).
    """
    async with asyncio.timeout(seconds):
        return await answer


class Place:
    """One page's place at the ear: what has come for it since it was there, or why nothing comes any more."""

    def __init__(self) -> None:
        self._waiting: list[Told] = []
        self._broken: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._until = 0.0

    async def next(self, seconds: float) -> list[Told]:
        """What has come; nothing when the ear finds that `seconds` have passed. Raises what has broken the ear."""
        if not self._waiting and not self._broken:
            loop = asyncio.get_running_loop()
            self._waiter, self._until = loop.create_future(), loop.time() + seconds
            await self._waiter
        if self._broken:
            raise self._broken
        taken, self._waiting = self._waiting, []
        return taken

    def put(self, told: Told) -> None:
        self._waiting.append(told)
        self._wake()
        if len(self._waiting) > MOST_WAITING:
            self.end(TimeoutError("the page does not read what comes for it"))

    def end(self, error: BaseException) -> None:
        self._waiting.clear()
        self._broken = error
        self._wake()

    def look(self, now: float) -> None:
        """Wake a page that has waited long enough for nothing."""
        if now >= self._until:
            self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


@dataclass
class Known:
    """What is being written on pages of this key, and when something was last told to them, by the loop's clock."""

    draft: DraftText = field(default_factory=DraftText)
    told_at: float = 0.0


class Ear:
    """Of one event loop and one Redis. `look_seconds`: how long a read may bring nothing."""

    def __init__(self, url: str, look_seconds: float) -> None:
        self._look_seconds = look_seconds
        self._redis = redis.asyncio.Redis.from_url(
            url, decode_responses=True, socket_timeout=None, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
        )
        self._places: dict[str, set[Place]] = {}
        self._known: dict[str, Known] = {}
        self._reader: asyncio.Task[None] | None = None
        self._clock: asyncio.Task[None] | None = None
        self._caught_up: asyncio.Future[None] | None = None
        self.pages = 0

    async def join(self, page: str) -> tuple[Place, DraftText]:
        """A place that gets everything from now on, and what is being written now. Raises one of `BROKEN`."""
        if self._reader is None or self._caught_up is None or self._reader.done():
            self._caught_up = asyncio.get_running_loop().create_future()
            self._reader = asyncio.ensure_future(self._read(self._caught_up))
        self._clock = self._clock or asyncio.ensure_future(self._tick())
        await asyncio.shield(self._caught_up)
        place = Place()
        self._places.setdefault(page, set()).add(place)
        known = self._known.get(page, Known()).draft
        return place, replace(known, ended=set(known.ended))

    def leave(self, page: str, place: Place) -> None:
        places = self._places.get(page, set())
        places.discard(place)
        if not places:
            self._places.pop(page, None)

    async def close(self) -> None:
        tasks = [task for task in (self._reader, self._clock) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._redis.aclose()

    async def _tick(self) -> None:
        """One clock for the waits of all pages: to set one for every piece costs more than the piece. And what was
        written longer ago than a turn may take is forgotten.
        """
        while True:
            await asyncio.sleep(min(self._look_seconds / 10, LONGEST_TICK))
            now = asyncio.get_running_loop().time()
            for places in self._places.values():
                for place in places:
                    place.look(now)
            self.forget(before=now - settings.AGENT_MAX_TURN_SECONDS)

    def forget(self, *, before: float) -> None:
        """Of whom nothing was told since then, nothing is being written."""
        self._known = {page: known for page, known in self._known.items() if known.told_at >= before}

    async def _read(self, caught_up: "asyncio.Future[None]") -> None:
        """First what Redis still has of the time that a reply takes, then whatever comes."""
        self._known = {}
        try:
            cursor = await self._a_turn_ago()
            while True:
                found = await self._answer(cursor, wait=caught_up.done())
                for number, fields in found:
                    self._hand_out(_told(fields))
                    cursor = number
                if len(found) < AT_ONCE:
                    if not caught_up.done():
                        caught_up.set_result(None)
                    await asyncio.sleep(min(self.pages * GATHER_SECONDS_PER_PAGE, LONGEST_GATHERING))
        except Exception as error:
            # Whatever it was: pages that wait for a reader that is gone would hear nothing any more.
            broken = ConnectionError(str(error))
            if not caught_up.done():
                caught_up.set_exception(broken)
            for places in self._places.values():
                for place in places:
                    place.end(broken)

    async def _a_turn_ago(self) -> str:
        """A place in the stream, by the clock that numbers it: no reply that is being written was begun before."""
        seconds, _ = await in_time(self._redis.time(), self._look_seconds + SLACK_SECONDS)
        return f"{max(int(seconds) - settings.AGENT_MAX_TURN_SECONDS, 0)}000-0"

    async def _answer(self, cursor: str, *, wait: bool) -> list[tuple[str, dict[str, str]]]:
        block = max(int(self._look_seconds * 1000), 1) if wait else None
        asked = self._redis.xread({TOLD_KEY: cursor}, count=AT_ONCE, block=block)
        answer: Any = await in_time(asked, self._look_seconds + SLACK_SECONDS)
        if not answer:
            return []
        # A list of pairs, or a dict of lists, by protocol version.
        found: list[tuple[str, dict[str, str]]] = answer[TOLD_KEY][0] if isinstance(answer, dict) else answer[0][1]
        return found

    def _hand_out(self, told: Told) -> None:
        if told.page:
            known = self._known.setdefault(told.page, Known())
            known.told_at = asyncio.get_running_loop().time()
            known.draft.take(told.kind, told.data)
            for place in self._places.get(told.page, ()):
                place.put(told)
        if told.desk:
            for place in self._places.get(DESK, ()):
                place.put(told)


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
