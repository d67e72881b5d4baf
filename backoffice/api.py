"""What all API views share: pages, and the one error object that every failure is answered with."""

import re
from typing import Any, Final

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import exceptions, status
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from backoffice.json_bodies import MAX_BODY_BYTES, too_large
from orders.access import is_staff_reader
from orders.actors import NotAllowed
from orders.errors import InvalidInput, NotFound, Refusal
from orders.strict import first_problem


class Pages(PageNumberPagination):
    """`page` and `page_size` are whole numbers from 1; what is none is refused, and never taken for another."""

    page_size_query_param = "page_size"
    max_page_size = 100

    def get_page_size(self, request: Request) -> int:
        return _whole_number(request, "page_size", most=self.max_page_size) or int(self.page_size or 1)

    def get_page_number(self, request: Request, paginator: Any) -> int:
        return _whole_number(request, "page") or 1


def _whole_number(request: Request, name: str, *, most: int | None = None) -> int | None:
    """The query's number of this name, None where it is left out. Raises InvalidInput."""
    written = request.query_params.get(name)
    if written is None:
        return None
    number = int(written) if _DIGITS.fullmatch(written) else 0
    if number < 1:
        raise InvalidInput(name, _("This must be a whole number from 1."))
    if most is not None and number > most:
        raise InvalidInput(name, _("This must be at most %(most)s.") % {"most": most})
    return number


_DIGITS: Final = re.compile("[0-9]{1,12}")
# Code and status of what DRF raises by itself. Subclasses come before their parents.
_CODES: list[tuple[type[exceptions.APIException], str]] = [
    (exceptions.ParseError, "malformed_body"),
    (exceptions.NotAuthenticated, "not_authenticated"),
    (exceptions.AuthenticationFailed, "not_authenticated"),
    (exceptions.PermissionDenied, "not_allowed"),
    (exceptions.NotFound, "not_found"),
    (exceptions.MethodNotAllowed, "method_not_allowed"),
    (exceptions.NotAcceptable, "not_acceptable"),
    (exceptions.UnsupportedMediaType, "unsupported_media_type"),
    (exceptions.Throttled, "too_many_requests"),
]


def one_error_object(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: any failure we expect becomes `{code, message, hint, retryable[, field, details]}`.

    None for what nobody expected: that is a 500, and `backoffice.errors.server_error` answers it.
    """
    refusal = as_refusal(error)
    if refusal is None:
        return None
    set_rollback()
    request = context.get("request")
    refusal = refusal.told_to(staff=request is not None and is_staff_reader(request))
    return Response(refusal.as_dict(), status=refusal.status, headers=_headers(error, refusal))


def as_refusal(error: Exception) -> Refusal | None:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RequestDataTooBig):
        return too_large(MAX_BODY_BYTES)
    if isinstance(error, NotAllowed | PermissionDenied):
        return not_allowed()
    if isinstance(error, Http404):
        return NotFound(_("It does not exist, or it belongs to somebody else."))
    if isinstance(error, exceptions.ValidationError):
        return InvalidInput(*first_problem(error.detail))
    if isinstance(error, exceptions.APIException):
        return _of_framework(error)
    return None


def not_allowed() -> Refusal:
    return Refusal(
        "not_allowed",
        _("Your account may not do this."),
        hint=_("Ask somebody whose role includes it."),
        status=status.HTTP_403_FORBIDDEN,
    )


def _hint(code: str) -> str:
    """What to do about what the framework refuses by itself."""
    if code == "not_authenticated":
        return _("Sign in, or send a token in the Authorization header.")
    if code == "not_found":
        return _("Check the number or the address.")
    return _("What this address takes is described at /api/v1/docs/.")


def _of_framework(error: exceptions.APIException) -> Refusal:
    code = next((code for kind, code in _CODES if isinstance(error, kind)), "error")
    if code == "not_allowed" and str(error.detail).startswith("CSRF"):
        return _csrf_failed()
    wait = getattr(error, "wait", None)
    details = {"retry_after": int(wait)} if wait else None
    return Refusal(
        code,
        _(str(error.detail)) if error.detail else "",
        hint=_hint(code),
        status=error.status_code,
        retryable=code == "too_many_requests",
        details=details,
    )


def _csrf_failed() -> Refusal:
    return Refusal(
        "csrf_failed",
        _("Nothing was done: a request with a session needs the session's CSRF token, and an address of this site."),
        hint=_("Send the value of the cookie csrftoken in the header X-CSRFToken."),
        status=status.HTTP_403_FORBIDDEN,
    )


def _headers(error: Exception, refusal: Refusal) -> dict[str, str]:
    headers = {}
    if auth_header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = auth_header
    if wait := refusal.details.get("retry_after"):
        headers["Retry-After"] = str(wait)
    return headers
