"""What a client of MCP hears when something breaks, or when it has sent no call: words of ours, in either protocol."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from django.db import connections
from mcp import MCPError

from agent.doors import calls, mcp_http, mcp_server, tokens
from agent.doors.identity import Identity
from agent.tests.doors import by_mcp, listed_by_mcp, token_for
from agent.tests.unusable import UNUSABLE, foreign_words
from agent.tools import registry
from agent.tools.base import Arguments, Context, Tool, closed
from orders.models import Customer
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
MODES = ("legacy", "2026-07-28")
VERSIONS = ("2025-11-25", "2026-07-28")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
SECRETS = ("secret", "relation", "Error", "Traceback", "psycopg", "File ")


def broken(*arguments: Any) -> Any:
    raise RuntimeError('relation "secret" does not exist')


def says_nothing(text: str) -> bool:
    return not [word for word in SECRETS if word in text]


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_breaks_is_a_result_without_its_words(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(context: Context, arguments: Arguments) -> dict[str, Any]:
        return dict(broken())

    tool = Tool(name="get_order", schema=closed(), handler=handler, reads=True, suspends=False, working="")
    monkeypatch.setattr(registry, "ORDER_PAGE", (tool,))
    secret, _ = token_for(cast.order_5531().customer)
    answer = by_mcp(secret, "get_order", {"order_number": "5531"}, mode=mode)
    assert (answer.is_error, answer.result["code"]) == (True, "internal_error")
    assert says_nothing(json.dumps(answer.result))


@pytest.mark.parametrize("mode", MODES)
def test_a_token_that_cannot_be_looked_up_is_told_so_and_nothing_more(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "identify", broken)
    answer = by_mcp("rdt_x", "get_order", {"order_number": "5531"}, mode=mode)
    assert (answer.is_error, answer.result["code"]) == (True, "temporarily_unavailable")
    assert says_nothing(json.dumps(answer.result))
    with pytest.raises(BaseException) as refused:
        listed_by_mcp("rdt_x", mode=mode)
    assert says_nothing(str(the_error(refused.value)))


@pytest.mark.parametrize("mode", MODES)
def test_a_caller_of_whom_nothing_can_be_found_hears_the_one_error_object(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "identify", lambda secret: Identity(customer=Customer()))
    answer = by_mcp("rdt_x", "get_order", {"order_number": "5531"}, mode=mode)
    assert (answer.is_error, answer.result["code"]) == (True, "internal_error")


@pytest.mark.parametrize("mode", MODES)
def test_should_a_call_raise_all_the_same_it_is_said_that_nobody_knows_how_far_it_came(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, _ = token_for(cast.order_5531().customer)
    monkeypatch.setattr(calls, "call", broken)
    answer = by_mcp(secret, "get_order", {"order_number": "5531"}, mode=mode)
    assert (answer.is_error, answer.result["code"]) == (True, "internal_error")
    assert says_nothing(json.dumps(answer.result))
    assert "Nothing was changed" not in answer.result["message"]


def test_a_connection_that_cannot_be_closed_costs_nobody_their_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    secret, _ = token_for(cast.order_5531().customer)
    close = connections.close_all
    monkeypatch.setattr(connections, "close_all", lambda: broken(close()))
    answer = by_mcp(secret, "get_order", {"order_number": "5531"}, mode="legacy")
    assert answer.result["order_number"] == "5531"


def the_error(error: BaseException) -> MCPError:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, MCPError)
    return error


def test_and_over_http_it_is_a_500_without_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "identify", broken)
    (answer,) = posted("rdt_x", "2025-11-25", {})
    assert answer.status_code == 500
    assert answer.text == "Internal Server Error"


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_no_call_is_refused_in_words_of_ours(version: str) -> None:
    secret, _ = token_for(cast.order_5531().customer)
    for body, answer in zip(UNUSABLE, posted(secret, version, *UNUSABLE), strict=True):
        told = f"{body!r:.40}: {answer.text}"
        assert "tools" not in answer.text, told
        assert answer.status_code == 413 or answer.json()["error"]["message"], told
        assert foreign_words(answer.text) == [], told


def test_a_whole_call_is_answered_and_a_wrong_token_is_still_told_so_first() -> None:
    secret, _ = token_for(cast.order_5531().customer)
    listed, unreadable = posted(secret, "2025-11-25", LIST, b"{not json")
    assert listed.json()["result"]["tools"][0]["name"] == "get_order"
    assert unreadable.json()["error"] == {"code": -32700, "message": "The body is not JSON."}
    (refused,) = posted("rdt_wrong", "2025-11-25", b"{not json")
    assert refused.status_code == 401
    assert refused.json()["error"] == "invalid_token"


def test_what_a_handler_raised_is_not_said_to_older_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of ours raises; should it, the library would say what."""
    secret, _ = token_for(cast.order_5531().customer)
    monkeypatch.setattr(mcp_server, "in_a_thread", raising_at(mcp_server.in_a_thread, mcp_server._listed))
    (answer,) = posted(secret, "2025-11-25", LIST)
    assert answer.json()["error"]["code"] == -32603
    assert says_nothing(answer.text)


def raising_at(whole: Any, function: Any) -> Any:
    async def in_a_thread(asked: Any, *arguments: Any) -> Any:
        return broken() if asked is function else await whole(asked, *arguments)

    return in_a_thread


def posted(secret: str, version: str, *bodies: Any) -> list[httpx2.Response]:
    """The answers of a server in this process. Bytes are sent as they are, everything else as JSON."""

    async def post() -> list[httpx2.Response]:
        app = mcp_http.made()
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        headers = {
            "Authorization": f"Bearer {secret}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": version,
        }
        async with (
            started(app),
            httpx2.AsyncClient(transport=transport, base_url="http://localhost:8000", headers=headers) as client,
        ):
            sent = [body if isinstance(body, bytes) else json.dumps(body).encode() for body in bodies]
            return [await client.post("/mcp", content=body) for body in sent]

    return asyncio.run(post())


@asynccontextmanager
async def started(app: Any) -> AsyncIterator[None]:
    """As a web server starts it and ends it."""
    to_it: asyncio.Queue[Any] = asyncio.Queue()
    from_it: asyncio.Queue[Any] = asyncio.Queue()
    running = asyncio.create_task(app({"type": "lifespan", "asgi": {"version": "3.0"}}, to_it.get, from_it.put))
    await to_it.put({"type": "lifespan.startup"})
    assert (await from_it.get())["type"] == "lifespan.startup.complete"
    yield
    await to_it.put({"type": "lifespan.shutdown"})
    await running
