"""What the Messages API refuses before any model sees it: fields, messages, content blocks, answered calls.

Words and rules follow the API's documentation and its published error messages, so that a caller who meets the stand-in
first meets no surprise later. Everything here raises `ApiError`.
"""

import re
from collections.abc import Mapping
from typing import Any

from agent.offline.errors import ApiError, invalid, missing, unexpected
from agent.offline.tool_rules import check_tool_choice, check_tools

SAMPLING = ("temperature", "top_p", "top_k")
COUNTED_FIELDS = frozenset(
    {"cache_control", "messages", "model", "output_config", "system", "thinking", "tool_choice", "tools"}
)
MESSAGE_FIELDS = COUNTED_FIELDS | {
    "container",
    "context_management",
    "diagnostics",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "metadata",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
}
MOST_BREAKPOINTS = 4
ID = re.compile(r"^[a-zA-Z0-9_-]+$")
# Block types by role, and the fields each may carry. None: not looked into.
BLOCKS: Mapping[str, Mapping[str, frozenset[str] | None]] = {
    "user": {
        "text": frozenset({"type", "text", "cache_control", "citations"}),
        "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"}),
        "image": None,
        "document": None,
        "search_result": None,
    },
    "assistant": {
        "text": frozenset({"type", "text", "cache_control", "citations"}),
        "tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller", "toolset_name"}),
        "thinking": frozenset({"type", "thinking", "signature"}),
        "redacted_thinking": frozenset({"type", "data"}),
    },
}
RESULT_BLOCKS = frozenset({"text", "image", "document", "search_result", "tool_reference"})
Block = dict[str, Any]


def check_request(body: Any, *, counting: bool = False) -> dict[str, Any]:
    """The body, if the API would take it. `counting`: for count_tokens, which needs no `max_tokens`."""
    if not isinstance(body, dict):
        raise invalid("Input should be a valid dictionary or object to extract fields from")
    _check_fields(body, COUNTED_FIELDS if counting else MESSAGE_FIELDS)
    _check_model(body)
    if not counting:
        _check_max_tokens(body)
    _check_system(body.get("system"))
    check_tools(body.get("tools"))
    check_tool_choice(body)
    messages = check_messages(body)
    _check_pairs(messages, has_tools=bool(body.get("tools")))
    _check_breakpoints(body)
    return body


def _check_fields(body: dict[str, Any], allowed: frozenset[str]) -> None:
    for name in SAMPLING:
        if name in body:
            raise invalid(f"`{name}` is deprecated for this model.")
    for name in body:
        if name not in allowed:
            raise unexpected(name)
    if not isinstance(body.get("stream", False), bool):
        raise invalid("stream: Input should be a valid boolean")


def _check_model(body: dict[str, Any]) -> None:
    model = body.get("model")
    if model is None:
        raise missing("model")
    if not isinstance(model, str) or not model:
        raise invalid("model: Input should be a valid string")
    if not model.startswith("claude-"):
        raise ApiError(404, "not_found_error", f"model: {model}")


def _check_max_tokens(body: dict[str, Any]) -> None:
    tokens = body.get("max_tokens")
    if tokens is None:
        raise missing("max_tokens")
    if isinstance(tokens, bool) or not isinstance(tokens, int):
        raise invalid("max_tokens: Input should be a valid integer")
    if tokens < 0:
        raise invalid("max_tokens: Input should be greater than or equal to 0")


def _check_system(system: Any) -> None:
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        raise invalid("system: Input should be a valid string or list")
    for index, block in enumerate(system):
        if not isinstance(block, dict) or block.get("type") != "text":
            raise invalid(f"system.{index}: only text blocks are supported")
        _check_text(block, f"system.{index}", "system")


def check_messages(body: dict[str, Any]) -> list[tuple[str, list[tuple[str, Block]]]]:
    """Every turn: role, and blocks with their places. Consecutive messages of one role are one turn, as in the API."""
    messages = body.get("messages")
    if messages is None:
        raise missing("messages")
    if not isinstance(messages, list):
        raise invalid("messages: Input should be a valid list")
    if not messages:
        raise invalid("messages: at least one message is required")
    turns: list[tuple[str, list[tuple[str, Block]]]] = []
    for index, message in enumerate(messages):
        role, blocks = _check_message(message, index)
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
    if turns[0][0] != "user":
        raise invalid('messages: first message must use the "user" role')
    if turns[-1][0] != "user":
        raise invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    return turns


