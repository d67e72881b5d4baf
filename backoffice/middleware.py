"""Small middlewares: a request id in every log line, a line per change, and headers that keep pages to themselves.

Both work for sync and async views: an event stream must never be pushed through a thread.
"""

import time
import uuid
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import structlog
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.response import HttpResponseRedirectBase
from django.utils.decorators import sync_and_async_middleware

from backoffice import errors

log = structlog.get_logger(__name__)
LOOKS_ONLY = frozenset({"GET", "HEAD", "OPTIONS"})
# A form that was sent from a dialog says so, and is told where the page goes on (static/js/ui/dialog.js).
FROM_A_DIALOG = "X-Dialog"
GOES_ON_AT = "X-Dialog-Next"
# Every visible page says that it is, three times a minute. Where that is refused somebody may be trying addresses.
SAID_AGAIN_AND_AGAIN = frozenset({"chat-seen"})
FAULT = 500
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def _around(
    get_response: Callable[[HttpRequest], Any],
    before: Callable[[HttpRequest], None],
    after: Callable[[HttpRequest, HttpResponseBase], None],
) -> Callable[[HttpRequest], Any]:
    if iscoroutinefunction(get_response):

        async def async_middleware(request: HttpRequest) -> HttpResponseBase:
            before(request)
            response: HttpResponseBase = await get_response(request)
            after(request, response)
            return response

        return async_middleware

    def middleware(request: HttpRequest) -> HttpResponseBase:
        before(request)
        response: HttpResponseBase = get_response(request)
        after(request, response)
        return response

    return middleware


@sync_and_async_middleware
def request_id(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    def begin(request: HttpRequest) -> None:
        request.request_id = uuid.uuid4().hex  # type: ignore[attr-defined]
        request.began = time.monotonic()  # type: ignore[attr-defined]
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request.request_id)  # type: ignore[attr-defined]

    def end(request: HttpRequest, response: HttpResponseBase) -> None:
        response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
        if not _is_a_look(request, response) or response.status_code >= FAULT:
            _log_request(request, response)

    return _around(get_response, begin, end)


def _is_a_look(request: HttpRequest, response: HttpResponseBase) -> bool:
    match = request.resolver_match
    said = response.status_code == HTTPStatus.NO_CONTENT and match is not None and match.url_name
    return request.method in LOOKS_ONLY or said in SAID_AGAIN_AND_AGAIN


def _log_request(request: HttpRequest, response: HttpResponseBase) -> None:
    """One line for what wanted to change something, or failed. The route, not the address: addresses hold secrets."""
    match = request.resolver_match
    log.info(
        "request.done",
        method=request.method,
        route=match.route if match else "",
        status=response.status_code,
        duration_ms=round((time.monotonic() - request.began) * 1000),  # type: ignore[attr-defined]
    )


@sync_and_async_middleware
def explained_methods(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """An empty 405 gets the page, or the error object, that says what to do."""

    def explained(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code == 405 and isinstance(response, HttpResponse) and not response.content:
            return errors.wrong_method(request, response)
        return response

    if iscoroutinefunction(get_response):

        async def async_middleware(request: HttpRequest) -> HttpResponseBase:
            return explained(request, await get_response(request))

        return async_middleware

    return lambda request: explained(request, get_response(request))


@sync_and_async_middleware
def dialogs(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """A form of a dialog that is done is told where to go on, not led there: a redirect that a script follows uses up
    the sentence of success before anybody has read it."""

    def answered(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if FROM_A_DIALOG not in request.headers or not isinstance(response, HttpResponseRedirectBase):
            return response
        answer = HttpResponse(status=HTTPStatus.NO_CONTENT, headers={GOES_ON_AT: response["Location"]})
        answer.cookies = response.cookies
        return answer

    if iscoroutinefunction(get_response):

        async def async_middleware(request: HttpRequest) -> HttpResponseBase:
            return answered(request, await get_response(request))

        return async_middleware

    return lambda request: answered(request, get_response(request))


@sync_and_async_middleware
def security_headers(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    def nothing(request: HttpRequest) -> None:
        return None

    def end(request: HttpRequest, response: HttpResponseBase) -> None:
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Referrer-Policy", "same-origin")

    return _around(get_response, nothing, end)
