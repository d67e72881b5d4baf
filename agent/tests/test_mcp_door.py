"""What a client of MCP hears when something breaks on our side: one plain sentence, in either protocol."""

import asyncio
import json
from typing import Any

import httpx2
import pytest
from mcp import MCPError

from agent.doors import mcp_http, tokens
from agent.tests.doors import by_mcp, listed_by_mcp, token_for
from agent.tools import registry
from agent.tools.base import Arguments, Context, Tool, closed
from orders.tests import cast

pytestmark = pytest.mark.django_db(transaction=True)
MODES = ("legacy", "2026-07-28")
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


def the_error(error: BaseException) -> MCPError:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, MCPError)
    return error


def test_and_over_http_it_is_a_500_without_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "identify", broken)

    async def post() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=mcp_http.made(), raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8000") as client:
            return await client.post("/mcp", json={}, headers={"Authorization": "Bearer rdt_x"})

    answer = asyncio.run(post())
    assert answer.status_code == 500
    assert answer.text == "Internal Server Error"
