"""Customer links of an order: made, shown once, revoked."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from backoffice.screens.acting import act
from backoffice.screens.gate import LINKS, staff_screen
from backoffice.screens.orders import order_context
from orders.access import order_for_staff
from orders.actors import staff_actor
from orders.links import issue_link, revoke_link
from orders.models import CustomerLink


@never_cache
@require_POST
@staff_screen(LINKS)
def make(request: HttpRequest, number: str) -> HttpResponse:
    """The address is in this answer and nowhere else: it is not kept."""
    order = order_for_staff(request.user, number)
    path, _link = issue_link(order=order, actor=staff_actor(request.user))
    messages.success(request, _("Copy the link now: it is not shown again."))
    return render(
        request, "staff/order.html", {**order_context(request, order), "new_link": request.build_absolute_uri(path)}
    )


@require_POST
@staff_screen(LINKS)
def revoke(request: HttpRequest, number: str, link_id: int) -> HttpResponse:
    link = get_object_or_404(CustomerLink, pk=link_id, order=order_for_staff(request.user, number))

    def work() -> str:
        revoke_link(link=link, actor=staff_actor(request.user))
        return _("The link is revoked. Whoever came by it is shut out.")

    return act(request, work, back=reverse("staff-order", args=[number]))
