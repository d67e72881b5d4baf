"""Usage tells whether a caller keeps its prefix stable, as the real prompt cache would."""

from typing import Any

import pytest

from agent.offline.usage import PromptCache, count_tokens

MARK = {"cache_control": {"type": "ephemeral"}}
LONG = "退款規則。" * 400  # 2,000 tokens


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> PromptCache:
    return PromptCache(clock=clock)


def body(*texts: str, system: str = LONG, marked: bool = True) -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    prefix: dict[str, Any] = {"type": "text", "text": system}
    return {
        "model": "claude-sonnet-5-5",
        "system": [prefix | (MARK if marked else {})],
        "messages": [{"role": "user", "content": content}],
    }


def test_chinese_counts_by_character_and_latin_by_four() -> None:
    assert count_tokens("耳機殼") == 3
    assert count_tokens("refunded") == 2
    assert count_tokens("") == 0


def test_the_first_request_writes_the_prefix_and_the_second_reads_it(cache: PromptCache) -> None:
    first = cache.usage(body("一"))
    second = cache.usage(body("二"))

    assert first["cache_creation_input_tokens"] == second["cache_read_input_tokens"] >= 2000
    assert first["cache_read_input_tokens"] == second["cache_creation_input_tokens"] == 0
    assert first["input_tokens"] == second["input_tokens"] < 30


def test_a_changed_prefix_is_not_read(cache: PromptCache) -> None:
    cache.usage(body("一"))
    assert cache.usage(body("一", system=LONG + "！"))["cache_read_input_tokens"] == 0


def test_without_a_breakpoint_nothing_is_cached(cache: PromptCache) -> None:
    cache.usage(body("一", marked=False))
    assert cache.usage(body("一", marked=False))["cache_read_input_tokens"] == 0


def test_a_short_prefix_is_silently_not_cached(cache: PromptCache) -> None:
    cache.usage(body("一", system="短"))
    again = cache.usage(body("一", system="短"))
    assert again["cache_read_input_tokens"] == again["cache_creation_input_tokens"] == 0


def test_after_five_minutes_it_is_forgotten_and_use_renews_it(cache: PromptCache, clock: Clock) -> None:
    cache.usage(body("一"))
    clock.now = 299
    assert cache.usage(body("一"))["cache_read_input_tokens"] > 0
    clock.now = 299 + 299
    assert cache.usage(body("一"))["cache_read_input_tokens"] > 0
    clock.now = 299 + 299 + 301
    assert cache.usage(body("一"))["cache_read_input_tokens"] == 0


def test_a_growing_conversation_reads_what_it_had_and_writes_what_is_new(cache: PromptCache) -> None:
    short, longer = body("一"), body("一", "二")
    for request in (short, longer):
        request["messages"][0]["content"][-1] |= MARK
    cache.usage(short)
    grown = cache.usage(longer)

    assert grown["cache_read_input_tokens"] > 2000
    assert 0 < grown["cache_creation_input_tokens"] < 30


def test_the_breakpoint_for_the_whole_request_stands_at_its_end(cache: PromptCache) -> None:
    request = {**body("一", marked=False), **MARK}
    cache.usage(request)
    assert cache.usage(request)["input_tokens"] == 0
