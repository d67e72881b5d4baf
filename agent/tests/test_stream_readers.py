"""Who reads a page's stream: by which address and for how long. It does not count as being there."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from django.test import AsyncClient

from agent import events, presence
from agent.tests.helpers import until
from agent.tests.open_pages import Page, in_db, open_page, run, saved
from orders.models import Order
from orders.tests import cast

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_looks")]


@pytest.fixture
def order(order_of_three_lines: Order) -> Order:
    return order_of_three_lines


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


def test_a_stream_that_is_open_does_not_mean_that_anybody_looks(order: Order) -> None:
    async def scene() -> None:
        client = AsyncClient()
        await in_db(client.force_login)(await in_db(cast.customer_user)("ming"))
        answer: Any = await client.get("/orders/5531/chat/events/")
        async with aclosing(aiter(answer.streaming_content)) as source:
            await Page(source).pinged(3)
        assert presence.last_seen(order.pk, order.customer_id) is None

    run(scene)
