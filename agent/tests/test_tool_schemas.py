"""What the model is offered: tools that choose goods. No parameter says what a refund comes to or who a customer is."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from agent.offline.tool_rules import check_tools
from agent.tools import registry
from agent.tools.base import Tool

MONEY = re.compile(r"amount|price|ntd|twd|total|sum\b|fee|money|refund_value|discount|currency|cost", re.IGNORECASE)
PEOPLE = re.compile(r"customer|user|email|phone|name|account", re.IGNORECASE)
# By name: a highest price to look for; and the one amount that a model may propose, which pays nothing.
MAY_BE_MONEY = {"search_products": {"price_max"}, "propose_compensation": {"compensation_ntd"}}
# Whom the carrier can call: of a parcel, not of whose order it is.
MAY_BE_PEOPLE = {"update_shipping_address": {"phone"}}
# What strict schemas may not carry; limits stand in descriptions and are checked by the executor.
UNSUPPORTED = {
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "format",
    "default",
    "not",
    "oneOf",
    "allOf",
    "if",
    "patternProperties",
}
each_tool = pytest.mark.parametrize("tool", registry.ORDER_PAGE, ids=lambda tool: tool.name)


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and all schemas in it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    if "items" in schema:
        inner.append(schema["items"])
    for part in inner:
        yield from schemas(part)


def properties(tool: Tool) -> Iterator[tuple[str, dict[str, Any]]]:
    for schema in schemas(tool.schema):
        yield from schema.get("properties", {}).items()


@each_tool
def test_no_property_is_an_amount_of_money(tool: Tool) -> None:
    assert {name for name, _ in properties(tool) if MONEY.search(name)} == MAY_BE_MONEY.get(tool.name, set())


@each_tool
def test_no_property_names_a_person(tool: Tool) -> None:
    assert {name for name, _ in properties(tool) if PEOPLE.search(name)} == MAY_BE_PEOPLE.get(tool.name, set())


@each_tool
def test_every_property_is_described(tool: Tool) -> None:
    assert [name for name, schema in properties(tool) if len(schema.get("description", "")) < 15] == []


@each_tool
def test_every_object_is_closed_and_asks_for_all_it_knows(tool: Tool) -> None:
    for schema in schemas(tool.schema):
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is False
            assert sorted(schema["required"]) == sorted(schema["properties"])


@each_tool
def test_schemas_carry_nothing_that_strict_mode_does_not_know(tool: Tool) -> None:
    for schema in schemas(tool.schema):
        assert not UNSUPPORTED & schema.keys()
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert tool.definition()["strict"] is True


@each_tool
def test_a_description_has_at_least_four_sentences(tool: Tool) -> None:
    assert len(re.findall(r"[a-z)`][.:](?=\s|$)", tool.description)) >= 4


@each_tool
def test_examples_fit_the_schema(tool: Tool) -> None:
    for example in tool.examples:
        jsonschema.validate(dict(example), dict(tool.schema))


@each_tool
def test_the_order_is_in_every_tool_and_the_order_page_hides_it(tool: Tool) -> None:
    assert "order_number" in tool.schema["properties"]
    shown = tool.definition(registry.HIDDEN_ON_ORDER_PAGE)
    assert "order_number" not in shown["input_schema"]["properties"]
    assert "order_number" not in shown["input_schema"]["required"]
    assert not any("order_number" in example for example in shown.get("input_examples", []))


def test_the_api_takes_the_tools_as_they_are() -> None:
    check_tools(registry.definitions())


def test_definitions_are_the_same_every_time_so_that_they_can_be_cached() -> None:
    assert str(registry.definitions()) == str(registry.definitions())
    assert [tool["name"] for tool in registry.definitions()] == [
        "get_order",
        "list_shipments",
        "list_refunds",
        "quote_refund",
        "refund_items",
        "create_return",
        "resend_items",
        "update_shipping_address",
        "search_products",
        "get_product",
        "estimate_delivery",
        "propose_compensation",
        "hand_off_to_human",
    ]
