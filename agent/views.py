"""The chat's addresses: say something, listen, look, try again, ask for a person. Each parses, calls and answers."""

from http import HTTPStatus
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth import get_user
from django.db import connections
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import get_language
from django.views.decorators.http import require_GET, require_POST

from agent import flood, intake, presence, stream
from agent.access import current_conversation
from orders.access import Shopper, order_for_shopper, shopper_of
from orders.errors import Refusal
from orders.http import wants_json
from orders.prose import sentences

# A page says so every 20 seconds and when it is shown or hidden: this is what ten tabs in busy hands need.
LOOKS_PER_MINUTE: Final = 120


def _shopper(request: HttpRequest) -> Shopper:
    shopper = shopper_of(request)
    if shopper is None:
        raise Http404
    return shopper


def _answer(request: HttpRequest, number: str, body: dict[str, Any], status: int) -> HttpResponse:
    """JSON for scripts; a browser without JavaScript goes back to the order page."""
    if wants_json(request):
        return JsonResponse(body, status=status)
    return redirect("order", number=number)


@require_POST
def say(request: HttpRequest, number: str) -> HttpResponse:
    shopper = _shopper(request)
    order = order_for_shopper(shopper, number)
    try:
        message = intake.say(
            order=order,
            customer=shopper.customer,
            text=request.POST.get("text", ""),
            language=get_language() or "zh-hant",
            client_ref=request.POST.get("client_ref") or None,
        )
    except Refusal as refusal:
        return _refused(request, number, refusal)
    return _answer(request, number, {"message_id": message.pk}, 202)


def _refused(request: HttpRequest, number: str, refusal: Refusal) -> HttpResponse:
    if not wants_json(request):
        messages.error(request, sentences(refusal.message, refusal.hint))
        return redirect("order", number=number)
    response = JsonResponse(refusal.as_dict(), status=refusal.status)
    if "retry_after" in refusal.details:
        response["Retry-After"] = str(refusal.details["retry_after"])
    return response


@require_POST
def retry(request: HttpRequest, number: str) -> HttpResponse:
    try:
        queued = intake.try_again(conversation=current_conversation(_shopper(request), number))
    except Refusal as refusal:
        return _refused(request, number, refusal)
    return _answer(request, number, {"queued": queued}, 202)


@require_POST
def ask_for_person(request: HttpRequest, number: str) -> HttpResponse:
    shopper = _shopper(request)
    order = order_for_shopper(shopper, number)
    intake.ask_for_person(order=order, customer=shopper.customer, language=get_language() or "zh-hant")
    return _answer(request, number, {"needs_person": True}, 202)


@require_POST
def seen(request: HttpRequest, number: str) -> HttpResponse:
    """The page is visible, or was until now: its customer needs no e-mail of what it shows, up to `last_event`."""
    shopper = _shopper(request)
    wait = flood.seconds_to_wait("looked", shopper.customer.pk, most=LOOKS_PER_MINUTE)
    if wait:
        return HttpResponse(status=HTTPStatus.TOO_MANY_REQUESTS, headers={"Retry-After": str(wait)})
    shown = stream.parse_event_id(request.POST.get("last_event", "")) or stream.Position()
    presence.seen(order_for_shopper(shopper, number).pk, shopper.customer.pk, shown)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@require_GET
async def events(request: HttpRequest, number: str) -> HttpResponseBase:
    """Everything is read and checked before the response starts; after that no database connection stays with it.

    `?after=` is what a page knows that opens a new stream by itself: it cannot send the header.
    """
    order_id, customer_id = await sync_to_async(_whose)(request, number)
    last = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    position = stream.parse_event_id(last) or stream.Position()
    response = StreamingHttpResponse(
        stream.follow(
            order_id=order_id,
            customer_id=customer_id,
            position=position,
            may_stay=lambda: sync_to_async(_may_stay)(request, number),
        ),
        content_type="text/event-stream; charset=utf-8",
    )
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


def _may_stay(request: HttpRequest, number: str) -> bool:
    """Is the session still alive, and does it still see this order? Everything is read afresh."""
    again = HttpRequest()
    again.session = type(request.session)(request.session.session_key)
    again.user = get_user(again)
    try:
        _whose(again, number)
    except Http404:
        return False
    return True


def _whose(request: HttpRequest, number: str) -> tuple[int, int]:
    """Order and customer of a page that is open now. That does not mean that anybody looks at it."""
    try:
        shopper = _shopper(request)
        return order_for_shopper(shopper, number).pk, shopper.customer.pk
    finally:
        connections.close_all()
