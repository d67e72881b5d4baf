"""4 model: one streamed call through the anthropic SDK, and what each ending means. Nobody else imports the SDK.

A reply counts only when its `stop_reason` is set: a stream that ends cleanly in mid-sentence raises nothing in the SDK
and must not be taken for an answer.
"""

import json
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2
from django.conf import settings

from agent import endings, failure_words
from agent.endings import Ending
from agent.frames import Heard, TooLong

Block = dict[str, Any]
# What the API takes back; another id would run a tool whose answer no request can hold.
CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,80}")
CONNECT_SECONDS = 5
SHORTEST_SILENCE = 0.05
LARGEST_NUMBER = 10**300
# A token has some four characters in English and one in Chinese: longer words than this no model has written.
CHARACTERS_PER_TOKEN = 8
# What is there already is read faster than this; more is to be waited for.
AT_ONCE_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call: read afresh, written to the cache, read from it, and written by the model."""

    model: str
    fresh: int
    written: int
    cached: int
    output: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished reply. `content` are the model's blocks as it sent them, thinking blocks included."""

    content: list[Block]
    stop_reason: str
    usage: Usage
    request_id: str = ""


class ModelFailed(Exception):
    """No usable reply. `ending` is the line of the table that says what to do; `after` seconds, if told when again.

    `detail` is for the log, and holds no words of customers (`failure_words.py`). `retry_forbidden`: the API says that
    the same request will not work later either. `usage`: what was used before it broke, where the stream had begun.
    """

    usage: Usage | None = None

    def __init__(
        self,
        ending: Ending,
        detail: str = "",
        *,
        after: float | None = None,
        request_id: str = "",
        retry_forbidden: bool = False,
    ) -> None:
        super().__init__(f"{ending.name}: {detail}")
        self.ending, self.detail, self.after, self.request_id = ending, detail[:500], after, request_id
        self.retry_forbidden = retry_forbidden


class Stopped(Exception):
    """The worker is going down, or the turn is no longer ours: leave the stream."""


@cache
def _client(key: str, url: str) -> anthropic.Anthropic:
    # The loop tries again by itself, where it sees the time that is left and the order to stop. Calls are rows, log
    # lines and metrics already; spans that nobody collects cost a tenth of hearing a short reply.
    return anthropic.Anthropic(api_key=key, base_url=url, max_retries=0, open_telemetry=False)


def reply_to(
    *,
    system: list[Block],
    tools: list[dict[str, Any]],
    messages: list[dict[str, Any]],
    on_text: Callable[[str], None],
    going_on: Callable[[], bool],
    rest: Callable[[], None] = lambda: None,
    seconds: float = float("inf"),
) -> Reply:
    """One model call. `on_text` gets pieces as they come; `going_on` is asked at every sign of life and may raise.

    `rest` is called when all that has come is read: it may wait a moment, so that more comes at once. `seconds`: how
    long it may be silent at most, if that is less than the settings allow.
    Raises `ModelFailed`, and `Stopped` when `going_on` says no. Whether pieces already shown were worth anything is
    known only when this returns.
    """
    # The SDK refuses to start without a key; a stand-in takes any.
    key = settings.ANTHROPIC_API_KEY or "no-key"
    silence = max(min(settings.AGENT_MODEL_TIMEOUT_SECONDS, seconds), SHORTEST_SILENCE)
    with _open(
        settings.ANTHROPIC_BASE_URL,
        key,
        silence,
        model=settings.AGENT_MODEL,
        max_tokens=settings.AGENT_MAX_OUTPUT_TOKENS,
        system=system,
        tools=tools,
        messages=messages,
    ) as stream:
        stream.response.stream = _Watched(stream.response.stream, going_on, rest)
        request_id, heard = stream.response.headers.get("request-id", ""), Heard()
        try:
            for words in _words(stream.response, heard):
                on_text(storable(words))
            with _failures():
                return _checked(heard, request_id)
        except ModelFailed as failure:
            failure.usage = _usage(heard) if heard.begun else None
            raise


@contextmanager
def _open(url: str, key: str, silence: float, **request: Any) -> Iterator[Any]:
    """The stream, begun. However it is left, its connection is closed, or given back if it was read to the end."""
    with _failures():
        # A connection takes seconds or none at all; silence is measured from then on.
        timeout = httpx2.Timeout(silence, connect=min(silence, CONNECT_SECONDS))
        stream = _client(key, url).messages.create(stream=True, timeout=timeout, **request)
    try:
        yield stream
    finally:
        stream.close()


class _Watched(httpx2.SyncByteStream):
    """A body that asks before every piece of it whether to go on. Pings may come for ever, and the SDK hides them."""

    def __init__(self, body: Any, going_on: Callable[[], bool], rest: Callable[[], None]) -> None:
        self._body, self._going_on, self._rest = body, going_on, rest

    def __iter__(self) -> Iterator[bytes]:
        asked = time.monotonic()
        for piece in self._body:
            if not self._going_on():
                raise Stopped
            waited = time.monotonic() - asked > AT_ONCE_SECONDS
            yield piece
            if waited:
                self._rest()
            asked = time.monotonic()

    def close(self) -> None:
        self._body.close()


