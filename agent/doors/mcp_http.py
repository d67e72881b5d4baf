"""MCP over HTTP: one POST is one call, of either protocol version, and says by a bearer token whose it is.

No session is kept in the process, so any web process answers any call and a restart loses nothing; a stream that stays
open is not offered (405), because nothing is ever pushed.
"""

import json
import uuid
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.doors import mcp_errors, mcp_server, tokens
from agent.states import Door

PATH: Final = "/mcp"
LARGEST_BODY: Final = 128 * 1024


class Verifier:
    """Tells the library whether a bearer token opens anything. Without one that does, it answers 401."""

    async def verify_token(self, token: str) -> AccessToken | None:
        who = await mcp_server.in_a_thread(tokens.identify, token)
        if who is None or who.token is None:
            return None
        return AccessToken(token=token, client_id=str(who.token.pk), scopes=[])


def _shown() -> str | None:
    token = get_access_token()
    return token.token if token else None


def made() -> ASGIApp:
    """The ASGI application of `/mcp` and of the server's lifespan. It can be started once."""
    served = mcp_server.server(_shown, Door.HTTP).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_BODY,
        # Host and origin are looked at below, by the settings that hold for every other page.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        auth=AuthSettings(issuer_url=AnyHttpUrl(settings.SITE_URL), resource_server_url=None),
        token_verifier=Verifier(),
    )

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            structlog.contextvars.clear_contextvars()
            structlog.contextvars.bind_contextvars(request_id=uuid.uuid4().hex)
        refusal = _refused(scope) if scope["type"] == "http" else None
        if refusal:
            await _refuse(send, *refusal)
        else:
            await served(scope, receive, mcp_errors.saying(send))

    return door


def _refused(scope: Scope) -> tuple[int, str] | None:
    """Status and words for what never comes as far as a token: another host, another page's script, another method."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    if not is_ours(headers.get("host", "")):
        return 421, "Unknown host."
    origin = headers.get("origin")
    if origin is not None and origin not in (_origin(settings.SITE_URL), *settings.CSRF_TRUSTED_ORIGINS):
        return 403, "Calls from pages of this origin are not taken."
    if scope["method"] != "POST":
        return 405, "Send a POST: nothing is pushed here, and no session is kept."
    return None


def is_ours(host: str) -> bool:
    domain, _port = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


async def _refuse(send: Send, status: int, words: str) -> None:
    codes = {421: "unknown_host", 403: "unknown_origin", 405: "wrong_method"}
    error: dict[str, Any] = {"code": codes[status], "message": words, "hint": "", "retryable": False}
    body = json.dumps(error).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 405:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
