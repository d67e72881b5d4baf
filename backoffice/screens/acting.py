"""A button of a staff screen: do it, say what became of it, and go back to the page."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from orders.errors import Refusal


def act(request: HttpRequest, work: Callable[[], str], *, back: str) -> HttpResponse:
    """`work` returns the sentence of success; a refusal is shown in its own words. `back` is a path of this site."""
    try:
        messages.success(request, work())
    except Refusal as refusal:
        messages.error(request, " ".join(filter(None, [refusal.message, refusal.hint])))
    return redirect(back)


def next_path(request: HttpRequest, fallback: str) -> str:
    """Where the form asked to go afterwards, if that is a path of this site."""
    wanted = request.POST.get("next", "")
    return wanted if url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted else fallback