def _words(response: httpx2.Response, heard: Heard) -> Iterator[str]:
    """The customer's words as they come; `heard` gets everything.

    Only what breaks in the SDK or in a frame is a failure of the model, not what a caller does with its words.
    """
    frames = anthropic.Stream.raw_events(response)
    left = CHARACTERS_PER_TOKEN * settings.AGENT_MAX_OUTPUT_TOKENS
    while True:
        with _failures():
            frame = next(frames, None)
            if frame is None:
                return
            # The wire names every frame; what has no name is none, and the SDK ignores it.
            words = heard.take(frame.event, frame.data)
            left -= len(words)
            if left < 0:
                raise TooLong("more words than were asked for")
        if frame.event == "error":
            raise _told_in_stream(frame.data, response)
        if words:
            yield words


def _told_in_stream(data: str, response: httpx2.Response) -> ModelFailed:
    """An error that the API tells of in the middle of a stream whose status was 200."""
    try:
        error = json.loads(data)["error"]
        kind, message = str(error["type"]), str(error["message"])
    except (ValueError, LookupError, TypeError):
        kind, message = "", data
    return ModelFailed(
        endings.of_status(anthropic.APIStatusError, status=response.status_code, type_=kind or None),
        failure_words.of_refusal(response.status_code, kind, message),
        after=_retry_after(response.headers),
        request_id=response.headers.get("request-id", ""),
        retry_forbidden=response.headers.get("x-should-retry") == "false",
    )


@contextmanager
def _failures() -> Iterator[None]:
    """Whatever the SDK and the network raise becomes a `ModelFailed` with its line of the table."""
    try:
        yield
    except (ModelFailed, Stopped):
        raise
    except TooLong as error:
        raise ModelFailed(endings.BY_NAME["malformed_reply"], str(error)) from error
    except Exception as error:
        raise _failure(error) from error


def _checked(heard: Heard, request_id: str) -> Reply:
    if not heard.begun:
        raise ModelFailed(endings.BY_NAME["broken_frames"], "no message_start", request_id=request_id)
    if heard.stop_reason is None:
        raise ModelFailed(endings.of_stop(None), request_id=request_id)
    content = [storable(block) for block in heard.content()]
    # A block can also begin with words, which are none of those that came one after the other.
    words = sum(len(block["text"]) for block in content if block["type"] == "text")
    if words > CHARACTERS_PER_TOKEN * settings.AGENT_MAX_OUTPUT_TOKENS:
        raise ModelFailed(endings.BY_NAME["malformed_reply"], "more words than were asked for", request_id=request_id)
    if problem := _malformed(content, heard.stop_reason):
        raise ModelFailed(endings.BY_NAME["malformed_reply"], problem, request_id=request_id)
    return Reply(content, heard.stop_reason, _usage(heard), request_id)


def _usage(heard: Heard) -> Usage:
    used = heard.usage
    return Usage(
        model=str(heard.model),
        fresh=_count(used.get("input_tokens")),
        written=_count(used.get("cache_creation_input_tokens")),
        cached=_count(used.get("cache_read_input_tokens")),
        output=_count(used.get("output_tokens")),
    )


def _count(told: Any) -> int:
    return told if isinstance(told, int) and told > 0 else 0


def _malformed(content: list[Block], stop_reason: str) -> str:
    """What is wrong with the calls of a reply that ends in calls; "" if nothing is."""
    if stop_reason != "tool_use":
        return ""
    calls = [block for block in content if block.get("type") == "tool_use"]
    ids = [call.get("id") for call in calls]
    if not calls:
        return "stop reason tool_use without a call"
    if len(set(map(str, ids))) < len(ids):
        return "the same id twice"
    whole = all(
        isinstance(call.get("id"), str)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("input"), dict)
        and CALL_ID.fullmatch(call["id"])
        for call in calls
    )
    return "" if whole else "a call without id, name or arguments"


def _failure(error: Exception) -> ModelFailed:
    if not isinstance(error, anthropic.APIStatusError):
        ending = endings.of_class(type(error))
        unheard = ending.name in {"unreachable", "silence"}
        return ModelFailed(ending, failure_words.of_exception(error, about_the_way=unheard))
    kind, headers = getattr(error, "type", None), error.response.headers
    return ModelFailed(
        endings.of_status(type(error), status=error.status_code, type_=kind),
        failure_words.of_refusal(error.status_code, kind or type(error).__name__, error.api_message or error.message),
        after=_retry_after(headers),
        request_id=error.request_id or "",
        retry_forbidden=headers.get("x-should-retry") == "false",
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: from milliseconds, seconds or a date, as the API may send them. None: nothing usable."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return seconds if seconds >= 0 else None  # also not a number
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(moment.timestamp() - time.time(), 0)


def storable(value: Any) -> Any:
    """JSON that PostgreSQL can store: without U+0000, halves of surrogate pairs joined or replaced, numbers that are
    numbers. What is no number to JSON, or has thousands of digits, becomes null, and no schema takes that for one.
    """
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float | int) and not -LARGEST_NUMBER < value < LARGEST_NUMBER:
        return None
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
