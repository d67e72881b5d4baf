"""The way in for a customer who holds a signed link."""

from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from orders.access import remember_link
from orders.links import link_of


@never_cache
@require_safe
def enter_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Open the order of a good link; a link that is forged, over or revoked is answered alike, with what to do."""
    link = link_of(token)
    if link is None:
        return render(request, "orders/link_invalid.html", status=410)
    remember_link(request, link)
    return redirect(f"/orders/{quote(link.order.number)}/")
