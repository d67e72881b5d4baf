"""Customer links of an order: made, shown once, revoked."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from backoffice.screens.acting import act
from backoffice.screens.gate import LINKS, staff_screen
from orders.access import order_for_staff
from orders.actors import staff_actor
from orders.links import issue_link, revoke_link
from orders.models import CustomerLink


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(LINKS)
def make(request: HttpRequest, number: str) -> HttpResponse:
    """Asks first, then shows the address: it is in this answer and nowhere else, because it is not kept."""
    order = order_for_staff(request.user, number)
    context = {"here": "orders", "order": order, "back": reverse("staff-order", args=[number])}
    if request.method == "POST":
        path, link = issue_link(order=order, actor=staff_actor(request.user))
        context |= {"new_link": request.build_absolute_uri(path), "link": link}
    return render(request, "staff/customer_link.html", context)


@require_POST
@staff_screen(LINKS)
def revoke(request: HttpRequest, number: str, link_id: int) -> HttpResponse:
    link = get_object_or_404(CustomerLink, pk=link_id, order=order_for_staff(request.user, number))

    def work() -> str:
        revoke_link(link=link, actor=staff_actor(request.user))
        return _("The link is revoked. Whoever came by it is shut out.")

    return act(request, work, back=reverse("staff-order", args=[number]))
