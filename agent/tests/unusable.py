"""What may be posted to the door of MCP and is no call, and the words that no answer to it may have."""

from typing import Any

CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
# Bytes are sent as they are, everything else as JSON.
UNUSABLE: list[Any] = [
    {**CALL, "params": {"name": 7}},
    {**CALL, "params": {"name": "get_order", "arguments": "x"}},
    {**CALL, "params": "get_order"},
    {**CALL, "method": "no/such", "params": {}},
    {**CALL, "method": 7},
    {**CALL, "params": {"name": "x" * 200_000}},
    {"a": 1},
    {},
    [],
    [CALL],
    None,
    "get_order",
    7,
    b"",
    b"{not json",
    b'{"jsonrpc": "2.0"',
    b'"\xff"',
    b"[" * 10_000,
    b"9" * 10_000,
]
FOREIGN = (
    *("Traceback", "File ", "Error", "pydantic", "django", "agent_", "psycopg", "relation"),
    *("validation error", "input_value", "line 1", "column", "expected", "Input should", "JSONRPC"),
)


def foreign_words(said: str) -> list[str]:
    """What only an exception of a library would say."""
    return [word for word in FOREIGN if word in said]


def repr_of(body: Any) -> str:
    return repr(body)[:40]
