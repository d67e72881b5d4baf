"""A button of a staff screen: do it, say what became of it, and go back to the page.

What was typed beside a refused button is kept for the next page, so that nobody types it twice.
"""

from collections.abc import Callable, Mapping
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from orders.access import is_staff_reader
from orders.errors import Refusal
from orders.http import path_of_site
from orders.prose import sentences

_KEPT: Final = "screens.refused_form"
# Longer than anything a form here takes: what exceeds it is not kept.
_LONGEST_KEPT: Final = 5_000
_MOST_FIELDS: Final = 60


def act(request: HttpRequest, work: Callable[[], str], *, back: str) -> HttpResponse:
    """`work` returns the sentence of success; a refusal is shown in its own words. `back` is a path of this site."""
    try:
        messages.success(request, work())
    except Refusal as refusal:
        told = refusal.told_to(staff=is_staff_reader(request))
        messages.error(request, sentences(told.message, told.hint))
        _keep(request)
    return HttpResponseRedirect(back)


def next_path(request: HttpRequest, fallback: str) -> str:
    """Where the form asked to go afterwards, if that is a path of this site."""
    return path_of_site(request.POST.get("next", ""), fallback)


def _keep(request: HttpRequest) -> None:
    fields = [(name, str(value)) for name, value in request.POST.items() if name not in {"csrfmiddlewaretoken", "next"}]
    short = {name: value for name, value in fields[:_MOST_FIELDS] if len(name) + len(value) <= _LONGEST_KEPT}
    request.session[_KEPT] = {"address": request.path, "fields": short}


def kept_fields(request: HttpRequest, address: str) -> Mapping[str, str] | None:
    """What was typed into the form that sends to `address`, if that form was refused just before; else None."""
    if not hasattr(request, "kept_form"):
        # Taken out once: a page that is loaded again begins anew.
        request.kept_form = request.session.pop(_KEPT, None) or {}  # type: ignore[attr-defined]
    kept = request.kept_form  # type: ignore[attr-defined]
    return kept["fields"] if kept.get("address") == address else None
