"""4 model: one streamed call through the anthropic SDK, and what each ending means. Nobody else imports the SDK.

A reply counts only when its `stop_reason` is set: a stream that ends cleanly in mid-sentence raises nothing in the SDK
and must not be taken for an answer.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2
from django.conf import settings

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished reply. `content` are the model's blocks as it sent them, thinking blocks included.

    `input_tokens` were not read from the cache; `written_tokens` of them were written to it.
    """

    content: list[Block]
    stop_reason: str
    model: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    written_tokens: int = 0
    request_id: str = ""


class ModelFailed(Exception):
    """No usable reply. `retryable` says whether the same request may work a moment later; `after` seconds, if told."""

    def __init__(self, reason: str, *, retryable: bool, after: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.retryable, self.after = reason, retryable, after


class Stopped(Exception):
    """The worker is going down, or the turn is no longer ours: leave the stream."""


@cache
def _client(key: str, url: str, silence: float) -> anthropic.Anthropic:
    """`silence`: seconds without a byte after which a call counts as dead."""
    # The loop tries again by itself, where it sees the time that is left and the order to stop.
    return anthropic.Anthropic(api_key=key, base_url=url, timeout=httpx2.Timeout(silence, connect=5), max_retries=0)


def reply_to(
    *,
    system: list[Block],
    tools: list[dict[str, Any]],
    messages: list[dict[str, Any]],
    on_text: Callable[[str], None],
    going_on: Callable[[], bool],
) -> Reply:
    """One model call. `on_text` gets pieces as they come; `going_on` is asked at every event and may raise.

    Raises `ModelFailed`, and `Stopped` when `going_on` says no. Whether pieces already shown were worth anything is
    known only when this returns.
    """
    # The SDK refuses to start without a key; a stand-in takes any.
    key, silence = settings.ANTHROPIC_API_KEY or "no-key", settings.AGENT_MODEL_TIMEOUT_SECONDS
    try:
        with _client(key, settings.ANTHROPIC_BASE_URL, silence).messages.stream(
            model=settings.AGENT_MODEL,
            max_tokens=settings.AGENT_MAX_OUTPUT_TOKENS,
            system=system,  # type: ignore[arg-type]
            tools=tools,  # type: ignore[arg-type]
            messages=messages,  # type: ignore[arg-type]
        ) as stream:
            for event in stream:
                if not going_on():
                    raise Stopped
                # Only the derived event: the wire's content_block_delta carries the same words once more.
                if event.type == "text":
                    on_text(storable(event.text))
            final = stream.get_final_message()
    except anthropic.APIStatusError as error:
        raise _status_failure(error) from error
    except BROKEN_STREAM as error:
        raise ModelFailed(type(error).__name__, retryable=True) from error
    return _checked(final, stream.request_id or "")


# The last four are how the SDK takes frames that are missing, out of order, or hold broken JSON.
BROKEN_STREAM = (anthropic.APIError, httpx2.HTTPError, AssertionError, RuntimeError, ValueError, IndexError)


def _checked(final: Any, request_id: str) -> Reply:
    if final.stop_reason is None:
        raise ModelFailed("the stream ended early", retryable=True)
    usage = final.usage
    return Reply(
        content=[storable(block.model_dump(mode="json", exclude_unset=True)) for block in final.content],
        stop_reason=final.stop_reason,
        model=final.model,
        input_tokens=usage.input_tokens + (usage.cache_creation_input_tokens or 0),
        cached_tokens=usage.cache_read_input_tokens or 0,
        output_tokens=usage.output_tokens,
        written_tokens=usage.cache_creation_input_tokens or 0,
        request_id=request_id,
    )


def _status_failure(error: anthropic.APIStatusError) -> ModelFailed:
    """A stream that breaks with an error frame has status 200: then the frame's type decides."""
    kind = getattr(error, "type", None) or ""
    retryable = error.status_code in {408, 409, 429} or error.status_code >= 500 or kind in _PASSING_ERRORS
    return ModelFailed(kind or f"status {error.status_code}", retryable=retryable, after=_retry_after(error))


_PASSING_ERRORS = {"overloaded_error", "api_error", "rate_limit_error", "timeout_error"}


def _retry_after(error: anthropic.APIStatusError) -> float | None:
    try:
        return float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None


def storable(value: Any) -> Any:
    """JSON that PostgreSQL can store: without U+0000, and with halves of surrogate pairs joined or replaced."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    return value


def reachable() -> bool:
    """Does anything answer at the model's address? Asked for readiness only."""
    parts = urlsplit(settings.ANTHROPIC_BASE_URL)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), timeout=1):
            return True
    except OSError:
        return False
