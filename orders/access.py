"""Whose order it is. Pages, API and chat reach an order's rows through here, or not at all.

A shopper is a customer who signed in, or a browser that came by a signed link and sees that order only. What belongs to
somebody else and what does not exist are the same 404.
"""

from dataclasses import dataclass
from typing import Final

from django.contrib.auth import logout
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone

from orders.actors import Actor, NotAllowed, customer_actor, staff_actor
from orders.models import Customer, CustomerLink, Order

VIEW_ORDER: Final = "orders.view_order"
VIEW_PRODUCT: Final = "orders.view_product"
_LINKS_IN_SESSION: Final = "orders.links"


@dataclass(frozen=True, slots=True)
class Shopper:
    """A customer, and which of their orders this browser may see: None for all, numbers for those of its links."""

    customer: Customer
    order_numbers: frozenset[str] | None


def is_staff_reader(request: HttpRequest) -> bool:
    """Whether the answer is read by the shop's own people, who are told what they can do themselves."""
    return isinstance(request.user, User) and request.user.has_perm(VIEW_ORDER)


def shopper_of(request: HttpRequest) -> Shopper | None:
    """Who shops behind this request; None for staff and strangers. Reads the database: not for an event loop."""
    if isinstance(request.user, User):
        customer = Customer.objects.filter(user_id=request.user.pk).first()
        if customer is None:
            return None
        customer.user = request.user  # read already
        return Shopper(customer, None)
    return _shopper_by_link(request)


def is_signed_out(request: HttpRequest) -> bool:
    """Nobody is signed in, and no link that still holds has been opened."""
    return not request.user.is_authenticated and shopper_of(request) is None


def orders_of(shopper: Shopper) -> QuerySet[Order]:
    """The orders this shopper may see, newest first."""
    orders = Order.objects.filter(customer=shopper.customer).order_by("-placed_at", "-id")
    if shopper.order_numbers is None:
        return orders
    return orders.filter(number__in=shopper.order_numbers)


def order_for_shopper(shopper: Shopper, number: str) -> Order:
    """Raises Http404 for a foreign and for a missing order alike."""
    order = orders_of(shopper).filter(number=number).first()
    if order is None:
        raise Http404
    order.customer = shopper.customer
    return order


def order_for_staff(user: User | AbstractBaseUser | AnonymousUser, number: str) -> Order:
    """Raises NotAllowed without the permission to view orders, Http404 if there is no such order."""
    if not (isinstance(user, User) and user.has_perm(VIEW_ORDER)):
        raise NotAllowed(VIEW_ORDER)
    order = Order.objects.select_related("customer").filter(number=number).first()
    if order is None:
        raise Http404
    return order


def orders_for(request: HttpRequest) -> QuerySet[Order]:
    """All orders for staff who may view them, their own for a customer, newest first. Raises NotAllowed for others."""
    if isinstance(request.user, User) and request.user.has_perm(VIEW_ORDER):
        return Order.objects.order_by("-placed_at", "-id")
    shopper = shopper_of(request)
    if shopper is None:
        raise NotAllowed(VIEW_ORDER)
    return orders_of(shopper)


def order_for(request: HttpRequest, number: str) -> Order:
    """One of `orders_for`. Raises NotAllowed or Http404."""
    order = orders_for(request).select_related("customer").filter(number=number).first()
    if order is None:
        raise Http404
    return order


def actor_on(request: HttpRequest, order: Order, **correlation: str) -> Actor:
    """Who acts on an order of `order_for`: its customer, else staff, whose permission the service checks."""
    shopper = shopper_of(request)
    if shopper is not None and shopper.customer.pk == order.customer_id:
        return customer_actor(order.customer, **correlation)
    return staff_actor(request.user, **correlation)


def customer_for(request: HttpRequest, external_id: str, permission: str) -> Customer:
    """Any customer for staff with `permission`, and oneself. Whoever came by a link to one order is not enough.

    Raises NotAllowed, and Http404 for a foreign and for a missing customer alike.
    """
    customer = Customer.objects.filter(external_id=external_id.replace("\x00", "\ufffd")).first()
    if not (isinstance(request.user, User) and request.user.has_perm(permission)):
        shopper = shopper_of(request)
        if shopper is None or shopper.order_numbers is not None:
            raise NotAllowed(permission)
        customer = customer if customer == shopper.customer else None
    if customer is None:
        raise Http404
    return customer


def require_products(request: HttpRequest) -> None:
    """Customers may look at what the shop sells, and so may staff with the permission. Raises NotAllowed."""
    if isinstance(request.user, User) and request.user.has_perm(VIEW_PRODUCT):
        return
    if shopper_of(request) is None:
        raise NotAllowed(VIEW_PRODUCT)


def remember_link(request: HttpRequest, link: CustomerLink) -> None:
    """Let this browser in to the link's order, under a new session key.

    Whoever is signed in and is somebody else is signed out first: one browser is one person at a time, and staff never
    act as the customer. Links of another customer are forgotten for the same reason.
    """
    if request.user.is_authenticated:
        if link.order.customer.user_id == request.user.pk:
            return
        logout(request)
    kept = _usable_links(request).filter(order__customer=link.order.customer)
    known = sorted({link.pk, *kept.values_list("pk", flat=True)})
    request.session.cycle_key()
    request.session[_LINKS_IN_SESSION] = known


def _shopper_by_link(request: HttpRequest) -> Shopper | None:
    links = list(_usable_links(request).select_related("order__customer"))
    if not links:
        return None
    customer = links[-1].order.customer
    return Shopper(customer, frozenset(link.order.number for link in links if link.order.customer_id == customer.pk))


def _usable_links(request: HttpRequest) -> QuerySet[CustomerLink]:
    known = request.session.get(_LINKS_IN_SESSION) or []
    if not known:
        return CustomerLink.objects.none()
    return usable_links().filter(pk__in=known).order_by("pk")


def usable_links() -> QuerySet[CustomerLink]:
    """Links that are neither revoked nor over."""
    return CustomerLink.objects.filter(revoked_at=None, expires_at__gt=timezone.now())
