"""Serves the tools over MCP on standard input and output, for a program that starts it itself."""

import asyncio
import os
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from mcp.server.stdio import stdio_server

from agent.doors import mcp_server, tokens
from agent.states import Door

VARIABLE: Final = "REFUND_DESK_TOOL_TOKEN"


async def serve(secret: str) -> None:
    server = mcp_server.server(lambda: secret, Door.STDIO)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


class Command(BaseCommand):
    help = f"Serves the tools over MCP on standard input and output. {VARIABLE} says whose tools."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        secret = os.environ.get(VARIABLE, "").strip()
        if not secret:
            raise CommandError(f"{VARIABLE} is not set: it must be a tool token, issued in the records.", returncode=2)
        if tokens.identify(secret) is None:
            raise CommandError(f"{VARIABLE} is wrong, over or revoked: have a new tool token issued.", returncode=2)
        asyncio.run(serve(secret))
