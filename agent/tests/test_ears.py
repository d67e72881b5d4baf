"""All pages of a process read Redis over one connection; each still gets all that is its own, in order, and no more."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import redis
from pytest_django import Settings

from agent import ears, events
from agent.ears import Ear, Place, Told
from agent.events import DESK, TOLD_KEY

PAGE, OTHER = "1:1", "2:2"
LOOK = 5.0


@asynccontextmanager
async def an_ear() -> AsyncIterator[Ear]:
    async with ears.listening(os.environ["REDIS_URL"], LOOK) as ear:
        yield ear


def run(scene: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scene(), 20))


def tell(server: redis.Redis, *texts: str, page: str = PAGE, at: str = "*") -> None:
    for text in texts:
        server.xadd(TOLD_KEY, {"page": page, "kind": "status", "data": json.dumps({"text": text})}, id=at)


def write(server: redis.Redis, *pieces: str, offset: int = 0, draft: str = "d", at: str = "*") -> None:
    """Pieces of a reply that is being written."""
    for piece in pieces:
        data = json.dumps({"draft": draft, "offset": offset, "text": piece})
        server.xadd(TOLD_KEY, {"page": PAGE, "kind": "delta", "data": data}, id=at)
        offset += len(piece)


def told(text: str = "") -> Told:
    return Told(PAGE, "status", "{}", {"text": text}, "", "")


async def heard(place: Place, count: int) -> list[str]:
    """The first so many things that come, and not one more."""
    found: list[str] = []
    while len(found) < count:
        found += [each.data["text"] for each in await place.next(LOOK)]
    return found


def connections(server: redis.Redis) -> int:
    """To this run's database of the server; other workers of the suite have their own."""
    number = str(server.connection_pool.connection_kwargs.get("db", 0))
    return sum(client["db"] == number for client in server.client_list())


