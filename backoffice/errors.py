"""What is shown when a request cannot be answered: a kind page for people, the one error object for programs."""

from typing import Any, Final

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from backoffice.json_bodies import too_large
from orders.errors import Refusal
from orders.http import wants_json

WEBHOOKS: Final = "/webhooks/"


def error_body(code: str, message: str, *, hint: str = "", retryable: bool = False) -> dict[str, Any]:
    return Refusal(code, message, hint=hint, retryable=retryable).as_dict()


def page(request: HttpRequest, *, status: int, code: str, title: str, message: str, hint: str = "") -> HttpResponse:
    """The page uses no database and no session, so that it can be shown when they are what failed."""
    if wants_json(request):
        body = error_body(code, message, hint=hint, retryable=status >= 500)
        return JsonResponse(body, status=status, json_dumps_params={"ensure_ascii": False})
    context = {"status": status, "title": title, "message": message, "hint": hint}
    return HttpResponse(render_to_string("errors/page.html", context), status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        refusal = too_large(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        title, status = _("We could not read this request"), refusal.status
        return page(request, status=status, code=refusal.code, title=title, message=refusal.message, hint=refusal.hint)
    return page(
        request,
        status=400,
        code="bad_request",
        title=_("We could not read this request"),
        message=_("Something in the request was incomplete or broken."),
        hint=_("Go back and try once more."),
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(
        request,
        status=403,
        code="not_allowed",
        title=_("This page is not for your account"),
        message=_("You are signed in, but your role does not include this page."),
        hint=_("Ask a supervisor if you need it for your work, or sign in with another account."),
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(
        request,
        status=404,
        code="not_found",
        title=_("We could not find this"),
        message=_("It does not exist, or it belongs to somebody else."),
        hint=_("Check the address, or begin again at the front page."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    return page(
        request,
        status=500,
        code="server_error",
        title=_("Something went wrong on our side"),
        message=_("Your request did not go through because of a fault here. It has been noted."),
        hint=_("Reload the page first to see where things stand before you repeat anything."),
    )


def wrong_method(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """What an address answers that is for a button or for a provider's messages: Django's own answer is empty."""
    if request.path.startswith(WEBHOOKS):
        title = _("This address is for the payment provider's messages")
        message = _("It only takes what the payment provider sends. Nothing was changed.")
        hint = _("The provider's settings name it; there is nothing to see here.")
    else:
        title = _("This address belongs to a button")
        message = _("Opening it as a page does nothing, and nothing was changed.")
        hint = _("Go back to the page with the button and press it there.")
    explained = page(request, status=405, code="method_not_allowed", title=title, message=message, hint=hint)
    explained["Allow"] = response.headers.get("Allow", "POST")
    return explained


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return page(
        request,
        status=403,
        code="csrf_failed",
        title=_("This form is out of date"),
        message=_("Nothing was done: the form had been open for too long, or cookies are switched off."),
        hint=_("Go back, reload the page and send it again."),
    )
