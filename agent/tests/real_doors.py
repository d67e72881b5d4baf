"""MCP as a program of somebody else goes through it: the official client, a process of ours, a pipe or a socket.

The processes work on this test's database, so what they answer can be compared with what this process does.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx2
from anyio.from_thread import start_blocking_portal
from django.db import connection
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from agent.doors.calls import Answer
from backoffice.local.processes import free_port, poll_until, spawn, terminate

ROOT: Final = Path(__file__).resolve().parents[2]
# As the client is asked for it, and what both sides then speak.
VERSIONS: Final = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


class Program:
    """A client that stays connected while the test does other things."""

    def __init__(self, ask: Callable[..., Any], client: Client) -> None:
        self._ask, self._client = ask, client

    @property
    def version(self) -> str:
        return str(self._client.protocol_version)

    def tools(self) -> list[Any]:
        return list(self._ask(self._client.list_tools).tools)

    def __call__(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        result = self._ask(self._client.call_tool, name, dict(arguments))
        (block,) = result.content
        assert json.loads(block.text) == result.structured_content, "the words and what is structured differ"
        return Answer(dict(result.structured_content or {}), bool(result.is_error))


# Given a token and a version's name: a program that is connected.
Connect = Callable[[str, str], AbstractContextManager[Program]]


def environment(**more: str) -> dict[str, str]:
    """This process's, with the database that the test works on."""
    server = os.environ["DATABASE_URL"].rpartition("/")[0]
    return {**os.environ, "DATABASE_URL": f"{server}/{connection.settings_dict['NAME']}", **more}


@contextmanager
def over_pipes(tmp_path: Path) -> Iterator[Connect]:
    """One process for each program, as the protocol has it."""

    @asynccontextmanager
    async def client(secret: str, mode: str) -> Any:
        env = environment(REFUND_DESK_TOOL_TOKEN=secret)
        server = StdioServerParameters(command=sys.executable, args=["manage.py", "mcp_server"], env=env, cwd=ROOT)
        async with Client(server, mode=mode) as connected:
            yield connected

    yield partial(_connected, client)


@contextmanager
def over_http(tmp_path: Path) -> Iterator[Connect]:
    """One web process for all of them."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "uvicorn", "backoffice.asgi:application", "--port", str(port)]
    web = spawn(command, log=tmp_path / "web.log", env=environment(SITE_URL=url), cwd=ROOT)

    @asynccontextmanager
    async def client(secret: str, mode: str) -> Any:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http:
            transport = streamable_http_client(f"{url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as connected:
                yield connected

    try:
        assert poll_until(partial(_answers, url), timeout=60), (tmp_path / "web.log").read_text()[-2000:]
        yield partial(_connected, client)
    finally:
        terminate(web)


def _answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/mcp", trust_env=False).status_code == 405
    except httpx2.TransportError:
        return False


@contextmanager
def _connected(client: Callable[[str, str], Any], secret: str, mode: str) -> Iterator[Program]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client(secret, mode)) as connected:
        yield Program(portal.call, connected)
