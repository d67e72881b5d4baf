"""A page that comes, goes, sleeps and comes back ends up equal to the database; drafts fill the time until then."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient
from django.utils import timezone
from pytest_django import Settings

from agent import ears, events, people, stream
from agent.models import Conversation
from agent.stream import Position, parse_event_id
from agent.tests.helpers import hear, talk, until
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
NOBODY_LISTENS = "redis://127.0.0.1:9/0"
Frame = tuple[str, str, Any]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the database often, so that a test of a lost event takes no quarter of a minute."""
    monkeypatch.setattr(stream, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(stream, "WITHOUT_REDIS_SECONDS", 0.05)


@pytest.fixture
def order(transactional_db: None) -> Order:
    order = cast.order_5531()
    for text in ("one", "two", "three"):
        hear(order, text)
    return order


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


def test_without_an_id_the_open_conversation_comes_from_its_start(order: Order) -> None:
    async def scene() -> None:
        expected = await in_db(saved)(order)
        async with open_page(order) as page:
            await page.pinged()
        assert page.ids() == expected
        assert [data["text"] for _, kind, data in page.frames if kind == "message"] == ["one", "two", "three"]

    run(scene)


def test_resumed_at_any_point_the_parts_make_up_the_whole(order: Order) -> None:
    async def scene() -> None:
        expected = await in_db(saved)(order)
        for point in range(len(expected)):
            async with open_page(order, expected[point]) as page:
                await page.pinged()
            assert page.ids() == expected[point + 1 :]

    run(scene)


def test_an_id_that_was_never_sent_is_as_good_as_none(order: Order) -> None:
    async def scene() -> None:
        expected = await in_db(saved)(order)
        for garbage in ("abc", "1-2-3", "0-0", "9" * 18 + "-1", "1-" + "9" * 34, "9" * 34 + "-1"):
            async with open_page(order, garbage) as page:
                await page.pinged()
            assert page.ids() == expected, garbage

    run(scene)


def test_a_number_that_was_never_given_out_does_not_make_the_page_deaf(order: Order) -> None:
    async def scene() -> None:
        expected = await in_db(saved)(order)
        conversation = await in_db(talk)(order)
        async with open_page(order, f"{conversation.pk}-999999") as page:
            await page.pinged()
        assert page.ids() == expected

    run(scene)


def test_an_id_of_anothers_conversation_shows_nothing_of_it(order: Order) -> None:
    async def scene() -> None:
        other = await in_db(cast.place)("5602", who="ming2")
        await in_db(hear)(other, "the other's words")
        theirs = await in_db(talk)(other)
        expected = await in_db(saved)(order)
        async with open_page(order, f"{theirs.pk}-0") as page:
            await page.pinged()
        assert page.ids() == expected

    run(scene)


def test_what_happens_while_the_page_is_open_comes_once_and_in_order(order: Order) -> None:
    async def scene() -> None:
        async with open_page(order) as page:
            await page.pinged()
            for text in ("four", "five"):
                await in_db(hear)(order, text)
            expected = await in_db(saved)(order)
            await page.has(expected[-1])
            await page.pinged(2)
        assert page.ids() == expected

    run(scene)


def test_a_conversation_that_begins_while_the_page_is_open_is_heard(order: Order) -> None:
    async def scene() -> None:
        async with open_page(order) as page:
            await page.pinged()
            first = await in_db(talk)(order)
            await in_db(people.close)(conversation=first, actor=await in_db(cast.staff)())
            await in_db(hear)(order, "a new matter")
            expected = await in_db(saved)(order)
            await page.has(expected[-1])
        assert page.ids()[-len(expected) :] == expected
        assert len(page.ids()) == len(set(page.ids()))

    run(scene)


def test_a_page_opened_before_the_first_word_hears_it(transactional_db: None) -> None:
    order = cast.order_5531()

    async def scene() -> None:
        async with open_page(order) as page:
            assert (await page.pinged()).frames == []
            await in_db(hear)(order, "first")
            await page.has((await in_db(saved)(order))[-1])

    run(scene)


def test_a_page_that_comes_in_the_middle_of_a_reply_gets_all_of_it(order: Order) -> None:
    async def scene() -> None:
        for offset, text in ((0, "Your "), (5, "refund 😀"), (14, " is")):
            await in_db(piece)(order, "d1", offset, text)
        async with open_page(order) as page:
            await page.until(lambda page: "draft" in page.kinds())
            assert page.frames[-1:] == [("", "draft", {"draft": "d1", "text": "Your refund 😀 is"})]
            await in_db(piece)(order, "d1", 17, " NT$230")
            await page.until(lambda page: "delta" in page.kinds())
        assert page.frames[-1] == ("", "delta", {"draft": "d1", "offset": 17, "text": " NT$230"})

    run(scene)


@pytest.mark.parametrize("ending", ["dropped", "message", "turn"])
def test_a_draft_that_is_over_is_not_shown_to_a_page_that_comes_later(order: Order, ending: str) -> None:
    def end() -> None:
        if ending == "dropped":
            events.tell_now(talk(order), "draft_dropped", {"draft": "d1"})
            return
        data = {"draft": "d1", "text": "Your refund"} if ending == "message" else {"turn": 1, "state": "failed"}
        with events.writing(talk(order).pk) as conversation:
            events.add(conversation, ending, data)

    async def scene() -> None:
        await in_db(piece)(order, "d1", 0, "Your re")
        await in_db(end)()
        await in_db(piece)(order, "d1", 7, "too late")
        async with open_page(order) as page:
            await page.pinged()
        assert not {"draft", "delta"} & set(page.kinds())

    run(scene)


def test_a_page_gets_no_piece_that_does_not_follow_what_it_has(order: Order) -> None:
    async def scene() -> None:
        async with open_page(order) as page:
            await page.pinged()
            await in_db(piece)(order, "d1", 0, "Your ")
            await in_db(piece)(order, "d1", 9, "lost the middle")
            await in_db(piece)(order, "d2", 0, "Again")
            await page.until(lambda page: page.kinds().count("delta") == 2)
        assert [data["text"] for _, kind, data in page.frames if kind == "delta"] == ["Your ", "Again"]

    run(scene)


def test_after_redis_was_emptied_the_page_still_ends_up_equal_to_the_database(order: Order) -> None:
    async def scene() -> None:
        async with open_page(order) as page:
            await page.pinged()
            await in_db(hear)(order, "four")
            await in_db(events.carrier().flushdb)()
            await in_db(hear)(order, "five")
            await in_db(events.carrier().flushdb)()
            expected = await in_db(saved)(order)
            await page.has(expected[-1])
        assert page.ids() == expected

    run(scene)


def test_an_event_that_redis_brings_again_is_not_shown_again(order: Order) -> None:
    def bring_again() -> None:
        key = events.stream_key(order.pk, order.customer_id)
        entries: Any = events.carrier().xrange(key)
        for _, entry in entries:
            events.carrier().xadd(key, entry)

    async def scene() -> None:
        async with open_page(order) as page:
            await page.pinged()
            await in_db(bring_again)()
            await in_db(hear)(order, "four")
            expected = await in_db(saved)(order)
            await page.has(expected[-1])
        assert page.ids() == expected

    run(scene)


def test_an_event_that_never_reached_redis_is_fetched_with_the_next_one(
    order: Order, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "LOOK_SECONDS", 60)

    def said_without_redis() -> None:
        there, settings.REDIS_URL = settings.REDIS_URL, NOBODY_LISTENS
        hear(order, "four")
        settings.REDIS_URL = there

    async def scene() -> None:
        last = (await in_db(saved)(order))[-1]
        async with open_page(order) as page:
            await page.has(last)
            await in_db(said_without_redis)()
            await in_db(hear)(order, "five")
            expected = await in_db(saved)(order)
            await page.has(expected[-1])
        assert page.ids() == expected

    run(scene)


def test_while_redis_is_away_the_page_lives_on_the_database(order: Order, settings: Settings) -> None:
    settings.REDIS_URL = NOBODY_LISTENS

    async def scene() -> None:
        async with open_page(order) as page:
            await page.pinged()
            await in_db(hear)(order, "four")
            expected = await in_db(saved)(order)
            await page.has(expected[-1])
        assert page.ids() == expected

    run(scene)


def test_a_redis_that_accepts_and_says_nothing_does_not_silence_the_page(
    order: Order, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()

        monkeypatch.setattr(ears, "SLACK_SECONDS", 0)
        server = await asyncio.start_server(mute, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
        expected = await in_db(saved)(order)
        async with open_page(order) as page:
            await page.has(expected[-1])
        assert page.ids() == expected
        server.close()

    run(scene)


def test_a_page_that_leaves_is_let_go(order: Order) -> None:
    async def scene() -> None:
        before = await in_db(lambda: len(events.carrier().client_list()))()
        async with open_page(order) as page:
            await page.pinged()
            waiting = asyncio.ensure_future(page.until(lambda page: False))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert await in_db(until)(lambda: len(events.carrier().client_list()) <= before)

    run(scene)


def test_a_page_that_may_not_read_any_more_is_closed(order: Order) -> None:
    welcome = [True, True]

    async def may_stay() -> bool:
        return bool(welcome and welcome.pop())

    async def scene() -> None:
        async with open_page(order, may_stay=may_stay) as page:
            with pytest.raises(StopAsyncIteration):
                await page.until(lambda page: False)
        assert welcome == []

    run(scene)


def test_a_page_is_closed_soon_after_its_session_was_ended(order: Order) -> None:
    async def scene() -> None:
        client = AsyncClient()
        await in_db(client.force_login)(await in_db(cast.customer_user)("ming"))
        last = (await in_db(saved)(order))[-1]
        answer: Any = await client.get("/orders/5531/chat/events/")
        async with aclosing(aiter(answer.streaming_content)) as source:
            page = await Page(source).has(last)
            await in_db(client.logout)()
            with pytest.raises(StopAsyncIteration):
                await page.until(lambda page: False)

    run(scene)


def test_the_address_streams_what_came_after_the_browsers_last_event(order: Order) -> None:
    async def scene() -> None:
        client = AsyncClient()
        await in_db(client.force_login)(await in_db(cast.customer_user)("ming"))
        expected = await in_db(saved)(order)
        answer: Any = await client.get("/orders/5531/chat/events/", headers={"last-event-id": expected[1]})
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert "no-cache" in answer.headers["Cache-Control"]
        async with aclosing(aiter(answer.streaming_content)) as source:
            page = await Page(source).has(expected[-1])
        assert page.ids() == expected[2:]

    run(scene)


def test_a_page_that_opens_a_new_stream_says_in_the_address_what_it_has(order: Order) -> None:
    async def scene() -> None:
        client = AsyncClient()
        await in_db(client.force_login)(await in_db(cast.customer_user)("ming"))
        expected = await in_db(saved)(order)
        answer: Any = await client.get(f"/orders/5531/chat/events/?after={expected[1]}")
        async with aclosing(aiter(answer.streaming_content)) as source:
            page = await Page(source).has(expected[-1])
        assert page.ids() == expected[2:]

    run(scene)


def seen_at(order: Order) -> datetime | None:
    try:
        return talk(order).seen_at
    finally:
        connections.close_all()  # this thread's, which nobody else would close


def test_while_the_page_is_open_the_customer_counts_as_there(order: Order) -> None:
    async def scene() -> None:
        client = AsyncClient()
        await in_db(client.force_login)(await in_db(cast.customer_user)("ming"))
        assert await in_db(seen_at)(order) is None
        answer: Any = await client.get("/orders/5531/chat/events/")
        assert await in_db(seen_at)(order)
        long_ago = timezone.now() - timedelta(minutes=5)
        await in_db(Conversation.objects.filter(order=order).update)(seen_at=long_ago)
        async with aclosing(aiter(answer.streaming_content)) as source:
            await Page(source).pinged(3)
        again = await in_db(seen_at)(order)
        assert again
        assert again > long_ago + timedelta(minutes=4)

    run(scene)
