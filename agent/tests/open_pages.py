"""Pages that are open: what has reached them over their event stream."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from asgiref.sync import sync_to_async

from agent import events, stream
from agent.stream import Position, parse_event_id
from agent.tests.helpers import talk
from orders.models import Order

Frame = tuple[str, str, Any]


def parsed(chunk: bytes) -> Frame | None:
    """Id, event and data of a frame; None for a comment."""
    fields = dict(line.split(": ", 1) for line in chunk.decode().strip().splitlines() if not line.startswith(":"))
    return (fields.get("id", ""), fields["event"], json.loads(fields["data"])) if "event" in fields else None


class Page:
    """An open page: what it has received so far."""

    def __init__(self, source: AsyncIterator[bytes]) -> None:
        self.source, self.frames, self.pings = source, list[Frame](), 0

    async def until(self, enough: Callable[["Page"], bool], seconds: float = 10) -> "Page":
        async with asyncio.timeout(seconds):
            while not enough(self):
                chunk = await anext(self.source)
                frame = parsed(chunk)
                self.pings += chunk == stream.PING
                if frame and chunk != stream.PING:
                    self.frames.append(frame)
        return self

    async def has(self, last_id: str) -> "Page":
        return await self.until(lambda page: bool(page.frames) and page.ids()[-1:] == [last_id])

    async def pinged(self, times: int = 1) -> "Page":
        """Until everything there was has been sent and the page is merely kept alive."""
        wanted = self.pings + times
        return await self.until(lambda page: page.pings >= wanted)

    def ids(self) -> list[str]:
        return [number for number, _, _ in self.frames if number]

    def kinds(self) -> list[str]:
        return [kind for _, kind, _ in self.frames]


async def always() -> bool:
    return True


@asynccontextmanager
async def open_page(
    order: Order, last_event_id: str = "", *, may_stay: Callable[[], Awaitable[bool]] = always
) -> AsyncIterator[Page]:
    position = parse_event_id(last_event_id) or Position()
    source = stream.follow(order_id=order.pk, customer_id=order.customer_id, position=position, may_stay=may_stay)
    async with aclosing(source):  # type: ignore[type-var]
        yield Page(source)


def saved(order: Order) -> list[str]:
    return [events.event_id(event) for event in talk(order).events.order_by("number")]


def run(scene: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(scene())  # type: ignore[arg-type]


in_db = sync_to_async


def piece(order: Order, draft: str, offset: int, text: str) -> None:
    events.tell_now(talk(order), "delta", {"draft": draft, "offset": offset, "text": text})
