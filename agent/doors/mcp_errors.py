"""Errors of MCP's library on their way out: what it took from an exception is said in words of ours instead.

To clients up to 2025-11-25 it says a parser's or a validator's own words about what was sent, and of what a handler
raised whatever that says. Which errors those are is known by their code, not by their words.
"""

import json
from typing import Any, Final

import mcp_types as types
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

# The library's code for what a handler has raised.
RAISED: Final = 0
# An error about no request in particular, by its code: the body could not be read, or is none.
UNREADABLE: Final = {
    types.PARSE_ERROR: "The body is not JSON.",
    types.INVALID_PARAMS: "The body is not one JSON-RPC message: an object with jsonrpc, id, method and params.",
}
BROKE: Final = "This could not be done because of a fault on our side. Try again in a little while."


def in_our_words(body: Any) -> Any | None:
    """The answer as it may go out; None: as it is."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return None
    if error.get("code") == RAISED:
        return {**body, "error": {"code": types.INTERNAL_ERROR, "message": BROKE}}
    words = UNREADABLE.get(error.get("code", RAISED)) if body.get("id") is None else None
    return {**body, "error": {"code": error["code"], "message": words}} if words else None


def saying(send: Send) -> Send:
    """`send`, with a JSON answer held until it is whole and may go out. A stream of events goes through as it comes."""
    start: list[Message] = []
    held = bytearray()

    async def out(message: Message) -> None:
        if message["type"] == "http.response.start" and _is_json(message):
            start.append(message)
        elif start and message["type"] == "http.response.body":
            held.extend(message.get("body", b""))
            if not message.get("more_body", False):
                await _send_whole(send, start.pop(), bytes(held))
        else:
            await send(message)

    return out


def _is_json(start: Message) -> bool:
    return MutableHeaders(scope=start).get("content-type", "").startswith("application/json")


async def _send_whole(send: Send, start: Message, body: bytes) -> None:
    ours = in_our_words(json.loads(body)) if body else None
    if ours is not None:
        body = json.dumps(ours).encode()
        MutableHeaders(scope=start)["content-length"] = str(len(body))
    await send(start)
    await send({"type": "http.response.body", "body": body})
