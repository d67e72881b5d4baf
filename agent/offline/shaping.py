"""Fits a reply to what the request allows: offered tools, arguments that keep to a schema, forced or single calls."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.offline.replies import Reply, ToolUse

Schema = Mapping[str, Any]
FALLBACK = "請問有什麼可以幫您的嗎？ How can I help?"


def shape(reply: Reply, body: Mapping[str, Any]) -> Reply:
    tools = {tool["name"]: tool.get("input_schema", {}) for tool in body.get("tools") or ()}
    choice = body.get("tool_choice") or {}
    calls = tuple(ToolUse(use.name, fit(use.input, tools[use.name])) for use in reply.tool_uses if use.name in tools)
    if choice.get("type") == "none":
        calls = ()
    elif choice.get("type") == "tool":
        calls = (ToolUse(choice["name"], fit({}, tools[choice["name"]])),)
    elif choice.get("type") == "any" and not calls:
        name = next(iter(tools))
        calls = (ToolUse(name, fit({}, tools[name])),)
    if choice.get("disable_parallel_tool_use"):
        calls = calls[:1]
    return replace(reply, tool_uses=calls, text=reply.text or ("" if calls else FALLBACK))


def fit(value: Any, schema: Schema) -> Any:
    """The value in the schema's shape: unknown properties dropped, required ones put in, enums kept to."""
    if "anyOf" in schema:
        return _fit_one_of(value, schema["anyOf"])
    if schema.get("enum"):
        return value if value in schema["enum"] else schema["enum"][-1]
    kind = schema.get("type")
    if kind == "object":
        given = value if isinstance(value, dict) else {}
        required = schema.get("required") or ()
        return {
            name: fit(given.get(name), part)
            for name, part in (schema.get("properties") or {}).items()
            if name in given or name in required
        }
    if kind == "array":
        return [fit(item, schema.get("items", {})) for item in value or ()]
    if value is None:
        return {"string": "", "integer": 1, "number": 1, "boolean": False}.get(str(kind))
    return value


def _fit_one_of(value: Any, choices: Any) -> Any:
    if value is None:
        nullable = any(choice.get("type") == "null" for choice in choices)
        return None if nullable else fit(value, choices[0])
    return fit(value, next((choice for choice in choices if choice.get("type") != "null"), {}))
