"""Who may open which screen. Services check once more: a screen that was forgotten here gives nothing away."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, Concatenate, Final, ParamSpec
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from backoffice.middleware import FROM_A_DIALOG
from orders.actors import NotAllowed
from orders.http import path_of_site

Args = ParamSpec("Args")
View = Callable[Concatenate[HttpRequest, Args], HttpResponse]
AnyUser = User | AbstractBaseUser | AnonymousUser

# Where to sign in again, told to a page whose session has ended.
SIGN_IN: Final = "X-Sign-In"
# Whose page it is that asks or sends, as its scripts say: a header, or a field of a form (static/js/ui/session.js).
READER: Final = "X-Reader"
READER_FIELD: Final = "page_reader"

# A screen is open to whoever has any one of its permissions.
QUEUE: Final = ("agent.answer_conversation",)
COPILOT: Final = ("agent.use_copilot",)
CANNED: Final = ("agent.edit_canned_replies",)
TRACE: Final = ("agent.view_modelcall",)
DOOR_CALLS: Final = ("agent.view_doorcall",)
ORDERS: Final = ("refunds.ask_quote", "orders.handle_shipments")
REFUNDS: Final = ("refunds.ask_quote",)
REDEEM: Final = ("refunds.redeem_quote",)
APPROVALS: Final = ("refunds.approve_refund",)
SHIPMENTS: Final = ("orders.handle_shipments",)
RETRY: Final = ("refunds.retry_refund",)
LINKS: Final = ("orders.issue_customer_link",)
ADDRESS: Final = ("orders.change_address",)
CREDIT: Final = ("orders.view_storecreditaccount",)
COMPENSATE: Final = ("refunds.propose_compensation",)
OVERRIDE: Final = ("refunds.ask_override",)
ELSEWHERE: Final = ("refunds.record_elsewhere",)
BOOKS: Final = ("refunds.view_bookscompared",)
POLICIES: Final = ("refunds.view_refundpolicy",)
EDIT_POLICIES: Final = ("refunds.edit_policy",)
PUBLISH_POLICIES: Final = ("refunds.publish_policy",)

REPORTS: Final = ("backoffice.view_reports",)
HISTORY: Final = ("backoffice.search_history",)
EVALS: Final = ("backoffice.view_evals",)
# Who may take lists away as files: with customers' names, so not everybody who may look at one order.
EXPORT_MONEY: Final = ("refunds.ask_quote", "backoffice.view_reports")
EXPORT_GOODS: Final = (*EXPORT_MONEY, "orders.handle_shipments")
EXPORTS: Final = (*EXPORT_GOODS, *HISTORY)


def may(user: AnyUser, permissions: tuple[str, ...]) -> bool:
    return isinstance(user, User) and any(user.has_perm(permission) for permission in permissions)


def staff_screen(permissions: tuple[str, ...]) -> Callable[[View[Args]], Callable[..., HttpResponse]]:
    """Strangers are asked to sign in; a signed-in person without the role gets 403, not another sign-in."""

    def decorate(view: View[Args]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def gated(request: HttpRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponse:
            if not request.user.is_authenticated:
                return _sign_in(request)
            if not may(request.user, permissions):
                raise PermissionDenied
            if _is_of_another(request):
                return _not_their_page(request)
            try:
                return view(request, *args, **kwargs)
            except NotAllowed as refused:
                raise PermissionDenied from refused

        return gated

    return decorate


def _is_of_another(request: HttpRequest) -> bool:
    """An open page outlives its session, and the next may be a colleague's: what was written for one of them is not
    to be sent in the other's name."""
    reader = request.headers.get(READER) or request.POST.get(READER_FIELD)
    return bool(reader) and reader != str(request.user.pk)


def _not_their_page(request: HttpRequest) -> HttpResponse:
    """As where nobody is signed in; a whole form is led back to its page, which is then the new reader's own."""
    if _is_of_an_open_page(request):
        return _sign_in(request)
    messages.error(request, _("Nothing was done: this page belonged to somebody who has signed out since."))
    return HttpResponseRedirect(_open_page(request))


def _sign_in(request: HttpRequest) -> HttpResponse:
    """A page is led to the sign-in. A part of a page that is open is refused: a script would follow, and put the
    sign-in in its place. The page itself then says that the session has ended (static/js/ui/session.js)."""
    if not _is_of_an_open_page(request):
        return redirect_to_login(_page_of(request))
    led = redirect_to_login(_open_page(request))
    return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={SIGN_IN: led["Location"]})


def _is_of_an_open_page(request: HttpRequest) -> bool:
    return "HX-Request" in request.headers or FROM_A_DIALOG in request.headers


def _page_of(request: HttpRequest) -> str:
    """Where to go on after the sign-in: what was asked for, or the page of the form that was sent without a session."""
    if request.method in {"GET", "HEAD"}:
        return request.get_full_path()
    return _open_page(request)


def _open_page(request: HttpRequest) -> str:
    """The page that is before the reader, without what may be secret in its query; the front door if it is not ours."""
    page = urlsplit(request.headers.get("HX-Current-URL") or request.headers.get("Referer", ""))
    return path_of_site(page.path if page.netloc == request.get_host() else "", "/")


def permissions_of(user: AnyUser) -> dict[str, Any]:
    """What navigation and buttons ask: `may.queue`, `may.orders` …"""
    return {
        "queue": may(user, QUEUE),
        "copilot": may(user, COPILOT),
        "canned": may(user, CANNED),
        "trace": may(user, TRACE),
        "door_calls": may(user, DOOR_CALLS),
        "orders": may(user, ORDERS),
        "refunds": may(user, REFUNDS),
        "redeem": may(user, REDEEM),
        "retry": may(user, RETRY),
        "approvals": may(user, APPROVALS),
        "shipments": may(user, SHIPMENTS),
        "links": may(user, LINKS),
        "address": may(user, ADDRESS),
        "credit": may(user, CREDIT),
        "compensate": may(user, COMPENSATE),
        "override": may(user, OVERRIDE),
        "elsewhere": may(user, ELSEWHERE),
        "books": may(user, BOOKS),
        "policies": may(user, POLICIES),
        "edit_policies": may(user, EDIT_POLICIES),
        "publish_policies": may(user, PUBLISH_POLICIES),
        "reports": may(user, REPORTS),
        "history": may(user, HISTORY),
        "evals": may(user, EVALS),
        "export_money": may(user, EXPORT_MONEY),
        "export_goods": may(user, EXPORT_GOODS),
        "records": isinstance(user, User) and user.is_staff,
    }
