"""A tool whose schema the real API would refuse is refused here: strict schemas carry a subset of JSON Schema."""

from typing import Any

import pytest

from agent.offline.errors import ApiError
from agent.offline.tool_rules import check_tools
from agent.tools.registry import definitions

Schema = dict[str, Any]


def tool(properties: Schema, *, strict: bool = True, required: list[str] | None = None, **more: Any) -> Schema:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }
    return {"name": "try_it", "input_schema": schema, "strict": strict, **more}


def test_the_tools_of_the_order_page_are_what_the_api_takes() -> None:
    check_tools(definitions())


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "enum": ["a", "b"]},
        {"type": "string", "pattern": "^rq_[a-z]+$"},
        {"type": "string", "format": "date"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": ["string", "null"]},
        {"type": "integer", "default": 1},
    ],
)
def test_the_supported_subset_passes(part: Schema) -> None:
    check_tools([tool({"minimum": part})])


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"type": "integer", "minimum": 1}, "For 'integer' type, property 'minimum' is not supported"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, "For 'integer' type, properties maximum, minimum are not"),
        ({"type": "number", "multipleOf": 2}, "For 'number' type, property 'multipleOf'"),
        ({"type": "string", "maxLength": 9}, "For 'string' type, property 'maxLength'"),
        ({"type": "string", "minLength": 1}, "For 'string' type, property 'minLength'"),
        ({"type": "string", "format": "credit-card"}, "'format'"),
        ({"type": "string", "pattern": "(?=a)b"}, "'pattern'"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 3}, "For 'array' type, property 'maxItems'"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, "'minItems' values other than 0 or 1"),
        ({"type": "object", "properties": {}}, "'additionalProperties' must be explicitly set to false"),
        ({"type": "array", "items": {"type": "object"}}, "'additionalProperties' must be explicitly set to false"),
        ({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}, "property 'minimum'"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, "'oneOf' is not supported"),
        ({"$ref": "https://example.com/schema"}, "external $ref"),
        ({"enum": [{"a": 1}]}, "complex types"),
    ],
)
def test_keywords_outside_the_subset_are_refused_in_strict_tools_only(part: Schema, says: str) -> None:
    with pytest.raises(ApiError) as caught:
        check_tools([tool({"value": part})])
    assert says in caught.value.message
    assert caught.value.message.startswith("tools.0.custom: ")

    check_tools([tool({"value": part}, strict=False)])


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        ([tool({}), tool({})], "Tool names must be unique"),
        ([{**tool({}), "name": "has space"}], "name: String should match pattern"),
        ([{"name": "x"}], "input_schema: Field required"),
        ([tool({}, parameters={})], "parameters: Extra inputs are not permitted"),
        ([{**tool({}), "input_schema": {"properties": {}}}], "input_schema.type: Field required"),
        ([{**tool({}), "input_schema": {"type": "object", "anyOf": []}}], "at the top level"),
        ([{**tool({}), "input_schema": {"type": "object", "required": "all"}}], "JSON schema is invalid"),
        ([tool({"a": {"type": "string"}}, input_examples=[{"a": 1}])], "input_examples.0"),
        ([tool({f"p{n}": {"type": "string"} for n in range(25)}, required=[])], "too many optional parameters"),
        ([tool({f"p{n}": {"type": ["string", "null"]} for n in range(17)})], "union types"),
        ([{**tool({}), "name": f"t{n}"} for n in range(21)], "Too many strict tools"),
        ({}, "valid list"),
    ],
)
def test_other_faults_of_tools_are_refused(tools: Any, says: str) -> None:
    with pytest.raises(ApiError) as caught:
        check_tools(tools)
    assert says in caught.value.message
