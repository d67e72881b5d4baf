"""The gate to conversations: a row that is yours, or as if it did not exist."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404

from agent.models import Conversation
from agent.states import ConversationState
from orders.access import Shopper, order_for_shopper
from orders.models import Order


def conversation_of(shopper: Shopper, order: Order) -> Conversation | None:
    """The shopper's open conversation about the order, else the last one that was closed."""
    order_for_shopper(shopper, order.number)
    mine = Conversation.objects.filter(order=order, customer=shopper.customer).select_related("order", "customer")
    return mine.filter(state=ConversationState.OPEN).first() or mine.order_by("-pk").first()


def current_conversation(shopper: Shopper, order_number: str) -> Conversation:
    """As `conversation_of`, by the order's number; Http404 if nothing has been said yet."""
    conversation = conversation_of(shopper, order_for_shopper(shopper, order_number))
    if conversation is None:
        raise Http404
    return conversation


def conversation_for_staff(user: "AbstractBaseUser | AnonymousUser", conversation_id: int) -> Conversation:
    """Raises PermissionDenied without `agent.view_conversation`, Http404 if there is none of this number."""
    if not (isinstance(user, AbstractBaseUser) and user.has_perm("agent.view_conversation")):  # type: ignore[attr-defined]
        raise PermissionDenied
    rows = Conversation.objects.select_related("order", "customer", "owner")
    return get_object_or_404(rows, pk=conversation_id)
