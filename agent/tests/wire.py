"""A server that sends the frames a test gives it, for what the stand-in would never say."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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
    """A server that sends exactly these frames, in pure ASCII, so that escapes arrive as they were written.

    `raw` is sent behind the frames as it stands. `stays_open`: the server waits then until the other side has closed,
    and `closed` says that it has.
    """

    def __init__(self) -> None:
        self.frames: Frames = []
        self.raw = ""
        self.status = 200
        self.headers: dict[str, str] = {}
        self.stays_open = False
        self.closed = threading.Event()
        self.url = ""

    def body(self) -> bytes:
        frames = (f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n" for frame in self.frames)
        return ("".join(frames) + self.raw).encode()


@contextmanager
def serving() -> Iterator[Wire]:
    """A wire, listening."""
    wire = Wire()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(wire.status)
            for name, value in {"content-type": "text/event-stream; charset=utf-8", **wire.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(wire.body())
            if wire.stays_open and not self.connection.recv(1):
                wire.closed.set()

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    wire.url = f"http://127.0.0.1:{server.server_port}"
    yield wire
    server.shutdown()
    server.server_close()
