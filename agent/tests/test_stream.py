"""A page that comes, goes, sleeps and comes back ends up equal to the database; drafts fill the time until then."""

import asyncio
from typing import Any

import pytest
from pytest_django import Settings

from agent import ears, events, people, stream
from agent.tests.helpers import hear, talk
from agent.tests.open_pages import in_db, open_page, piece, run, saved
from orders.models import Order
from orders.tests import cast

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_looks")]
NOBODY_LISTENS = "redis://127.0.0.1:9/0"


@pytest.fixture
def order(order_of_three_lines: Order) -> Order:
    return order_of_three_lines


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


@pytest.mark.parametrize("answered", [False, True], ids=["by nobody", "by a person"])
def test_after_a_conversation_was_closed_the_next_ones_drafts_are_shown_again(order: Order, answered: bool) -> None:
    def close() -> None:
        if answered:
            people.take_over(conversation=talk(order), actor=cast.staff())
        people.close(conversation=talk(order), actor=cast.staff())
        hear(order, "a new matter")

    async def scene() -> None:
        await in_db(close)()
        async with open_page(order) as early, open_page(order) as late:
            await early.pinged()
            await in_db(piece)(order, "d1", 0, "I see")
            await early.until(lambda page: "delta" in page.kinds())
            await late.until(lambda page: "draft" in page.kinds() or "delta" in page.kinds())

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
        entries: Any = events.carrier().xrange(events.TOLD_KEY)
        for _, entry in entries:
            events.carrier().xadd(events.TOLD_KEY, entry)

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


def test_a_person_of_whom_only_the_database_knows_silences_what_was_being_written(
    order: Order, settings: Settings
) -> None:
    def taken_over_without_redis() -> None:
        there, settings.REDIS_URL = settings.REDIS_URL, NOBODY_LISTENS
        people.take_over(conversation=talk(order), actor=cast.staff())
        settings.REDIS_URL = there

    async def scene() -> None:
        await in_db(piece)(order, "d1", 0, "Your re")
        await in_db(taken_over_without_redis)()
        async with open_page(order) as page:
            await page.pinged()
            await in_db(piece)(order, "d1", 7, "fund")
            await in_db(hear)(order, "four")
            await page.has((await in_db(saved)(order))[-1])
        assert "conversation" in page.kinds()
        assert not {"draft", "delta"} & set(page.kinds())

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


def test_between_two_looks_without_redis_there_is_a_pause(
    order: Order, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "WITHOUT_REDIS_SECONDS", 3600)
    settings.REDIS_URL = NOBODY_LISTENS

    async def scene() -> None:
        async with open_page(order) as page:
            await page.pinged()
            looking = asyncio.ensure_future(page.pinged(3))
            # Every look at the database takes its turn among these.
            for _ in range(100):
                await in_db(int)()
            assert page.pings == 1
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)

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
