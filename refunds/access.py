"""Whose quote, refund or return it is. Views, API and services reach those rows through here, or not at all.

What belongs to somebody else and what does not exist are the same: Http404 at a door, `NotFound` in a service.
"""

import re
from typing import Final, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest

from orders.access import Shopper, orders_of, shopper_of
from orders.actors import Actor, NotAllowed, customer_actor, staff_actor
from orders.models import Customer, Order
from refunds import errors, selectors
from refunds.models import Approval, QuoteLine, Refund, RefundQuote, Replacement, Return
from refunds.states import ONLY_STAFF_SAY, QuoteState

# Kinds of actors that act for any customer.
_FOR_ANYBODY: Final = frozenset({"staff", "system"})
VIEW_QUOTE: Final = "refunds.view_refundquote"
VIEW_REFUND: Final = "refunds.view_refund"
VIEW_RETURN: Final = "refunds.view_return"
VIEW_REPLACEMENT: Final = "refunds.view_replacement"
HANDLE_GOODS: Final = "orders.handle_shipments"
VIEW_APPROVAL: Final = "refunds.view_approval"
REDEEM: Final = "refunds.redeem_quote"
# Quotes that customers reach: whoever asked, it is what they could have asked for themselves, by the same rules. The
# exceptions are a reason that only staff may give, and a rule set aside: until one of them confirms it, or a second
# person approves it, that quote is the staff's.
_STAFF_SAY: Final = QuoteLine.objects.filter(quote=OuterRef("pk"), reason__in=ONLY_STAFF_SAY)
FOR_CUSTOMERS: Final = Q(state=QuoteState.REDEEMED) | (~Exists(_STAFF_SAY) & Q(overrides=[]))
_PUBLIC_ID: Final = re.compile(r"[a-z]{2}_[0-9a-z]{12,20}")

Row = TypeVar("Row", RefundQuote, Refund, Return, Replacement, Approval)
Viewer = HttpRequest | User | AbstractBaseUser | AnonymousUser


def quote_for(viewer: Viewer, quote_id: str) -> RefundQuote:
    """The quote, for staff who may view quotes, and for its customer if it is for customers. Raises Http404."""
    return _row_for(viewer, RefundQuote.objects.select_related("order__customer", "policy"), quote_id, VIEW_QUOTE)


def refund_for(viewer: Viewer, refund_id: str) -> Refund:
    """The refund, for its customer and for staff who may view refunds. Raises Http404."""
    return _row_for(viewer, Refund.objects.select_related("order__customer", "quote"), refund_id, VIEW_REFUND)


def return_for(viewer: Viewer, return_id: str) -> Return:
    """The return, for its customer, and for staff who may view returns or handle goods. Raises Http404."""
    rows = Return.objects.select_related("order__customer", "quote")
    return _row_for(viewer, rows, return_id, goods_permission(viewer, VIEW_RETURN))


def replacement_for(viewer: Viewer, replacement_id: str) -> Replacement:
    """The replacement, for its customer, and for staff who may view them or handle goods. Raises Http404."""
    rows = Replacement.objects.select_related("order__customer", "shipment")
    return _row_for(viewer, rows, replacement_id, goods_permission(viewer, VIEW_REPLACEMENT))


def goods_permission(viewer: Viewer, permission: str) -> str:
    """Whoever handles goods sees what is on its way back and what is to be sent, as others do by `permission`."""
    return HANDLE_GOODS if _is_staff(viewer, HANDLE_GOODS) else permission


def approval_for(viewer: Viewer, approval_id: str) -> Approval:
    """The question to a second person, for staff who may view them, never for a customer. Raises Http404."""
    rows = Approval.objects.select_related("order__customer", "asked_by", "decided_by")
    approval = find(rows, approval_id) if _is_staff(viewer, VIEW_APPROVAL) else None
    if approval is None:
        raise Http404
    return approval


def approvals_for(viewer: Viewer, rows: QuerySet[Approval]) -> QuerySet[Approval]:
    """All of them for staff who may view them. Raises NotAllowed for others."""
    if not _is_staff(viewer, VIEW_APPROVAL):
        raise NotAllowed(VIEW_APPROVAL)
    return rows


