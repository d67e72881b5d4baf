"""All pages of a process read Redis over one connection; each still gets everything after its own cursor, in order."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import redis

from agent import ears
from agent.ears import Ear, Place

KEY = "refund-desk:chat:1:1"
LOOK = 5.0


@asynccontextmanager
async def an_ear() -> AsyncIterator[Ear]:
    async with ears.listening(os.environ["REDIS_URL"], LOOK) as ear:
        yield ear


def run(scene: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scene(), 20))


def tell(server: redis.Redis, *texts: str, key: str = KEY) -> list[str]:
    return [bytes(server.xadd(key, {"data": text})).decode() for text in texts]  # type: ignore[arg-type]


async def heard(place: Place, count: int) -> list[str]:
    """The first so many things that come, and not one more."""
    found: list[str] = []
    while len(found) < count:
        found += [entry["data"] for _, entry in await place.next(LOOK)]
    return found


def connections(server: redis.Redis) -> int:
    """To this run's database of the server; other workers of the suite have their own."""
    number = str(server.connection_pool.connection_kwargs.get("db", 0))
    return sum(client["db"] == number for client in server.client_list())


def test_fifty_pages_take_one_connection_for_reading(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        before = connections(redis_server)
        async with an_ear() as ear:
            places = [await ear.join(f"{KEY}{number}", ears.BEGINNING) for number in range(50)]
            for number in range(50):
                tell(redis_server, f"for {number}", key=f"{KEY}{number}")
            assert [await heard(place, 1) for place in places] == [[f"for {number}"] for number in range(50)]
            assert connections(redis_server) - before <= 1 + ears.CONNECTIONS_FOR_ASKING
        async with asyncio.timeout(LOOK):  # the server learns of a closed connection a moment later
            while connections(redis_server) > before:
                await asyncio.sleep(0.01)

    run(scene)


def test_a_page_that_comes_while_a_read_waits_is_heard_at_once(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            await ear.join("refund-desk:chat:2:2", ears.BEGINNING)
            await asyncio.sleep(0.2)  # the reader waits now, for a stream that stays silent
            place = await ear.join(KEY, ears.BEGINNING)
            tell(redis_server, "one")
            async with asyncio.timeout(LOOK / 2):
                assert await heard(place, 1) == ["one"]

    run(scene)


def test_a_page_further_back_gets_everything_and_the_one_ahead_nothing_twice(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        first, *_ = tell(redis_server, "one", "two", "three")
        async with an_ear() as ear:
            ahead = await ear.join(KEY, ears.BEGINNING)
            assert await heard(ahead, 3) == ["one", "two", "three"]
            behind = await ear.join(KEY, first)
            tell(redis_server, "four")
            assert await heard(behind, 3) == ["two", "three", "four"]
            assert await heard(ahead, 1) == ["four"]

    run(scene)


def test_an_answer_for_a_place_that_has_moved_back_meanwhile_is_not_handed_out() -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            await ear.join(KEY, "5-0")
            behind = await ear.join(KEY, "2-0")
            ear._hand_out({KEY: "5-0"}, {KEY: [("6-0", {"data": "six"})]})
            ear._hand_out({KEY: "2-0"}, {KEY: [(f"{number}-0", {"data": str(number)}) for number in range(3, 7)]})
            assert await heard(behind, 4) == ["3", "4", "5", "6"]

    run(scene)


def test_entries_are_in_the_order_of_their_numbers_and_not_of_their_letters() -> None:
    async def scene() -> None:
        behind, ahead = Place("5-9"), Place("5-10")
        behind.put([("5-10", {"data": "ten"})])
        ahead.put([("5-9", {"data": "nine"})])
        assert await heard(behind, 1) == ["ten"]
        assert (behind.cursor, ahead.cursor) == ("5-10", "5-10")
        assert await ahead.next(0.01) == []
        async with an_ear() as ear:
            await ear.join(KEY, "5-10")
            await ear.join(KEY, "5-9")
            assert ear._cursors[KEY] == "5-9"

    run(scene)


def test_a_read_that_redis_never_answers_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def scene() -> None:
        server = await asyncio.start_server(mute, "127.0.0.1", 0)
        url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        async with ears.listening(url, 0.05) as ear:
            place = await ear.join(KEY, ears.BEGINNING)
            with pytest.raises(ears.BROKEN):
                await place.next(LOOK)
        server.close()

    monkeypatch.setattr(ears, "SLACK_SECONDS", 0)
    run(scene)


def test_what_nobody_reads_any_more_is_not_asked_for() -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            first, second = await ear.join(KEY, ears.BEGINNING), await ear.join(KEY, ears.BEGINNING)
            ear.leave(KEY, first)
            assert set(ear._cursors) == {ear._bell, KEY}
            ear.leave(KEY, second)
            assert (set(ear._cursors), ear._places) == ({ear._bell}, {})

    run(scene)


def test_a_page_that_could_not_join_leaves_no_place_behind() -> None:
    async def scene() -> None:
        async with ears.listening("redis://127.0.0.1:9/0", LOOK) as ear:
            place = await ear.join(KEY, ears.BEGINNING)  # its reader has not noticed yet
            with pytest.raises(ears.BROKEN):
                await ear.join("refund-desk:chat:2:2", ears.BEGINNING)
            assert ear._places == {KEY: {place}}
            assert set(ear._cursors) == {ear._bell, KEY}

    run(scene)


def test_pages_are_told_when_redis_breaks_and_can_come_back(redis_server: redis.Redis) -> None:
    async def scene() -> None:
        async with an_ear() as ear:
            place = await ear.join(KEY, ears.BEGINNING)
            await asyncio.sleep(0.1)
            redis_server.client_kill_filter(_type="normal", skipme=True)
            with pytest.raises(ears.BROKEN):
                await place.next(LOOK)
            ear.leave(KEY, place)
            again = await ear.join(KEY, ears.BEGINNING)
            tell(redis_server, "one")
            assert await heard(again, 1) == ["one"]

    run(scene)


def test_a_page_that_reads_nothing_does_not_fill_the_memory() -> None:
    async def scene() -> None:
        place = Place(ears.BEGINNING)
        place.put([(f"{number}-0", {"data": ""}) for number in range(1, ears.MOST_WAITING + 2)])
        with pytest.raises(TimeoutError):
            await place.next(LOOK)

    run(scene)
