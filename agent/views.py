"""The chat's addresses: say something, listen, look, try again, ask for a person. Each parses, calls and answers.

Whoever is nobody any more is told so (401 `signed_out`): a page keeps what was written until its customer is back.
"""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, Concatenate, Final, ParamSpec

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth import get_user
from django.db import connections
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import get_language
from django.views.decorators.http import require_GET, require_POST

from agent import flood, intake, kept, presence, stream
from agent.access import current_conversation
from orders.access import Shopper, order_for_shopper, shopper_of
from orders.errors import Refusal, SignedOut
from orders.http import ask_to_sign_in, wants_json
from orders.prose import sentences

Args = ParamSpec("Args")
# A page says so every 20 seconds and when it is shown or hidden: this is what ten tabs in busy hands need.
LOOKS_PER_MINUTE: Final = 120


def _shopper(request: HttpRequest) -> Shopper:
    """Raises SignedOut for a stranger, Http404 for staff: to them the customers' chat does not exist."""
    shopper = shopper_of(request)
    if shopper is not None:
        return shopper
    if request.user.is_authenticated:
        raise Http404
    raise SignedOut


def shoppers_button(
    view: Callable[Concatenate[HttpRequest, Shopper, Args], HttpResponse],
) -> Callable[..., HttpResponse]:
    """By POST alone, with the shopper. Strangers are asked to sign in, and find what they wrote."""

    @require_POST
    @wraps(view)
    def pressed(request: HttpRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponse:
        try:
            shopper = _shopper(request)
        except SignedOut:
            if not wants_json(request):
                kept.keep(request, str(kwargs["number"]), request.POST.get("text", ""))
            return ask_to_sign_in(request)
        return view(request, shopper, *args, **kwargs)

    return pressed


def _answer(request: HttpRequest, number: str, body: dict[str, Any], status: int) -> HttpResponse:
    """JSON for scripts; a browser without JavaScript goes back to the order page."""
    if wants_json(request):
        return JsonResponse(body, status=status)
    return redirect("order", number=number)


@shoppers_button
def say(request: HttpRequest, shopper: Shopper, number: str) -> HttpResponse:
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
        if not wants_json(request):
            kept.keep(request, number, request.POST.get("text", ""))
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


@shoppers_button
def retry(request: HttpRequest, shopper: Shopper, number: str) -> HttpResponse:
    try:
        queued = intake.try_again(conversation=current_conversation(shopper, number))
    except Refusal as refusal:
        return _refused(request, number, refusal)
    return _answer(request, number, {"queued": queued}, 202)


@shoppers_button
def ask_for_person(request: HttpRequest, shopper: Shopper, number: str) -> HttpResponse:
    order = order_for_shopper(shopper, number)
    intake.ask_for_person(order=order, customer=shopper.customer, language=get_language() or "zh-hant")
    return _answer(request, number, {"needs_person": True}, 202)


@shoppers_button
def seen(request: HttpRequest, shopper: Shopper, number: str) -> HttpResponse:
    """The page is visible, or was until now: its customer needs no e-mail of what it shows, up to `last_event`."""
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
    try:
        order_id, customer_id = await sync_to_async(_whose)(request, number)
    except SignedOut as refusal:
        return JsonResponse(refusal.as_dict(), status=refusal.status)
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
    except (Http404, SignedOut):
        return False
    return True


def _whose(request: HttpRequest, number: str) -> tuple[int, int]:
    """Order and customer of a page that is open now. That does not mean that anybody looks at it."""
    try:
        shopper = _shopper(request)
        return order_for_shopper(shopper, number).pk, shopper.customer.pk
    finally:
        connections.close_all()