def _row_for(viewer: Viewer, rows: QuerySet[Row], public_id: str, permission: str) -> Row:
    is_staff = _is_staff(viewer, permission)
    row = find(rows if is_staff else _for_customers(rows), public_id)
    if row is None or not (is_staff or _owns(viewer, row.order)):
        raise Http404
    return row


def _for_customers(rows: QuerySet[Row]) -> QuerySet[Row]:
    if issubclass(rows.model, Refund):
        return rows.filter(selectors.FOR_CUSTOMERS)
    return rows.filter(FOR_CUSTOMERS) if issubclass(rows.model, RefundQuote) else rows


def find(rows: QuerySet[Row], public_id: str) -> Row | None:
    """The row, if the id has the shape of one at all: what else comes in an address never reaches the database."""
    return rows.filter(pk=public_id).first() if _PUBLIC_ID.fullmatch(public_id) else None


def _is_staff(viewer: Viewer, permission: str) -> bool:
    user = _user(viewer)
    return isinstance(user, User) and user.has_perm(permission)


def _user(viewer: Viewer) -> User | AbstractBaseUser | AnonymousUser:
    """Requests come as Django's or as the API framework's, which is another class."""
    return viewer if isinstance(viewer, AbstractBaseUser | AnonymousUser) else viewer.user


def _owns(viewer: Viewer, order: Order) -> bool:
    shopper = _shopper(viewer)
    if shopper is None or shopper.customer.pk != order.customer_id:
        return False
    return shopper.order_numbers is None or order.number in shopper.order_numbers


def _shopper(viewer: Viewer) -> Shopper | None:
    if not isinstance(viewer, AbstractBaseUser | AnonymousUser):
        return shopper_of(viewer)
    customer = Customer.objects.filter(user_id=viewer.pk).first() if viewer.is_authenticated else None
    return Shopper(customer, None) if customer else None


def rows_for(viewer: Viewer, rows: QuerySet[Row], permission: str) -> QuerySet[Row]:
    """All rows for staff with the permission, their own for a customer. Raises NotAllowed for others."""
    if _is_staff(viewer, permission):
        return rows
    shopper = _shopper(viewer)
    if shopper is None:
        raise NotAllowed(permission)
    return _for_customers(rows).filter(order__in=orders_of(shopper))


def actor_for(request: HttpRequest, order: Order, **correlation: str) -> Actor:
    """Who acts on this order: its customer, else a member of staff, whose permission the service checks."""
    if _owns(request, order):
        return customer_actor(order.customer, **correlation)
    if not request.user.is_authenticated:
        raise Http404
    return staff_actor(request.user, **correlation)


def quote_to_redeem(quote_id: str, actor: Actor) -> RefundQuote:
    """The gate of redeeming: the customer the quote is for, or staff who may redeem. Never an agent, never a machine.

    Raises NotFound, NotAllowed.
    """
    if actor.kind not in {"customer", "staff"}:
        raise NotAllowed(REDEEM)
    return quote_to_decline(quote_id, actor)


def quote_to_decline(quote_id: str, actor: Actor) -> RefundQuote:
    """Customers and their agent reach their own, staff need the permission to redeem.

    What waits for a second person is theirs to end. Raises NotFound, NotAllowed, Refusal waits_for_approval.
    """
    actor.require(REDEEM)
    rows = RefundQuote.objects.select_related("order")
    quote = find(rows if actor.kind in _FOR_ANYBODY else _for_customers(rows), quote_id)
    if quote is None or not may_touch(actor, quote.customer_id):
        raise errors.no_such_quote()
    if quote.overrides and quote.state == QuoteState.OPEN:
        raise errors.waits_for_approval()
    return quote


def may_touch(actor: Actor, customer_id: int) -> bool:
    """Customers, and the agent in their name, touch what is theirs; a member of staff acts for any customer."""
    return actor.kind in _FOR_ANYBODY or (actor.customer is not None and actor.customer.pk == customer_id)
