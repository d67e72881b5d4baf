"""Token counts, by characters, and prompt caching by prefix: enough to see whether a caller keeps its prefix stable.

The order of the prefix is tools, system, messages, as in the API's documentation on prompt caching.
"""

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

# Below this many tokens the API caches nothing and says nothing.
SMALLEST_CACHED_PREFIX = 1024
# A breakpoint finds an older entry at most this many blocks before itself.
LOOKBACK_BLOCKS = 20
LIFE_SECONDS = {"5m": 300, "1h": 3600}


def count_tokens(text: str) -> int:
    """About one token per Chinese, Japanese or Korean character and per four others."""
    wide = sum(1 for character in text if "\u2e80" <= character <= "\uffef")
    return wide + math.ceil((len(text) - wide) / 4)


@dataclass(frozen=True, slots=True)
class Segment:
    """One cacheable piece of the request. `life` is set where a breakpoint stands behind it, in seconds."""

    text: str
    life: int | None

    @property
    def tokens(self) -> int:
        return count_tokens(self.text)


def segments(body: dict[str, Any]) -> Iterator[Segment]:
    for tool in body.get("tools") or []:
        yield _segment(tool)
    system = body.get("system") or []
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield _segment(block)
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            yield _segment(block, role=message["role"])


def _segment(block: dict[str, Any], *, role: str = "") -> Segment:
    control = block.get("cache_control")
    kept = {key: value for key, value in block.items() if key != "cache_control"}
    text = role + json.dumps(kept, ensure_ascii=False, sort_keys=True)
    return Segment(text, LIFE_SECONDS[control.get("ttl", "5m")] if control else None)


def input_tokens(body: dict[str, Any]) -> int:
    return sum(segment.tokens for segment in segments(body))


@dataclass
class PromptCache:
    """Which prefixes were sent before, and until when they are kept. `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    entries: dict[str, float] = field(default_factory=dict)

    def usage(self, body: dict[str, Any]) -> dict[str, Any]:
        """Count the request, read what is cached and keep what its breakpoints ask for."""
        parts = list(segments(body))
        if body.get("cache_control") and parts:
            parts[-1] = Segment(parts[-1].text, LIFE_SECONDS[body["cache_control"].get("ttl", "5m")])
        hashes, sums = self._prefixes(body.get("model", ""), parts)
        marked = [index for index, part in enumerate(parts) if part.life and sums[index] >= SMALLEST_CACHED_PREFIX]
        read = self._read(hashes, sums, marked)
        written = max((sums[index] for index in marked), default=0)
        self._keep(hashes, parts, marked)
        created = max(written - read, 0)
        return {
            "input_tokens": (sums[-1] if sums else 0) - max(written, read),
            "cache_creation_input_tokens": created,
            "cache_read_input_tokens": read,
            "cache_creation": {"ephemeral_5m_input_tokens": created, "ephemeral_1h_input_tokens": 0},
            "service_tier": "standard",
        }

    def _prefixes(self, model: str, parts: list[Segment]) -> tuple[list[str], list[int]]:
        running, total = hashlib.sha256(model.encode()), 0
        hashes, sums = [], []
        for part in parts:
            running.update(part.text.encode("utf-8", "surrogatepass") + b"\x00")
            total += part.tokens
            hashes.append(running.hexdigest())
            sums.append(total)
        return hashes, sums

    def _read(self, hashes: list[str], sums: list[int], marked: list[int]) -> int:
        now, found = self.clock(), 0
        for index in marked:
            for earlier in range(index, max(index - LOOKBACK_BLOCKS, -1), -1):
                if self.entries.get(hashes[earlier], 0) > now:
                    found = max(found, sums[earlier])
                    break
        return found

    def _keep(self, hashes: list[str], parts: list[Segment], marked: list[int]) -> None:
        now = self.clock()
        if len(self.entries) > 2000:
            self.entries = {key: until for key, until in self.entries.items() if until > now}
        for index in marked:
            self.entries[hashes[index]] = now + (parts[index].life or 0)
