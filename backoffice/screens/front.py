"""The front door: everybody is sent to the page where their work is."""

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from backoffice.screens.gate import HISTORY, ORDERS, POLICIES, QUEUE, may
from orders.access import shopper_of


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    return redirect(landing(request))


def landing(request: HttpRequest) -> str:
    """The name of the page this person begins at; for somebody without any role, their own (empty) list of orders."""
    user: User | AnonymousUser = request.user
    if user.is_active and user.is_superuser:
        return "admin:index"
    if may(user, QUEUE):
        return "staff-queue"
    if may(user, ORDERS):
        return "staff-orders"
    if may(user, HISTORY):
        return "staff-audit"
    if user.is_active and user.is_staff:
        return "admin:index"
    if may(user, POLICIES):
        return "staff-policies"
    return "orders" if user.is_authenticated or shopper_of(request) else "login"
