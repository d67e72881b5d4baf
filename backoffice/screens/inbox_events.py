"""What the inbox is told as it happens. No database connection stays with it, and no words of anybody travel on it."""

from asgiref.sync import sync_to_async
from django.contrib.auth import get_user
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_GET

from agent import desk_stream
from backoffice.screens.gate import QUEUE, AnyUser, may


@require_GET
async def events(request: HttpRequest) -> HttpResponseBase:
    """As on every staff page, strangers are asked to sign in and people without the role are refused."""
    user, welcome = await sync_to_async(_reader)(request)
    if not user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    if not welcome:
        raise PermissionDenied
    response = StreamingHttpResponse(
        desk_stream.follow(may_stay=lambda: sync_to_async(_may_stay)(request)),
        content_type="text/event-stream; charset=utf-8",
    )
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


def _reader(request: HttpRequest) -> tuple[AnyUser, bool]:
    try:
        user = get_user(request)
        return user, may(user, QUEUE)
    finally:
        connections.close_all()


def _may_stay(request: HttpRequest) -> bool:
    """Is the session still alive, and its person still of the role? Everything is read afresh."""
    again = HttpRequest()
    again.session = type(request.session)(request.session.session_key)
    return _reader(again)[1]
