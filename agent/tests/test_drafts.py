"""The words of a reply on their way to the page: none is missing in the middle, whatever becomes of a piece."""

from functools import partial

import pytest
import redis
from pytest_django import Settings

from agent import events
from agent.draft_text import DraftText
from agent.drafts import Draft
from agent.tests.helpers import at_once, ephemeral, hear, talk
from orders.models import Order
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
NOBODY = "redis://127.0.0.1:9/0"


@pytest.fixture
def order() -> Order:
    order = cast.order_5531()
    hear(order)
    return order


def text_of(order: Order, key: str) -> str:
    """What a page makes of the pieces: none is missing before another, and what it has already is left out."""
    text = ""
    for data in ephemeral(order, "delta"):
        if data["draft"] == key:
            assert data["offset"] <= len(text)
            text += data["text"][len(text) - data["offset"] :]
    return text


def test_a_piece_that_redis_did_not_take_comes_with_the_next_one(order: Order, settings: Settings) -> None:
    draft, alive = Draft(talk(order), key="t1"), settings.REDIS_URL
    for word, url in (("One ", NOBODY), ("two ", alive), ("three.", alive)):
        settings.REDIS_URL = url
        draft.add(word)
        draft.show()
    assert text_of(order, "t1") == "One two three."


def test_more_replies_at_once_than_connections_lose_no_piece(order: Order) -> None:
    conversation = talk(order)

    def write(key: str) -> None:
        draft = Draft(conversation, key=key)
        for word in ("One ", "two ", "three."):
            draft.add(word)
            draft.show()
        assert draft.shown == len("One two three.")
        draft.kept = True
        draft.close()

    keys = [f"t{number}" for number in range(events.CONNECTIONS + 50)]
    at_once(*(partial(write, key) for key in keys))
    assert {text_of(order, key) for key in keys} == {"One two three."}


def test_a_piece_whose_taking_nobody_heard_of_is_on_the_page_once(order: Order) -> None:
    draft = Draft(talk(order), key="t1")
    draft.add("One 😀")
    draft.shown = 0  # Redis has it, and its answer was lost
    draft.waiting = "One 😀"
    draft.add(" two")
    draft.show()
    page = DraftText()
    shown = [page.text for data in ephemeral(order, "delta") if page.take("delta", data)]
    assert shown == ["One 😀", "One 😀 two"]
    assert text_of_a_page_that_came_late(page) == "One 😀 two"


def text_of_a_page_that_came_late(page: DraftText) -> str:
    assert not page.take("delta", {"draft": "t1", "offset": 0, "text": "One"})
    assert not page.take("delta", {"draft": "t1", "offset": 99, "text": "far ahead"})
    return page.text


def test_a_draft_of_which_a_page_may_know_is_dropped_though_redis_never_said_that_it_took_it(order: Order) -> None:
    draft = Draft(talk(order), key="t1")
    draft.add("You have been refunded.")
    draft.shown = 0  # Redis has it, and its answer was lost
    draft.close()
    assert ephemeral(order, "draft_dropped") == [{"draft": "t1"}]


def test_of_a_draft_that_never_had_a_way_to_redis_no_page_knows(order: Order, settings: Settings) -> None:
    draft, alive = Draft(talk(order), key="t1"), settings.REDIS_URL
    settings.REDIS_URL = NOBODY
    draft.add("You have been refunded.")
    settings.REDIS_URL = alive
    draft.close()
    assert not draft.offered
    assert ephemeral(order, "draft_dropped") == []


def test_a_draft_has_one_connection_while_it_lasts_and_gives_it_back(order: Order) -> None:
    before, draft = connections_in_use(), Draft(talk(order), key="t1")
    for word in ("One ", "two ", "three."):
        draft.add(word)
        draft.show()
        assert connections_in_use() == before + 1
    draft.close()
    assert connections_in_use() == before


def connections_in_use() -> int:
    _, (used, _) = events.carrier().connection_pool.get_connection_count()
    return int(used)


def test_where_no_sweeper_runs_redis_forgets_all_an_hour_after_the_last_word(
    redis_server: redis.Redis, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_life", events._Life())
    for offset in (0, 3):
        assert events.tell_now(talk(order), "delta", {"draft": "d", "offset": offset, "text": "One"})
        assert 0 < redis_server.ttl(events.TOLD_KEY) <= events.KEPT_SECONDS
