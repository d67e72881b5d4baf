"""Tools as commands: options from the schema, help that names them, and exit codes for scripts."""

import argparse
import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agent.doors import command_line, reference
from agent.tests.doors import by_shell
from agent.tools import registry
from orders.tests import cast

ROOT = Path(__file__).resolve().parents[2]


def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_the_help_of_a_command_comes_from_the_schema() -> None:
    shown = manage("tools", "quote_refund", "--help")
    assert shown.returncode == 0, shown.stderr
    text = " ".join(shown.stdout.split())
    for said in ("--order-number TEXT", "--lines JSON", "The shop's number of the order", '"quantity": integer'):
        assert said in text
    # What may be null inside JSON may not be left out there, and the help says both.
    assert '"action": cancel | return | lost | null}' in text
    assert "with every name" in text
    assert " ".join(registry.BY_NAME["quote_refund"].description.split())[:60] in text


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["get_order", "--order-number", "1"], "--customer"),
        (["get_order", "--customer", "c-ming"], "--order-number"),
        (["quote_refund", "--customer", "c-ming", "--order-number", "1", "--lines", "[{"], "not JSON"),
        (["no_such_tool"], "no_such_tool"),
    ],
)
def test_a_command_that_is_called_in_a_wrong_way_ends_with_2(typed: list[str], says: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("tools", *typed)
    assert says in str(refused.value)


def test_and_so_it_does_for_the_shell() -> None:
    wrong = manage("tools", "get_order", "--customer", "c-ming", "--order-no", "5531")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "usage:" in wrong.stderr


@pytest.mark.django_db
def test_nobody_is_nobody() -> None:
    with pytest.raises(CommandError) as refused:
        call_command("tools", "get_order", "--order-number", "1", "--customer", "nobody")
    assert refused.value.returncode == 2


@pytest.mark.django_db
def test_without_json_a_result_is_told_line_by_line() -> None:
    cast.order_5531()
    out = StringIO()
    call_command("tools", "get_order", "--customer", "c-ming", "--order-number", "5531", stdout=out)
    assert "order_number: 5531\n" in out.getvalue()
    assert "    display_price: NT$1,200\n" in out.getvalue()


@pytest.mark.django_db
def test_a_refusal_is_the_error_object_on_standard_error() -> None:
    cast.order_5531()
    answer = by_shell("refund_items", {"order_number": "5531", "quote_id": "rq_1"}, "--customer", "c-ming")
    assert answer.is_error
    assert answer.result.keys() == {"code", "message", "hint", "retryable", "field"}


def test_every_tool_can_be_said_in_options_and_back() -> None:
    """No property of a tool is lost or changed on its way through the shell."""
    for tool in (*registry.ORDER_PAGE, *registry.COPILOT):
        for example in tool.examples:
            parser = argparse.ArgumentParser(allow_abbrev=False)
            command_line.add_options(parser, tool)
            options = vars(parser.parse_args(command_line.options_for(example)))
            assert command_line.arguments_of(tool, options) == example


def test_the_page_of_tools_is_up_to_date() -> None:
    """`manage.py tools_reference` writes it anew."""
    assert reference.page() == reference.PAGE.read_text(encoding="utf-8")
    for tool in (*registry.ORDER_PAGE, *registry.COPILOT):
        assert f"### `{tool.name}`" in reference.described()
        assert tool.description in reference.described()


def test_a_wrong_token_does_not_start_the_server(monkeypatch: pytest.MonkeyPatch, db: Any) -> None:
    for token in ("", "rdt_wrong"):
        monkeypatch.setenv("REFUND_DESK_TOOL_TOKEN", token)
        with pytest.raises(CommandError) as refused:
            call_command("mcp_server")
        assert refused.value.returncode == 2


def test_a_schema_with_null_among_its_types_is_understood() -> None:
    kind = {"type": ["integer", "null"], "description": "How many."}
    tool = registry.BY_NAME["get_order"]
    schema = {**tool.schema, "properties": {"size": kind, "sure": {"type": "boolean"}, "share": {"type": "number"}}}
    parser = argparse.ArgumentParser()
    made = type(tool)(name="x", schema=schema, handler=tool.handler, reads=True, suspends=False, working="")
    command_line.add_options(parser, made)
    options = vars(parser.parse_args(["--sure", "true", "--share", "0.5"]))
    assert json.dumps(command_line.arguments_of(made, options)) == '{"size": null, "sure": true, "share": 0.5}'
