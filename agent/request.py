"""What every request to the model has in common, where its cache breakpoints stand, and how long it is.

The prefix is tools, system, messages. It is cached up to three marks: behind what never changes, behind the request
before this one (the longest part that is cached already, however many blocks have come since), and at the very end.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import Any, Final

from agent.prompts import read_prompt
from agent.tools import registry

MARK: Final = {"cache_control": {"type": "ephemeral"}}
# Each of these counts as a token of its own; of all others four make one.
WIDE: Final = re.compile(r"[\u2e80-\U0010ffff]")


def system() -> list[dict[str, Any]]:
    """The prompt, with the mark behind what is the same in every conversation: the tools and this."""
    return [{"type": "text", "text": read_prompt("order_page"), **MARK}]


def with_cache_marks(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same messages, marked where the request before this one ended, and at their end.

    A mark finds what was cached at most 20 blocks before it, and one reply can bring more blocks than that. The
    request before ended in front of the newest reply. Both places are the customer's: thinking cannot be marked.
    """
    replies = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    ends = {len(messages) - 1, *(place - 1 for place in replies[-1:])}
    return [_marked(message) if place in ends else message for place, message in enumerate(messages)]


def _marked(message: dict[str, Any]) -> dict[str, Any]:
    *blocks, end = message["content"]
    return {**message, "content": [*blocks, {**end, **MARK}]}


def estimated_tokens(messages: Iterable[dict[str, Any]]) -> int:
    """How long a request with these messages is, in tokens, by its characters."""
    return _constant_tokens() + message_tokens(messages)


def message_tokens(messages: Iterable[dict[str, Any]]) -> int:
    """The same without tools and prompt."""
    texts = (json.dumps(block, ensure_ascii=False) for message in messages for block in message["content"])
    return sum(map(_tokens, texts))


@cache
def _constant_tokens() -> int:
    return sum(_tokens(json.dumps(part, ensure_ascii=False)) for part in chain(registry.definitions(), system()))


def _tokens(text: str) -> int:
    wide = len(WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 4)
