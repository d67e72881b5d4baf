"""What the client makes of the wire: blocks unchanged, text that can be stored, a verdict on every ending."""

import json
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pytest_django import Settings

from agent import client
from agent.endings import Retry

Frames = list[dict[str, Any]]
START: dict[str, Any] = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 5,
            "cache_read_input_tokens": 7,
            "output_tokens": 1,
        },
    },
}
END: Frames = [
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 3},
    },
    {"type": "message_stop"},
]


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> Frames:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, *pieces: str) -> Frames:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


def tool(index: int, *pieces: str) -> Frames:
    start = {"type": "tool_use", "id": "toolu_1", "name": "get_order", "input": {}}
    return block(index, start, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


class Wire:
    """A server that sends exactly these frames, in pure ASCII, so that escapes arrive as they were written."""

    frames: Frames = []

    def body(self) -> bytes:
        return "".join(f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n" for frame in self.frames).encode()


@pytest.fixture
def wire(settings: Settings) -> Generator[Wire]:
    wire = Wire()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.end_headers()
            self.wfile.write(wire.body())

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    settings.ANTHROPIC_BASE_URL = f"http://127.0.0.1:{server.server_port}"
    yield wire
    server.shutdown()
    server.server_close()


def ask(shown: list[str] | None = None) -> client.Reply:
    return client.reply_to(
        system=[],
        tools=[],
        messages=[{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
        on_text=(shown if shown is not None else []).append,
        going_on=lambda: True,
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
    assert (reply.input_tokens, reply.cached_tokens, reply.output_tokens) == (15, 7, 3)
    assert (reply.model, reply.stop_reason) == ("claude-sonnet-5-5", "end_turn")


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


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [START],
        [START, *text(0, "Hel")[:-1]],
        [START, *text(0, "Hello")],
        [START, *tool(0, '{"a": ')[:-1]],
        [START, *tool(0, '{"a": }}'), *END],
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
        client.reply_to(
            system=[],
            tools=[],
            messages=[{"role": "user", "content": "hello"}],
            on_text=lambda piece: None,
            going_on=lambda: False,
        )
