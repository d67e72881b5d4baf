"""What happens in a conversation, as it happens, for staff who have it open. No database connection stays with it."""

from asgiref.sync import sync_to_async
from django.contrib.auth import get_user
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_GET

from agent import staff_stream
from agent.access import conversation_for_staff
from agent.models import Conversation
from backoffice.screens.gate import QUEUE, AnyUser, may


@require_GET
async def events(request: HttpRequest, conversation_id: int) -> HttpResponseBase:
    """As on every staff page, strangers are asked to sign in and people without the role are refused."""
    user = await sync_to_async(_reader)(request)
    if not user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    conversation = await sync_to_async(_conversation)(user, conversation_id)
    response = StreamingHttpResponse(
        staff_stream.follow(conversation, may_stay=lambda: sync_to_async(_may_stay)(request, conversation_id)),
        content_type="text/event-stream; charset=utf-8",
    )
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


def _reader(request: HttpRequest) -> AnyUser:
    try:
        return get_user(request)
    finally:
        connections.close_all()


def _conversation(user: AnyUser, conversation_id: int) -> Conversation:
    try:
        if not may(user, QUEUE):
            raise PermissionDenied
        return conversation_for_staff(user, conversation_id)
    finally:
        connections.close_all()


def _may_stay(request: HttpRequest, conversation_id: int) -> bool:
    """Is the session still alive, and does it still see this conversation? Everything is read afresh."""
    again = HttpRequest()
    again.session = type(request.session)(request.session.session_key)
    try:
        _conversation(_reader(again), conversation_id)
    except (PermissionDenied, Http404):
        return False
    return True
