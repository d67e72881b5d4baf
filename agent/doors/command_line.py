"""A tool as a command: its options, their help and what they take come from the same schema that a model reads."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from agent.tools.base import Tool

# Where argparse keeps what belongs to the tool, so that no property can be taken for an option of the command.
MARK: Final = "of_tool_"


def add_options(parser: argparse._ActionsContainer, tool: Tool) -> None:
    """One option for each property. What may be null may be left out; everything else is required."""
    for name, schema in tool.schema["properties"].items():
        kind, nullable = _kind(schema)
        options: dict[str, Any] = {
            "dest": MARK + name,
            "required": not nullable,
            "help": _help(schema, kind, nullable),
            "type": _reader(kind),
        }
        if "enum" in kind:
            options["choices"] = [each for each in kind["enum"] if each is not None]
        else:
            options["metavar"] = METAVARS.get(str(kind.get("type")), "JSON")
        parser.add_argument(f"--{name.replace('_', '-')}", **options)


def arguments_of(tool: Tool, options: Mapping[str, Any]) -> dict[str, Any]:
    """The call's arguments, as the options say."""
    return {name: options.get(MARK + name) for name in tool.schema["properties"]}


def options_for(arguments: Mapping[str, Any]) -> list[str]:
    """The other way round: what to type for these arguments."""
    typed: list[str] = []
    for name, value in arguments.items():
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            typed.append(f"--{name.replace('_', '-')}={text}")
    return typed


def _kind(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """What a value must be, and whether null will do as well."""
    kinds = [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    declared = kinds[0].get("type") if len(kinds) == 1 else None
    nullable = len(kinds) < len(schema.get("anyOf", [schema]))
    if isinstance(declared, list):
        rest = [each for each in declared if each != "null"]
        return {**kinds[0], "type": rest[0]}, len(rest) < len(declared)
    return (kinds[0] if len(kinds) == 1 else {}), nullable


def _help(schema: Mapping[str, Any], kind: Mapping[str, Any], nullable: bool) -> str:
    """argparse takes a per cent sign for the beginning of a value."""
    words = [str(schema.get("description", ""))]
    if kind.get("type") not in METAVARS:
        words.append(f"As JSON, with every name: {_shape(kind)}.")
    if nullable:
        words.append("May be left out.")
    return " ".join(filter(None, words)).replace("%", "%%")


def _shape(kind: Mapping[str, Any]) -> str:
    """What the JSON looks like: `[{"line_item_id": string, "action": cancel | return | null}, …]`.

    Inside, what may be null may not be left out: only a command's own options can be.
    """
    if kind.get("type") == "array":
        return f"[{_shape(kind['items'])}, …]"
    if kind.get("type") == "object":
        inside = (f'"{name}": {_value(each)}' for name, each in kind["properties"].items())
        return "{" + ", ".join(inside) + "}"
    return " | ".join(map(str, kind["enum"])) if "enum" in kind else str(kind.get("type", "any"))


def _value(schema: Mapping[str, Any]) -> str:
    kind, nullable = _kind(schema)
    return f"{_shape(kind)} | null" if nullable else _shape(kind)


def _reader(kind: Mapping[str, Any]) -> Callable[[str], Any]:
    return READERS.get(str(kind.get("type")), _json)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise argparse.ArgumentTypeError("this is not JSON") from None


def _yes_or_no(text: str) -> bool:
    if text not in {"true", "false"}:
        raise argparse.ArgumentTypeError("say true or false")
    return text == "true"


READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": _yes_or_no,
}
METAVARS: Final[Mapping[str, str]] = {
    "string": "TEXT",
    "integer": "NUMBER",
    "number": "NUMBER",
    "boolean": "true|false",
}


def told(value: Any, indent: int = 0) -> Iterable[str]:
    """A result for people: one fact a line, what belongs together further in."""
    space = "  " * indent
    for name, inside in value.items() if isinstance(value, dict) else enumerate(value, start=1):
        if isinstance(inside, dict | list) and inside:
            yield f"{space}{name}:"
            yield from told(inside, indent + 1)
        else:
            yield f"{space}{name}: {_plain(inside)}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
