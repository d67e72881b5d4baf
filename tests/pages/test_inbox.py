"""The inbox on the page: filters in its address, what stands out, who may see it, and what it costs to ask."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agent import assignment, desk_stream, notes, people, stream
from agent.models import Conversation, Message
from agent.states import TurnState
from agent.tests.helpers import hear, talk
from agent.tests.open_pages import Page
from orders.models import Order
from orders.tests import cast
from tests.pages.visiting import said, signed_in, text_of

pytestmark = pytest.mark.django_db
in_db = sync_to_async
MANY = 1000


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    said(order, "耳機左耳沒聲音")
    return order


def inbox(browser: Client | None = None, **query: str) -> str:
    return text_of((browser or signed_in("staff", language="en")).get("/staff/", query))


def waits(order: Order, minutes: int) -> None:
    since = timezone.now() - timedelta(minutes=minutes)
    Conversation.objects.filter(order=order).update(needs_person=True, waiting_since=since)


# --- what stands there ---
def test_filters_stand_in_the_address_and_stay_from_one_to_the_next(order: Order) -> None:
    page = inbox(state="working", whose="unassigned", q="左耳")
    assert f'href="/staff/conversations/{talk(order).pk}/"' in page
    assert 'href="/staff/?state=working&amp;whose=mine&amp;q=%E5%B7%A6%E8%80%B3"' in page
    assert 'href="/staff/?state=done&amp;whose=unassigned&amp;q=%E5%B7%A6%E8%80%B3"' in page
    assert "Nothing fits “右耳” here" in inbox(q="右耳")


def test_whoever_looks_for_somebody_looks_in_all_states(order: Order) -> None:
    talk(order).turns.update(state=TurnState.DONE)
    assert f'href="/staff/conversations/{talk(order).pk}/"' in inbox(q="5531")


@pytest.mark.parametrize(("minutes", "tone"), [(1, "info"), (6, "wait"), (16, "bad")])
def test_a_wait_stands_out_more_the_longer_it_is(order: Order, minutes: int, tone: str) -> None:
    waits(order, minutes)
    assert f'class="badge tone-{tone}"' in inbox()


def test_what_is_new_is_marked_until_it_has_been_open(order: Order) -> None:
    people.customer_asks_for_person(conversation=talk(order), actor=cast.shopper())
    staff = signed_in("staff", language="en")
    assert "is-unread" in inbox(staff)
    staff.get(f"/staff/conversations/{talk(order).pk}/")
    assert "is-unread" not in inbox(staff)
    assert "is-unread" in inbox(signed_in("supervisor", language="en"))


def test_a_long_list_goes_on_behind_its_last_row_and_back() -> None:
    many(30, needs_person=True)
    staff = signed_in("staff", language="en")
    page = inbox(staff)
    assert page.count("data-row ") == 25
    (older,) = [part.split('"')[0] for part in page.split('href="?')[1:] if "after=" in part]
    page = text_of(staff.get("/staff/?" + older.replace("&amp;", "&")))
    assert page.count("data-row ") == 5
    assert "before=" in page
    assert "after=" not in page.split("before=")[1]


def test_the_number_of_those_who_wait_stands_beside_the_inbox_on_every_page(order: Order) -> None:
    waits(order, 1)
    assert '<b class="count">1</b>' in text_of(signed_in("staff").get("/staff/orders/"))


# --- what it costs ---
def many(count: int, **changes: Any) -> None:
    """Conversations about as many orders, each with some words, written past the services."""
    like = cast.place(f"L{Order.objects.count()}")
    kept = {field.attname: getattr(like, field.attname) for field in Order._meta.concrete_fields}
    orders = Order.objects.bulk_create(
        Order(**{**kept, "id": None, "number": f"{like.number}-{number}"}) for number in range(count)
    )
    since = timezone.now()
    waiting = {"waiting_since": since} if changes.get("needs_person") else {}
    talks = Conversation.objects.bulk_create(
        Conversation(order=each, customer_id=each.customer_id, **waiting, **changes) for each in orders
    )
    words = [{"type": "text", "text": "在嗎"}]
    Message.objects.bulk_create(Message(conversation=each, author="customer", content=words) for each in talks)


def queries(browser: Client, path: str) -> int:
    browser.get(path)  # the session remembers the view that was looked at last
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(path).status_code == 200
    return len(captured)


def test_a_thousand_conversations_are_asked_for_as_often_as_ten() -> None:
    paths = ["/staff/", "/staff/?state=done", "/staff/?state=all&q=在嗎", "/staff/?state=all&whose=unassigned"]
    staff = signed_in("staff")
    many(10, needs_person=True)
    many(10)
    few = [queries(staff, path) for path in paths]
    many(MANY, needs_person=True)
    many(MANY)
    assert [queries(staff, path) for path in paths] == few
    assert "999+" in text_of(staff.get("/staff/?state=done"))


def test_a_search_is_worked_out_once_for_the_list_and_all_its_counts(order: Order) -> None:
    staff = signed_in("staff")
    with CaptureQueriesContext(connection) as captured:
        assert f"/staff/conversations/{talk(order).pk}/" in inbox(staff, q="左耳")
    asked = [query["sql"] for query in captured if "左耳" in query["sql"]]
    assert len([sql for sql in asked if 'orders_pieces("orders_customer"' in sql]) == 1
    assert len([sql for sql in asked if 'FROM "agent_message"' in sql]) == 1


# --- as it happens ---
def run(scene: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(scene())  # type: ignore[arg-type]


async def opened_by(name: str | None) -> Any:
    client = AsyncClient()
    if name:
        user = await in_db(cast.customer_user if name in cast.WITH_ACCOUNT else cast.staff_user)(name)
        await in_db(client.force_login)(user)
    return await client.get("/staff/events/")


@pytest.fixture
def quick(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(desk_stream, "GATHER_SECONDS", 0.01)


@pytest.mark.usefixtures("quick")
def test_news_of_any_kind_is_heard_and_no_words_travel_with_it() -> None:
    order = cast.order_5531()
    hear(order)
    pk = talk(order).pk

    def heard(page: Page) -> int:
        return sum(data["conversations"] == [pk] for _, kind, data in page.frames if kind == "news")

    async def scene() -> None:
        answer = await opened_by("staff")
        async with aclosing(aiter(answer.streaming_content)) as source:
            page = await Page(source).pinged()
            for happens in (
                lambda: hear(order, "a secret"),
                lambda: assignment.assign(conversation=talk(order), actor=cast.staff(), to=cast.staff_user()),
                lambda: notes.write(conversation=talk(order), actor=cast.staff(), text="a secret"),
                lambda: people.take_over(conversation=talk(order), actor=cast.staff()),
            ):
                before = heard(page)
                await in_db(happens)()
                await page.until(lambda page, before=before: heard(page) > before)  # type: ignore[misc]
        assert "secret" not in str(page.frames)

    run(scene)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["ming", "warehouse", "auditor", "marketing"])
def test_whoever_may_not_answer_hears_nothing(name: str) -> None:
    async def scene() -> None:
        assert (await opened_by(name)).status_code == 403

    run(scene)


@pytest.mark.usefixtures("quick")
def test_a_stranger_is_asked_to_sign_in_and_the_stream_ends_with_the_permission() -> None:
    async def scene() -> None:
        assert (await opened_by(None)).status_code == 302
        answer = await opened_by("staff")
        async with aclosing(aiter(answer.streaming_content)) as source:
            page = await Page(source).pinged()
            await in_db(lambda: cast.staff_user("staff").groups.clear())()
            with pytest.raises(StopAsyncIteration):
                await page.until(lambda page: False)

    run(scene)
