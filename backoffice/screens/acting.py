"""A button of a staff screen: do it, say what became of it, and go back to the page.

What was typed beside a refused button is kept for the next page, so that nobody types it twice.
"""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from orders.access import is_staff_reader
from orders.errors import Refusal
from orders.http import path_of_site
from orders.kept_form import keep
from orders.prose import sentences


def act(request: HttpRequest, work: Callable[[], str], *, back: str) -> HttpResponse:
    """`work` returns the sentence of success; a refusal is shown in its own words. `back` is a path of this site."""
    try:
        messages.success(request, work())
    except Refusal as refusal:
        told = refusal.told_to(staff=is_staff_reader(request))
        messages.error(request, sentences(told.message, told.hint))
        typed = [(name, str(value)) for name, value in request.POST.items()]
        keep(request, address=request.path, fields=typed)
    return HttpResponseRedirect(back)


def asked_next(request: HttpRequest, fallback: str) -> str:
    """As `next_path`, also where a link says it that leads to the form."""
    return next_path(request, path_of_site(request.GET.get("next", ""), fallback))


def next_path(request: HttpRequest, fallback: str) -> str:
    """Where the form asked to go afterwards, if that is a path of this site."""
    return path_of_site(request.POST.get("next", ""), fallback)
