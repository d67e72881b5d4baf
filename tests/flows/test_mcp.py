"""The official client against the real thing: over HTTP to the running desk, and over a pipe to the command."""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.utils import timezone
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from agent.tests.unusable import UNUSABLE, foreign_words, repr_of
from backoffice.local.stack import Stack
from tests.flows.chat import another_5531
from tests.stack import Visitor, rows, wait_until

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
CASE = {"line_item_id": "li_2", "quantity": 1, "reason": "late_delivery", "action": None}
Work = Callable[[Client], Awaitable[Any]]


@pytest.fixture(scope="module")
def secret(stack: Stack) -> str:
    return issued(stack)


def issued(stack: Stack) -> str:
    """A token of 王小明's, as an administrator issues it."""
    until = timezone.localtime(timezone.now() + timedelta(days=1))
    with Visitor(stack, "admin") as admin:
        add = "/admin/agent/tooltoken/add/"
        admin.get(add)
        form = {"name": "flow", "customer_id": buyer_of(stack, "5531"), "staff": ""}
        answer = admin.post(add, {**form, "expires_at_0": f"{until:%Y-%m-%d}", "expires_at_1": f"{until:%H:%M:%S}"})
    found = re.search(r"rdt_[\w-]{43}", answer.text)
    assert found is not None, answer.text[:2000]
    return found[0]


def buyer_of(stack: Stack, number: str) -> str:
    query = "select c.external_id from orders_customer c join orders_order o on o.customer_id = c.id"
    return str(rows(stack, f"{query} where o.number = %s", number)[0]["external_id"])


def over_http(stack: Stack, secret: str, mode: str, work: Work) -> Any:
    async def visit() -> Any:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http:
            transport = streamable_http_client(f"{stack.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await work(client)

    return asyncio.run(visit())


def over_a_pipe(stack: Stack, secret: str, mode: str, work: Work) -> Any:
    async def visit() -> Any:
        env = {**stack.env, "REFUND_DESK_TOOL_TOKEN": secret}
        server = StdioServerParameters(command=sys.executable, args=["manage.py", "mcp_server"], env=env, cwd=ROOT)
        async with Client(server, mode=mode) as client:
            return await work(client)

    return asyncio.run(visit())


def story(number: str) -> Work:
    """List, read, quote, ask: and what came of it."""

    async def work(client: Client) -> dict[str, Any]:
        names = [tool.name for tool in (await client.list_tools()).tools]
        given: dict[str, Any] = {"order_number": number}
        order = await client.call_tool("get_order", given)
        quote = await client.call_tool("quote_refund", {**given, "lines": [CASE]})
        quote_id = (quote.structured_content or {})["quote_id"]
        asked = await client.call_tool("refund_items", {**given, "quote_id": quote_id})
        foreign = await client.call_tool("get_order", {"order_number": "5602"})
        return {
            "version": client.protocol_version,
            "names": names,
            "order": order.structured_content,
            "asked": asked.structured_content,
            "foreign": (foreign.is_error, foreign.structured_content),
        }

    return work


@pytest.mark.parametrize("door", [over_http, over_a_pipe])
@pytest.mark.parametrize("mode", VERSIONS)
def test_a_program_lists_reads_quotes_and_asks_and_the_customer_confirms(
    stack: Stack, secret: str, door: Callable[..., Any], mode: str
) -> None:
    number = another_5531(stack, f"{door.__name__}-{mode}".replace("_", "-"))
    seen = door(stack, secret, mode, story(number))
    assert seen["version"] == VERSIONS[mode]
    assert seen["names"][0] == "get_order"
    assert seen["order"]["order_number"] == number
    asked = seen["asked"]
    assert (asked["status"], asked["display"]) == ("pending_confirmation", "NT$230")
    assert asked["confirm_at"] == f"{stack.env['SITE_URL'].rstrip('/')}/orders/{number}/"
    refused, error = seen["foreign"]
    assert (refused, error["code"], error["field"]) == (True, "not_found", "order_number")
    (card,) = rows(stack, "select state, quote_id from agent_card where id = %s", asked["card_id"])
    assert card["state"] == "open"
    with Visitor(stack, "ming") as ming:
        assert asked["button"] in ming.get(f"/orders/{number}/").text
        assert ming.post(f"/refunds/quotes/{card['quote_id']}/confirm/").status_code == 201
    wait_until(lambda: rows(stack, "select 1 from agent_card where id = %s and state = 'confirmed'", asked["card_id"]))


def post(stack: Stack, body: Any = LIST, version: str = "2025-11-25", **headers: str) -> httpx2.Response:
    """`body`: bytes are sent as they are, everything else as JSON."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    accepts = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version}
    kind = {"Content-Type": "application/json"}
    return httpx2.post(f"{stack.url}/mcp", content=sent, headers={**accepts, **kind, **headers}, trust_env=False)


def test_what_opens_nothing_is_told_nothing(stack: Stack, secret: str) -> None:
    good = {"Authorization": f"Bearer {secret}"}
    assert post(stack, **good).json()["result"]["tools"]
    ended = issued(stack)
    rows(stack, "update agent_tooltoken set expires_at = now() where prefix = %s", ended[:12])
    for wrong in ("", "Bearer x", "Bearer rdt_wrong", f"Bearer {secret}x", f"Basic {secret}", f"Bearer {ended}"):
        answer = post(stack, **({"Authorization": wrong} if wrong else {}))
        assert answer.status_code == 401, wrong
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "tools" not in answer.json()
    assert post(stack, **good, Host="evil.example").status_code == 421
    assert post(stack, **good, Origin="https://evil.example").status_code == 403
    assert post(stack, **good, Origin=stack.env["SITE_URL"]).status_code == 200
    assert httpx2.get(f"{stack.url}/mcp", headers=good, trust_env=False).status_code == 405


@pytest.mark.parametrize("version", VERSIONS.values())
@pytest.mark.parametrize("body", UNUSABLE, ids=repr_of)
def test_no_text_of_an_exception_crosses_whatever_is_sent(stack: Stack, secret: str, body: Any, version: str) -> None:
    answer = post(stack, body, version, Authorization=f"Bearer {secret}")
    assert "tools" not in answer.text, "what was sent was taken for something else"
    assert answer.text
    assert foreign_words(answer.text) == []