def _check_message(message: Any, index: int) -> tuple[str, list[tuple[str, Block]]]:
    if not isinstance(message, dict):
        raise invalid(f"messages.{index}: Input should be a valid dictionary")
    for name in message:
        if name not in {"role", "content"}:
            raise unexpected(f"messages.{index}.{name}")
    role, content = str(message.get("role")), message.get("content")
    if role not in BLOCKS:
        raise invalid(f"messages.{index}.role: Input should be 'user' or 'assistant'")
    if content is None:
        raise missing(f"messages.{index}.content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        raise invalid(f"messages.{index}.content: Input should be a valid string or list")
    if not content:
        raise invalid(
            f"messages.{index}: all messages must have non-empty content except for the optional final assistant "
            "message"
        )
    for place, block in enumerate(content):
        _check_block(block, f"messages.{index}.content.{place}", role)
    return role, [(f"messages.{index}.content.{place}", block) for place, block in enumerate(content)]


def _check_block(block: Any, path: str, role: str) -> None:
    kind = str(block.get("type")) if isinstance(block, dict) else ""
    if kind not in BLOCKS[role]:
        expected = ", ".join(f"'{name}'" for name in BLOCKS[role])
        raise invalid(
            f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {expected}"
        )
    allowed = BLOCKS[role][kind]
    extra = [name for name in block if name not in allowed] if allowed is not None else []
    if extra:
        raise unexpected(f"{path}.{kind}.{extra[0]}")
    if kind == "text":
        _check_text(block, path, "messages")
    elif kind == "tool_use":
        _check_tool_use(block, path)
    elif kind == "tool_result":
        _check_tool_result(block, path)


def _check_text(block: Block, path: str, root: str) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        raise missing(f"{path}.text.text")
    if not text and block.get("cache_control"):
        raise invalid(f"{path}.text: cache_control cannot be set for empty text blocks")
    if not text:
        raise invalid(f"{root}: text content blocks must be non-empty")
    if not text.strip():
        raise invalid(f"{root}: text content blocks must contain non-whitespace text")


def _check_tool_use(block: Block, path: str) -> None:
    for name in ("id", "name", "input"):
        if name not in block:
            raise missing(f"{path}.tool_use.{name}")
    if not isinstance(block["id"], str) or not ID.match(block["id"]):
        raise invalid(f"{path}.tool_use.id: String should match pattern '{ID.pattern}'")
    if not isinstance(block["name"], str) or not block["name"]:
        raise invalid(f"{path}.tool_use.name: String should have at least 1 character")
    if not isinstance(block["input"], dict):
        raise invalid(f"{path}.tool_use.input: Input should be a valid dictionary")


def _check_tool_result(block: Block, path: str) -> None:
    if not isinstance(block.get("tool_use_id"), str):
        raise missing(f"{path}.tool_result.tool_use_id")
    content = block.get("content", "")
    if not isinstance(block.get("is_error", False), bool):
        raise invalid(f"{path}.tool_result.is_error: Input should be a valid boolean")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise invalid(f"{path}.tool_result.content: Input should be a valid string or list")
    for place, part in enumerate(content):
        if not isinstance(part, dict) or part.get("type") not in RESULT_BLOCKS:
            raise invalid(f"{path}.tool_result.content.{place}: unexpected block type")
        if part["type"] == "text":
            _check_text(part, f"{path}.tool_result.content.{place}", "messages")


def _check_pairs(turns: list[tuple[str, list[tuple[str, Block]]]], *, has_tools: bool) -> None:
    """Every `tool_use` is answered at the start of the next turn, once; nothing else is answered; ids are unique."""
    seen: set[str] = set()
    waiting: dict[str, None] = {}
    for number, (role, blocks) in enumerate(turns):
        if role == "user":
            _check_results(number, blocks, waiting)
            waiting = {}
            continue
        if blocks[-1][1]["type"] in {"thinking", "redacted_thinking"}:
            raise invalid(f"messages.{number}: The final block in an assistant message cannot be `thinking`.")
        for path, block in blocks:
            if block["type"] != "tool_use":
                continue
            if block["id"] in seen:
                raise invalid(f"{path}: `tool_use` ids must be unique")
            seen.add(block["id"])
            waiting[block["id"]] = None
    if seen and not has_tools:
        raise invalid("Requests which include `tool_use` or `tool_result` blocks must define tools.")


def _check_results(number: int, blocks: list[tuple[str, Block]], waiting: dict[str, None]) -> None:
    answered: set[str] = set()
    leading = True
    for path, block in blocks:
        if block["type"] != "tool_result":
            leading = False
            continue
        wanted = block["tool_use_id"]
        if wanted not in waiting:
            raise invalid(
                f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {wanted}. Each `tool_result` block "
                "must have a corresponding `tool_use` block in the previous message."
            )
        if wanted in answered:
            raise invalid(
                f"{path}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
                f"{wanted}"
            )
        if leading:  # a result behind other content does not count as an answer
            answered.add(wanted)
    open_calls = [call for call in waiting if call not in answered]
    if open_calls:
        raise invalid(
            f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(open_calls)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def _check_breakpoints(body: dict[str, Any]) -> None:
    marked = list(_marked(body, ""))
    for path, control in marked:
        if not isinstance(control, dict) or control.get("type") != "ephemeral" or set(control) - {"type", "ttl"}:
            raise invalid(f"{path}: Input should be {{'type': 'ephemeral'}}")
        if control.get("ttl", "5m") not in {"5m", "1h"}:
            raise invalid(f"{path}.ttl: Input should be '5m' or '1h'")
    if len(marked) > MOST_BREAKPOINTS:
        raise invalid(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}.")


def _marked(body: dict[str, Any], path: str) -> list[tuple[str, Any]]:
    """Every cache_control of the request with its place. Schemas and arguments may use the word as they like."""
    found: list[tuple[str, Any]] = []
    if body.get("cache_control") is not None:
        found.append((f"{path}cache_control", body["cache_control"]))
    for key in ("tools", "system", "messages", "content"):
        items = body.get(key)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                found += _marked(item, f"{path}{key}.{index}.")
    return found