def test_fifty_pages_take_one_connection_and_each_hears_its_own(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        before = connections(redis_server)
        async with an_ear() as ear:
            places = [(await ear.join(f"{number}:1"))[0] for number in range(50)]
            for number in range(50):
                tell(redis_server, f"for {number}", page=f"{number}:1")
            assert [await heard(place, 1) for place in places] == [[f"for {number}"] for number in range(50)]
            assert connections(redis_server) - before == 1
        async with asyncio.timeout(LOOK):  # the server learns of a closed connection a moment later
            while connections(redis_server) > before:
                await asyncio.sleep(0.01)

    run(scene)


def test_a_page_that_comes_while_a_read_waits_is_heard_at_once(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            await ear.join(OTHER)
            await asyncio.sleep(0.2)  # the reader waits now, and nothing comes
            place, _ = await ear.join(PAGE)
            tell(redis_server, "one")
            async with asyncio.timeout(LOOK / 2):
                assert await heard(place, 1) == ["one"]

    run(scene)


def test_what_is_written_before_and_after_a_page_comes_meets_without_gap_or_repeat(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        write(redis_server, "One ", "two ")
        async with an_ear() as ear:
            first, before = await ear.join(PAGE)
            assert before.text == "One two "
            write(redis_server, "three ", offset=8)
            assert await heard(first, 1) == ["three "]
            second, before = await ear.join(PAGE)
            assert before.text == "One two three "
            write(redis_server, "four", offset=14)
            assert (await heard(first, 1), await heard(second, 1)) == (["four"], ["four"])
            assert before.text == "One two three ", "what a page has is its own"

    run(scene)


def test_all_that_redis_has_is_known_before_the_first_page_joins(
    redis_server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ears, "AT_ONCE", 3)

    async def scene() -> None:
        write(redis_server, *"0123456789")
        async with an_ear() as ear:
            (_, before), (_, again) = await asyncio.gather(ear.join(PAGE), ear.join(PAGE))
            assert before.text == again.text == "0123456789"

    run(scene)


def test_what_is_older_than_a_turn_may_be_is_not_read(redis_server: redis.Redis, settings: Settings) -> None:
    async def scene() -> None:
        seconds, _ = redis_server.time()
        write(redis_server, "old", draft="a", at=f"{seconds - settings.AGENT_MAX_TURN_SECONDS - 1}000-1")
        write(redis_server, "new", draft="b")
        async with an_ear() as ear:
            _, before = await ear.join(PAGE)
            assert (before.text, before.ended) == ("new", {""})

    run(scene)


def test_a_reply_has_its_beginning_however_much_is_told_meanwhile_to_others(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            place, _ = await ear.join(PAGE)
            write(redis_server, "One ")
            assert await heard(place, 1) == ["One "]
            redis_server.delete(TOLD_KEY)  # trimmed away by what others were told
            write(redis_server, "two", offset=4)
            assert await heard(place, 1) == ["two"]
            _, before = await ear.join(PAGE)
            assert before.text == "One two"

    run(scene)


def test_of_whom_nothing_was_told_for_long_nothing_is_remembered(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            place, _ = await ear.join(PAGE)
            write(redis_server, "One ")
            assert await heard(place, 1) == ["One "]
            now = asyncio.get_running_loop().time()
            ear.forget(before=now - 60)
            assert (await ear.join(PAGE))[1].text == "One "
            ear.forget(before=now + 1)
            assert (await ear.join(PAGE))[1].text == ""

    run(scene)


def test_the_inbox_hears_what_is_for_it_and_of_no_piece(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            place, _ = await ear.join(DESK)
            tell(redis_server, "a piece")
            redis_server.xadd(TOLD_KEY, {"page": PAGE, "kind": "status", "data": "{}", DESK: "7"})
            redis_server.xadd(TOLD_KEY, {DESK: "8"})
            found: list[Told] = []
            while len(found) < 2:
                found += await place.next(LOOK)
            assert [each.desk for each in found] == ["7", "8"]

    run(scene)


def test_redis_keeps_an_hour_of_it(redis_server: redis.Redis) -> None:
    seconds, _ = redis_server.time()
    tell(redis_server, "old", at=f"{seconds - events.KEPT_SECONDS - 5}000-1")
    tell(redis_server, "young", at=f"{seconds - events.KEPT_SECONDS + 60}000-1")
    events.forget_old()
    kept: Any = redis_server.xrange(TOLD_KEY)
    assert [json.loads(entry[b"data"])["text"] for _, entry in kept] == ["young"]


def test_a_read_that_redis_never_answers_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def scene() -> None:
        server = await asyncio.start_server(mute, "127.0.0.1", 0)
        url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        async with ears.listening(url, 0.05) as ear:
            with pytest.raises(ears.BROKEN):
                await ear.join(PAGE)
        server.close()

    monkeypatch.setattr(ears, "SLACK_SECONDS", 0)
    run(scene)


def test_what_nobody_reads_any_more_is_not_handed_out() -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            (first, _), (second, _) = await ear.join(PAGE), await ear.join(PAGE)
            ear.leave(PAGE, first)
            assert ear._places == {PAGE: {second}}
            ear.leave(PAGE, second)
            assert ear._places == {}

    run(scene)


def test_a_page_that_could_not_join_leaves_no_place_behind() -> None:
    async def scene() -> None:
        async with ears.listening("redis://127.0.0.1:9/0", LOOK) as ear:
            for _ in range(2):
                with pytest.raises(ears.BROKEN):
                    await ear.join(PAGE)
            assert ear._places == {}

    run(scene)


def test_a_page_that_leaves_while_it_waits_takes_nobody_with_it(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            leaves, stays = asyncio.ensure_future(ear.join(PAGE)), asyncio.ensure_future(ear.join(PAGE))
            await asyncio.sleep(0)
            leaves.cancel()
            place, _ = await stays
            tell(redis_server, "one")
            assert await heard(place, 1) == ["one"]
            assert leaves.cancelled()

    run(scene)


def test_pages_are_told_when_redis_breaks_and_can_come_back(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            write(redis_server, "before")
            place, _ = await ear.join(PAGE)
            await asyncio.sleep(0.1)
            redis_server.client_kill_filter(_type="normal", skipme=True)
            with pytest.raises(ears.BROKEN):
                await place.next(LOOK)
            ear.leave(PAGE, place)
            again, before = await ear.join(PAGE)
            assert before.text == "before"
            tell(redis_server, "one")
            assert await heard(again, 1) == ["one"]

    run(scene)


def test_a_page_that_reads_nothing_does_not_fill_the_memory() -> None:
    async def scene() -> None:
        place = Place()
        for _ in range(ears.MOST_WAITING + 1):
            place.put(told())
        with pytest.raises(TimeoutError):
            await place.next(LOOK)

    run(scene)
