"""What the client makes of the wire: blocks unchanged, text that can be stored, a verdict on every ending."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from anthropic.resources.messages import Messages
from pytest_django import Settings

from agent import client, frames
from agent.endings import Retry
from agent.tests.wire import END, START, Frames, Wire, block, text, tool

CALLS: Frames = [{**END[0], "delta": {"stop_reason": "tool_use", "stop_sequence": None}}, END[1]]


def ask(
    shown: list[str] | None = None,
    *,
    on_text: Callable[[str], None] | None = None,
    going_on: Callable[[], bool] = lambda: True,
    **more: Any,
) -> client.Reply:
    return client.reply_to(
        system=[],
        tools=[],
        messages=[{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
        on_text=on_text or (shown if shown is not None else []).append,
        going_on=going_on,
        **more,
    )


def test_thinking_comes_back_as_it_was_sent(wire: Wire) -> None:
    thinking = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Let me "},
        {"type": "thinking_delta", "thinking": "see."},
        {"type": "signature_delta", "signature": "EqQBCgIYAhIM"},
    )
    hidden = block(1, {"type": "redacted_thinking", "data": "EmwKAhgBEgy3"})
    wire.frames = [START, *thinking, *hidden, *text(2, "Hel", "lo"), *END]
    assert ask().content == [
        {"type": "thinking", "thinking": "Let me see.", "signature": "EqQBCgIYAhIM"},
        {"type": "redacted_thinking", "data": "EmwKAhgBEgy3"},
        {"type": "text", "text": "Hello"},
    ]


def test_words_are_shown_as_they_come_and_counted(wire: Wire) -> None:
    wire.frames = [START, *text(0, "Hel", "lo"), *END]
    shown: list[str] = []
    reply = ask(shown)
    assert shown == ["Hel", "lo"]
    used = reply.usage
    assert (used.fresh + used.written, used.cached, used.output) == (15, 7, 3)
    assert (used.model, reply.stop_reason) == ("claude-sonnet-5-5", "end_turn")


def test_what_cannot_be_stored_is_mended(wire: Wire) -> None:
    wire.frames = [
        START,
        *text(0, "a\x00b \ud83d\ude00 ", "half \ud83d", "\ude00 lone \ud83d."),
        *tool(1, '{"a\\u0000": ["x\\u0000y"]}'),
        *END,
    ]
    shown: list[str] = []
    reply = ask(shown)
    assert reply.content[0]["text"] == "ab 😀 half 😀 lone \ufffd."
    assert reply.content[1]["input"] == {"a": ["xy"]}
    for piece in shown:
        piece.encode()


def test_numbers_that_no_json_can_hold_are_left_out(wire: Wire) -> None:
    wire.frames = [START, *tool(0, '{"a": NaN, "b": [-Infinity, 1.5, 7, true], "c": 1' + "0" * 4000 + "}"), *END]
    assert ask().content[0]["input"] == {"a": None, "b": [None, 1.5, 7, True], "c": None}


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [START],
        [START, *text(0, "Hel")[:-1]],
        [START, *text(0, "Hello")],
        [START, *tool(0, '{"a": ')[:-1]],
        [START, *tool(0, '{"a": }}'), *CALLS],
        [*text(0, "Hello"), *END],
        [START, {"type": "content_block_delta", "index": 4, "delta": {"type": "text_delta", "text": "x"}}, *END],
        [START, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}],
    ],
    ids=[
        "nothing",
        "only the start",
        "in mid-text",
        "before the end",
        "in mid-JSON",
        "JSON that is none",
        "no start",
        "a block that never began",
        "an error in mid-stream",
    ],
)
def test_a_stream_that_is_not_whole_is_no_reply_and_worth_another_try(wire: Wire, frames: Frames) -> None:
    wire.frames = frames
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert isinstance(failed.value.ending.what, Retry)


def test_an_error_in_the_stream_is_known_by_its_type(wire: Wire) -> None:
    wire.frames = [START, {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}]
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert failed.value.ending.name == "bad_request"


def test_who_is_told_to_stop_leaves_the_stream(wire: Wire) -> None:
    wire.frames = [START, *text(0, "Hello"), *END]
    with pytest.raises(client.Stopped):
        ask(going_on=lambda: False)


def refuse_words(piece: str) -> None:
    raise LookupError("ours")


LEFT: list[tuple[type[Exception], str, dict[str, Any]]] = [
    (client.Stopped, "", {"going_on": lambda: False}),
    (LookupError, "", {"on_text": refuse_words}),
    (client.ModelFailed, 'event: error\ndata: {"error": {"type": "api_error", "message": "no"}}\n\n', {}),
    (client.ModelFailed, "event: content_block_stop\ndata: oops\n\n", {}),
]


@pytest.mark.parametrize(("kind", "raw", "options"), LEFT, ids=["told to stop", "a fault of ours", "error", "no JSON"])
def test_however_a_stream_is_left_its_connection_is_closed(
    wire: Wire, kind: type[Exception], raw: str, options: dict[str, Any]
) -> None:
    wire.frames, wire.raw, wire.stays_open = [START, *text(0, "Hello")], raw, True
    with pytest.raises(kind) as left:
        ask(**options)
    assert wire.closed.wait(5), f"after {left.value!r} the server still waits"


@pytest.mark.parametrize("data", ['{"type": "error"}', '{"error": null}', "oops"], ids=["bare", "null", "no JSON"])
def test_an_error_in_the_stream_that_says_nothing_is_worth_another_try(wire: Wire, data: str) -> None:
    wire.frames, wire.raw = [START], f"event: error\ndata: {data}\n\n"
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert isinstance(failed.value.ending.what, Retry)


@pytest.mark.parametrize(("should", "forbidden"), [("false", True), ("true", False)])
def test_the_api_may_forbid_another_try_in_the_middle_of_a_stream_too(wire: Wire, should: str, forbidden: bool) -> None:
    wire.headers = {"x-should-retry": should}
    wire.frames = [START, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}]
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert failed.value.retry_forbidden is forbidden


def test_a_reply_that_does_not_end_is_no_reply_and_asked_for_again(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_CHARACTERS", 1000)
    wire.frames = [START, *text(0, *["word"] * 30), *END]
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert failed.value.ending.name == "malformed_reply"
    assert isinstance(failed.value.ending.what, Retry)


@pytest.mark.parametrize("begun_with", [0, 1], ids=["as it comes", "with what a block began with"])
@pytest.mark.parametrize("too_many", [0, 1], ids=["as long as may be", "one sign longer"])
def test_no_reply_is_longer_than_the_tokens_that_were_asked_for_can_be(
    wire: Wire, settings: Settings, begun_with: int, too_many: int
) -> None:
    """Whoever reads it afterwards, sentence by sentence, has a limit to rely on."""
    settings.AGENT_MAX_OUTPUT_TOKENS = 64
    most = 64 * client.CHARACTERS_PER_TOKEN
    started, *rest = text(0, *["w" * 16] * (most // 16 - 1), "w" * (16 - begun_with + too_many))
    started = {**started, "content_block": {**started["content_block"], "text": "w" * begun_with}}
    wire.frames = [START, started, *rest, *END]
    if not too_many:
        assert len(ask().content[0]["text"]) == most
        return
    shown: list[str] = []
    with pytest.raises(client.ModelFailed) as failed:
        ask(on_text=shown.append)
    assert failed.value.ending.name == "malformed_reply"
    assert len("".join(shown)) <= most


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", ""), ("id", "x" * 81), ("id", "通話"), ("id", "call:1"), ("id", 7), ("name", None)],
    ids=["no id", "a long id", "another script", "another sign", "a number", "no name"],
)
def test_a_call_that_cannot_be_kept_or_sent_back_makes_the_reply_none(wire: Wire, field: str, value: Any) -> None:
    started, *rest = tool(0, "{}")
    call = {**started["content_block"], field: value}
    wire.frames = [START, {**started, "content_block": call}, *rest, *CALLS]
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert failed.value.ending.name == "malformed_reply"


def test_the_longest_id_is_taken(wire: Wire) -> None:
    started, *rest = tool(0, "{}")
    call = {**started["content_block"], "id": "x" * 80}
    wire.frames = [START, {**started, "content_block": call}, *rest, *CALLS]
    assert ask().content[0]["id"] == "x" * 80


def test_arguments_that_were_cut_with_the_reply_are_none_at_all(wire: Wire) -> None:
    cut = [{**END[0], "delta": {"stop_reason": "max_tokens", "stop_sequence": None}}, END[1]]
    wire.frames = [START, *tool(0, '{"a": 1, "b": '), *cut]
    reply = ask()
    assert reply.stop_reason == "max_tokens"
    assert reply.content[0]["input"] is None


@pytest.mark.parametrize("closed", [True, False])
def test_a_call_that_was_cut_in_the_middle_of_a_number_is_never_run(wire: Wire, closed: bool) -> None:
    frames = tool(0, '{"order_number": "5531", "quantity": 1')
    wire.frames = [START, *(frames if closed else frames[:-1]), *CALLS]
    with pytest.raises(client.ModelFailed) as failed:
        ask()
    assert failed.value.ending.name == "malformed_reply"


def test_frames_that_nobody_here_knows_end_nothing(wire: Wire) -> None:
    wire.frames = [START, *text(0, "Hello"), {"type": "weather"}, *END]
    assert ask().content == [{"type": "text", "text": "Hello"}]


def test_totals_that_are_told_at_the_end_take_the_place_of_those_at_the_beginning(wire: Wire) -> None:
    wire.frames = [START, *text(0, "Hello"), {**END[0], "usage": {"output_tokens": 9, "input_tokens": 20}}, END[1]]
    used = ask().usage
    assert (used.fresh, used.written, used.cached, used.output) == (20, 5, 7, 9)


def test_what_is_no_number_of_tokens_counts_as_none(wire: Wire) -> None:
    odd = {"input_tokens": -5, "output_tokens": "9", "cache_read_input_tokens": 1.5}
    wire.frames = [START, *text(0, "Hello"), {**END[0], "usage": odd}, END[1]]
    used = ask().usage
    assert [used.fresh, used.output, used.cached] == [0, 0, 0]
    assert {type(count) for count in (used.fresh, used.output, used.cached)} == {int}


def test_blocks_that_nobody_here_knows_are_kept_as_they_were_sent(wire: Wire) -> None:
    unknown = {"type": "server_thing", "id": "srv_1", "input": {"deep": [1, {"x": None}]}}
    wire.frames = [START, *block(0, unknown), *text(1, "Hello"), *END]
    assert ask().content == [unknown, {"type": "text", "text": "Hello"}]


@pytest.mark.parametrize(
    ("seconds", "connect", "silence"),
    [
        (float("inf"), client.CONNECT_SECONDS, 60),
        (2, 2, 2),
        (-1, client.SHORTEST_SILENCE, client.SHORTEST_SILENCE),
    ],
    ids=["as the settings say", "little time left", "none left"],
)
def test_how_long_is_waited_for_a_connection_and_for_words(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, seconds: float, connect: float, silence: float
) -> None:
    asked: list[httpx2.Timeout] = []

    def create(self: Any, *, timeout: httpx2.Timeout, **request: Any) -> None:
        asked.append(timeout)
        raise TimeoutError

    # In place of the SDK's own: what it is given decides how long it waits.
    monkeypatch.setattr(Messages, "create", create)
    settings.AGENT_MODEL_TIMEOUT_SECONDS = 60
    with pytest.raises(client.ModelFailed):
        ask(seconds=seconds)
    (timeout,) = asked
    assert (timeout.connect, timeout.read) == (connect, silence)


def test_whoever_had_to_wait_for_the_wire_is_given_a_rest_after_what_came(wire: Wire) -> None:
    read: list[bytes] = []
    rests: list[int] = []

    def body() -> Iterator[bytes]:
        yield b"at once"
        time.sleep(client.AT_ONCE_SECONDS * 2)
        yield b"later"

    watched = client._Watched(body(), lambda: True, lambda: rests.append(len(read)))
    for piece in watched:
        read.append(piece)
    assert read == [b"at once", b"later"]
    assert rests[-1] == 2
