"""ASGI entry point, served by uvicorn."""

import os
from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest, HttpResponseBase

from backoffice import garbage

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")


class OneThread(ASGIHandler):
    """Django's handler, with all middlewares and the view of a request in one visit to its thread.

    Django's own goes to the thread and back for each of them, about twenty times for a request, which costs more than
    what most of them do. A view that is a coroutine still runs in the event loop, and so does what an event stream
    sends.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


class WithTools:
    """Django's pages, and what Django's handler does not serve: tools over MCP, and the server's lifespan."""

    def __init__(self, pages: OneThread) -> None:
        # Its modules ask for the settings and the models, which are there from here on.
        from agent.doors import mcp_http

        self.pages, self.tools, self.path_of_tools = pages, mcp_http.made(), mcp_http.PATH

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        for_tools = scope["type"] == "lifespan" or scope["path"] == self.path_of_tools
        await (self.tools if for_tools else self.pages)(scope, receive, send)


def made() -> WithTools:
    django.setup(set_prefix=False)
    application = WithTools(OneThread())
    garbage.settle()
    return application


application = made()
