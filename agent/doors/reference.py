"""`docs/tools.md`: every tool as a model sees it, written from the tools themselves below a head that people write."""

import json
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from agent.tools import registry
from agent.tools.base import Tool

PAGE: Final[Path] = Path(settings.BASE_DIR) / "docs" / "tools.md"
BEGIN: Final = "<!-- tools: written by `manage.py tools_reference`, not by hand -->"
END: Final = "<!-- /tools -->"
DOES: Final = {
    (True, False): "reads",
    (False, False): "writes a record, moves nothing",
    (False, True): "asks for the customer's press",
}


def page() -> str:
    """The page as it should be: its head as it is, the tools as they are."""
    head, _begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _old, _end, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{described()}\n{END}{tail}"


def described() -> str:
    """All tools: those of the order page, then those of colleagues."""
    parts = ["## Tools of a customer's order", "", *_of(registry.ORDER_PAGE)]
    parts += ["## Tools of colleagues (read and draft only)", ""]
    parts += _of(registry.COPILOT) or ["There are none yet.", ""]
    return "\n".join(parts)


def _of(tools: tuple[Tool, ...]) -> list[str]:
    return [line for tool in tools for line in _one(tool)]


def _one(tool: Tool) -> list[str]:
    lines = [f"### `{tool.name}`", "", f"*{_what_it_does(tool)}*", "", tool.description, ""]
    lines += [*_parameters(tool.schema), ""]
    for example in tool.examples:
        lines += ["```json", json.dumps(example, ensure_ascii=False), "```", ""]
    return lines


def _what_it_does(tool: Tool) -> str:
    outside = ", asks somebody outside" if tool.remote else ""
    return DOES[tool.reads, tool.suspends] + outside


def _parameters(schema: Any, depth: int = 0) -> list[str]:
    lines: list[str] = []
    for name, each in schema["properties"].items():
        lines.append(f"{'  ' * depth}- `{name}` ({kind_of(each)}): {each.get('description', '')}".rstrip(": "))
        lines += _inside(each, depth + 1)
    return lines


def _inside(schema: Any, depth: int) -> list[str]:
    """The fields of an object, of the entries of an array, or of whichever of both is not null."""
    for each in schema.get("anyOf", [schema]):
        if each.get("type") == "array":
            return _inside(each["items"], depth)
        if each.get("type") == "object":
            return _parameters(each, depth)
    return []


def kind_of(schema: Any) -> str:
    if "anyOf" in schema:
        return " or ".join(kind_of(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " \\| ".join(f"`{each}`" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {kind_of(schema['items'])}s"
    declared = schema.get("type", "any")
    return " or ".join(declared) if isinstance(declared, list) else str(declared)
