"""Staff read along: the reply that is being written, for whoever may answer."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from agent import events, people, stream
from agent.tests.helpers import hear, talk
from agent.tests.open_pages import Page
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
in_db = sync_to_async


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LOOK_SECONDS", 0.05)


@pytest.fixture
def order(transactional_db: None) -> Order:
    order = cast.order_5531()
    hear(order, "hello")
    return order


def run(scene: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(scene())  # type: ignore[arg-type]


async def opened_by(name: str | None, order: Order, *, of: int | None = None) -> Any:
    """The answer to whoever opens the stream of the order's newest conversation, or of the one given."""
    client = AsyncClient()
    if name:
        user = await in_db(cast.customer_user if name in cast.WITH_ACCOUNT else cast.staff_user)(name)
        await in_db(client.force_login)(user)
    number = of or (await in_db(talk)(order)).pk
    return await client.get(f"/staff/conversations/{number}/events/")


def write_piece(order: Order, offset: int, text: str) -> None:
    events.tell_now(talk(order), "delta", {"draft": "a", "offset": offset, "text": text})


def test_staff_read_the_reply_while_it_is_written_from_its_beginning(order: Order) -> None:
    async def scene() -> None:
        await in_db(write_piece)(order, 0, "I will ")
        answer = await opened_by("staff", order)
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        async with aclosing(aiter(answer.streaming_content)) as source:
            page = await Page(source).until(lambda page: "draft" in page.kinds())
            await in_db(write_piece)(order, 7, "look.")
            await page.until(lambda page: "delta" in page.kinds())
        assert [data["text"] for _, _, data in page.frames if "text" in data] == ["I will ", "look."]

    run(scene)


def test_what_is_said_reaches_them_too_and_another_conversation_does_not(order: Order) -> None:
    def goes_on() -> None:
        hear(order, "one more thing")
        people.close(conversation=talk(order), actor=cast.staff())
        hear(order, "a new conversation")

    async def scene() -> None:
        older = (await in_db(talk)(order)).pk
        answer = await opened_by("staff", order)
        async with aclosing(aiter(answer.streaming_content)) as source:
            page = Page(source)
            await in_db(goes_on)()
            with pytest.raises(StopAsyncIteration):
                await page.until(lambda page: False)
        said = [data["text"] for _, kind, data in page.frames if kind == "message"]
        assert said[0] == "one more thing"
        assert said[1:] == ["A colleague has closed this conversation. If you write again, a new one begins."]
        assert page.kinds()[-1] == "end", "the page is told not to come back"
        # Whoever opens the older conversation now hears that at once.
        answer = await opened_by("staff", order, of=older)
        async with aclosing(aiter(answer.streaming_content)) as source:
            page = Page(source)
            with pytest.raises(StopAsyncIteration):
                await page.until(lambda page: False)
        assert page.kinds() == ["end"]

    run(scene)


@pytest.mark.parametrize("name", ["ming", "warehouse", "auditor", "marketing"])
def test_whoever_may_not_answer_does_not_read_along(order: Order, name: str) -> None:
    async def scene() -> None:
        assert (await opened_by(name, order)).status_code == 403

    run(scene)


def test_a_stranger_is_asked_to_sign_in(order: Order) -> None:
    async def scene() -> None:
        assert (await opened_by(None, order)).status_code == 302

    run(scene)


def test_the_stream_ends_soon_after_the_permission_was_taken_away(order: Order) -> None:
    def dismiss() -> None:
        cast.staff_user("staff").groups.clear()

    async def scene() -> None:
        answer = await opened_by("staff", order)
        async with aclosing(aiter(answer.streaming_content)) as source:
            page = await Page(source).pinged()
            await in_db(dismiss)()
            with pytest.raises(StopAsyncIteration):
                await page.until(lambda page: False)

    run(scene)
