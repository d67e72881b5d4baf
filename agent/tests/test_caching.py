"""Every request begins with the bytes of the one before it, and the marks are where the cache finds them."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from django.test import override_settings

from agent import request, spending
from agent.models import ModelCall, Turn
from agent.offline.control import Control
from agent.offline.usage import LOOKBACK_BLOCKS, PromptCache
from agent.tests.helpers import call, hear, newest_turn, reply, work
from agent.tools import registry
from orders.models import Order
from orders.tests import cast


@pytest.fixture
def order() -> Order:
    return cast.order_5531()


def pieces(body: dict[str, Any]) -> Iterator[str]:
    """The request in the order of its prefix, without marks, which are no part of it."""
    for part in [*body["tools"], *body["system"]]:
        yield json.dumps({**part, "cache_control": None})
    for message in body["messages"]:
        for block in message["content"]:
            yield message["role"] + json.dumps({**block, "cache_control": None})


@pytest.mark.django_db(transaction=True)
def test_every_request_of_a_conversation_begins_with_the_one_before_and_reads_it_from_the_cache(
    model: Control, order: Order
) -> None:
    look = call("get_order")
    model.script(
        [reply("I look.", look), reply("Well.", call("list_refunds")), reply("So."), reply("Yes."), reply("!")]
    )
    for words in ("where is it?", "really?", "thanks"):
        hear(order, words)
        work(order)

    bodies = [list(pieces(entry["body"])) for entry in model.requests()]
    assert len(bodies) == 5
    for earlier, later in pairwise(bodies):
        assert later[: len(earlier)] == earlier
    rows = list(ModelCall.objects.order_by("pk"))
    for before, row in pairwise(rows):
        assert row.cached_tokens == before.input_tokens + before.written_tokens + before.cached_tokens
    for turn in Turn.objects.all():
        assert turn.cached_tokens == sum(row.cached_tokens for row in rows if row.turn_id == turn.pk)
        assert turn.cost_micro == sum(row.cost_micro for row in rows if row.turn_id == turn.pk)
    assert newest_turn(order).cached_tokens > 0


def body_of(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "model": "claude-sonnet-5-5",
        "tools": registry.definitions(),
        "system": request.system(),
        "messages": request.with_cache_marks(messages),
    }


def test_a_reply_with_more_blocks_than_a_mark_looks_back_loses_nothing_of_the_cache() -> None:
    ids = [f"toolu_{number}" for number in range(LOOKBACK_BLOCKS)]
    first = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    used = [{"type": "tool_use", "id": each, "name": "get_order", "input": {}} for each in ids]
    results = [{"type": "tool_result", "tool_use_id": each, "content": "{}"} for each in ids]
    longer = [*first, {"role": "assistant", "content": used}, {"role": "user", "content": results}]
    cache = PromptCache()
    written = cache.usage(body_of(first))["cache_creation_input_tokens"]
    assert written > 0
    assert cache.usage(body_of(longer))["cache_read_input_tokens"] == written


def test_there_are_never_more_than_four_marks_and_the_constant_part_ends_with_one() -> None:
    messages = [
        {"role": role, "content": [{"type": "text", "text": str(number)}]}
        for number, role in enumerate(["user", "assistant"] * 5 + ["user"])
    ]
    body = body_of(messages)
    assert json.dumps(body).count('"cache_control"') == 4
    assert "cache_control" in body["system"][-1]
    assert all(tool["strict"] for tool in body["tools"])
    marked = [number for number, each in enumerate(body["messages"]) if "cache_control" in each["content"][-1]]
    assert marked == [8, 10]


PRICES = {
    "claude-sonnet-5-5": {"input": 3, "cache_write": 4, "cache_read": 1, "output": 15},
    "claude-sonnet": {"input": 300, "cache_write": 1, "cache_read": 1, "output": 1},
    "*": {"input": 7_000_000, "cache_write": 0, "cache_read": 0, "output": 0},
}


@pytest.mark.parametrize(
    ("model_id", "tokens", "cost"),
    [
        ("claude-sonnet-5-5-20261101", (1, 0, 0, 0), 1),
        ("claude-sonnet-5-5", (250_000, 0, 250_000, 0), 1),
        ("claude-sonnet-5-5", (250_000, 0, 250_001, 0), 2),
        ("claude-sonnet-5-5", (10**6, 10**6, 10**6, 10**6), 23),
        ("claude-sonnet-5-5", (0, 0, 0, 0), 0),
        ("claude-sonnet-9", (10**6, 0, 0, 0), 300),
        ("of another maker", (2, 0, 0, 0), 14),
    ],
)
def test_cost_is_rounded_up_and_priced_by_the_longest_beginning_that_fits(
    model_id: str, tokens: tuple[int, int, int, int], cost: int
) -> None:
    fresh, written, cached, output = tokens
    with override_settings(MODEL_PRICES=PRICES):
        assert spending.cost_micro(model=model_id, fresh=fresh, written=written, cached=cached, output=output) == cost
