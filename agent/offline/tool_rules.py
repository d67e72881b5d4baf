"""What the Messages API refuses about tools, above all what a strict schema may not carry.

The subset of JSON Schema is the one documented for structured outputs; the limits are those of its section on
complexity.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import jsonschema

from agent.offline.errors import invalid, missing, unexpected

NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
FIELDS = frozenset(
    {
        "allowed_callers",
        "cache_control",
        "defer_loading",
        "description",
        "eager_input_streaming",
        "input_examples",
        "input_schema",
        "name",
        "strict",
        "type",
    }
)
MOST_STRICT_TOOLS = 20
MOST_OPTIONAL_PARAMETERS = 24
MOST_UNIONS = 16
FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid", "text"}
)
UNSUPPORTED = {
    "integer": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    "number": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    "string": ("maxLength", "minLength"),
    "array": ("contains", "maxContains", "maxItems", "minContains", "prefixItems", "uniqueItems"),
    "object": ("dependentRequired", "maxProperties", "minProperties", "patternProperties", "propertyNames"),
}
# What a grammar cannot express in `pattern`: looking around, and pointing back at a group.
PATTERN_TOO_HARD = re.compile(r"\(\?[=!<]|\\[1-9]|\\b")
Schema = dict[str, Any]
KEYWORDS = ("oneOf", "not", "if", "dependentSchemas")
VALUES: tuple[tuple[Callable[[Schema], bool], str], ...] = (
    (
        lambda part: part.get("minItems", 0) not in {0, 1},
        "For 'array' type, 'minItems' values other than 0 or 1 are not supported",
    ),
    (lambda part: part.get("format", "text") not in FORMATS, "For 'string' type, this 'format' is not supported"),
    (
        lambda part: bool(PATTERN_TOO_HARD.search(part.get("pattern", ""))),
        "For 'string' type, 'pattern' with look-around or references back is not supported",
    ),
    (lambda part: not str(part.get("$ref", "#")).startswith("#"), "external $ref is not supported"),
    (
        lambda part: any(isinstance(value, dict | list) for value in part.get("enum", ())),
        "complex types in 'enum' are not supported",
    ),
)


def check_tools(tools: Any) -> None:
    """Raises `ApiError` for the first tool the API would refuse."""
    if tools is None:
        return
    if not isinstance(tools, list):
        raise invalid("tools: Input should be a valid list")
    _check_tools_once(json.dumps(tools, ensure_ascii=False, sort_keys=True))


@lru_cache(maxsize=256)
def _check_tools_once(tools: str) -> None:
    """By text, because the same tools come with every request and checking schemas takes milliseconds."""
    names: set[str] = set()
    strict: list[Schema] = []
    for index, tool in enumerate(json.loads(tools)):
        if not isinstance(tool, dict):
            raise invalid(f"tools.{index}: Input should be a valid dictionary")
        if tool.get("name") in names:
            raise invalid("tools: Tool names must be unique.")
        names.add(str(tool.get("name")))
        if tool.get("type", "custom") in {"custom", None}:
            _check_tool(tool, f"tools.{index}.custom")
            if tool.get("strict"):
                strict.append(tool["input_schema"])
    _check_complexity(strict)


def _check_tool(tool: dict[str, Any], path: str) -> None:
    for name in tool:
        if name not in FIELDS:
            raise unexpected(f"{path}.{name}")
    if not isinstance(tool.get("name"), str) or not NAME.match(tool["name"]):
        raise invalid(f"{path}.name: String should match pattern '{NAME.pattern}'")
    if not isinstance(tool.get("description", ""), str):
        raise invalid(f"{path}.description: Input should be a valid string")
    schema = tool.get("input_schema")
    if not isinstance(schema, dict):
        raise missing(f"{path}.input_schema")
    _check_schema(schema, f"{path}.input_schema")
    if tool.get("strict"):
        for part in _parts(schema):
            _check_strict_part(part, path)
    for index, example in enumerate(tool.get("input_examples") or ()):
        for error in jsonschema.Draft202012Validator(schema).iter_errors(example):
            raise invalid(f"{path}.input_examples.{index}: {error.message}")


def _check_schema(schema: Schema, path: str) -> None:
    if schema.get("type") != "object":
        raise missing(f"{path}.type") if "type" not in schema else invalid(f"{path}.type: Input should be 'object'")
    if {"oneOf", "allOf", "anyOf"} & set(schema):
        raise invalid(f"{path}: input_schema does not support oneOf, allOf, or anyOf at the top level")
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise invalid(
            f"{path}: JSON schema is invalid. It must match JSON Schema draft 2020-12 ({error.message[:120]})."
        ) from None


def _parts(schema: Any) -> Iterator[Schema]:
    """The schema and every schema in it. Names of properties are not keywords."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key in ("properties", "$defs", "definitions"):
        for part in (schema.get(key) or {}).values():
            yield from _parts(part)
    for key in ("anyOf", "allOf", "oneOf"):
        for part in schema.get(key) or ():
            yield from _parts(part)
    for key in ("items", "not", "if", "then", "else", "additionalProperties"):
        yield from _parts(schema.get(key))


def _types(schema: Schema) -> list[str]:
    kind = schema.get("type")
    return kind if isinstance(kind, list) else [kind] if isinstance(kind, str) else []


def _check_strict_part(part: Schema, path: str) -> None:
    kinds = _types(part)
    if "object" in kinds and part.get("additionalProperties") is not False:
        raise invalid(f"{path}: For 'object' type, 'additionalProperties' must be explicitly set to false")
    for kind in kinds:
        found = [name for name in UNSUPPORTED.get(kind, ()) if name in part]
        if found:
            words = f"property '{found[0]}' is" if len(found) == 1 else f"properties {', '.join(found)} are"
            raise invalid(f"{path}: For '{kind}' type, {words} not supported")
    for name in KEYWORDS:
        if name in part:
            raise invalid(f"{path}: Schema keyword '{name}' is not supported")
    for is_wrong, problem in VALUES:
        if is_wrong(part):
            raise invalid(f"{path}: {problem}")


def _check_complexity(schemas: list[Schema]) -> None:
    """The totals over all strict tools of one request."""
    if len(schemas) > MOST_STRICT_TOOLS:
        raise invalid(f"Too many strict tools: {len(schemas)}. The maximum is {MOST_STRICT_TOOLS}.")
    parts = [part for schema in schemas for part in _parts(schema)]
    optional = sum(len(set(part.get("properties") or ()) - set(part.get("required") or ())) for part in parts)
    if optional > MOST_OPTIONAL_PARAMETERS:
        raise invalid(
            f"Schemas contain too many optional parameters ({optional}), the limit is {MOST_OPTIONAL_PARAMETERS}."
        )
    unions = sum(1 for part in parts if "anyOf" in part or len(_types(part)) > 1)
    if unions > MOST_UNIONS:
        raise invalid(f"Schemas contain too many parameters with union types ({unions}), the limit is {MOST_UNIONS}.")


def check_tool_choice(body: dict[str, Any]) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not body.get("tools"):
        raise invalid("tool_choice: may only be specified while providing tools")
    if not isinstance(choice, dict) or choice.get("type") not in {"auto", "any", "tool", "none"}:
        raise invalid("tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'")
    if choice["type"] == "tool" and choice.get("name") not in {tool["name"] for tool in body["tools"]}:
        raise invalid(f"Tool '{choice.get('name')}' not found in provided tools")
