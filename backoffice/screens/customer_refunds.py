"""The customer's refunds of all their orders, and the slip that goes into a parcel that comes back."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from backoffice.screens.customer import refund_for_customer, shopper_screen
from orders.access import Shopper, order_for_shopper, orders_of
from refunds import selectors
from refunds.access import find
from refunds.present import return_as_dict
from refunds.states import ReturnState

PER_PAGE = 20


@never_cache
@require_safe
@shopper_screen
def refund_list(request: HttpRequest, shopper: Shopper) -> HttpResponse:
    refunds = selectors.refunds().filter(selectors.FOR_CUSTOMERS, order__in=orders_of(shopper).order_by())
    page = Paginator(refunds, PER_PAGE).get_page(request.GET.get("page"))
    context = {"here": "refunds", "page": page, "refunds": [refund_for_customer(refund) for refund in page]}
    return render(request, "orders/refunds.html", context)


@never_cache
@require_safe
@shopper_screen
def slip(request: HttpRequest, shopper: Shopper, number: str, return_id: str) -> HttpResponse:
    """For a return that is still to be sent in; what has arrived needs no slip any more."""
    order = order_for_shopper(shopper, number)
    item = find(selectors.returns_of(order), return_id)
    if item is None or item.state != ReturnState.REQUESTED:
        raise Http404
    return render(request, "orders/slip.html", {"order": order, "item": return_as_dict(item)})
