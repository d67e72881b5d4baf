"""How a client wants to be answered: one rule for every address that serves people and programs alike."""

from typing import Final
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.http import url_has_allowed_host_and_scheme

from orders.errors import SignedOut

# Django refuses to redirect to more than 2,048 characters.
LONGEST_PATH: Final = 2000


def wants_json(request: HttpRequest) -> bool:
    """Browsers say that they accept HTML, or that htmx asks for them. Everybody else, and whoever is below /api/, is a
    program: it gets JSON, also if it says nothing or accepts anything."""
    if request.path.startswith("/api/"):
        return True
    return "text/html" not in request.headers.get("Accept", "") and "HX-Request" not in request.headers


def path_of_site(wanted: str, fallback: str) -> str:
    """`wanted` if it is a path of this site, from its root, that a browser can be sent to; else `fallback`.

    A word without a slash is none: it would be taken for the name of an address, or beside the page that was open.
    """
    is_path = wanted.startswith("/") and len(wanted) <= LONGEST_PATH
    return wanted if is_path and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) else fallback


def ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    """To whoever pressed a button and is nobody any more: the one error object, or the sign-in and then their page."""
    if wants_json(request):
        refusal = SignedOut()
        return JsonResponse(refusal.as_dict(), status=refusal.status)
    page = urlsplit(request.headers.get("Referer", ""))
    return redirect_to_login(path_of_site(page.path if page.netloc == request.get_host() else "", "/"))
