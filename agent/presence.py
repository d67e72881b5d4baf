"""Whether the customer has the page open: its event stream says so again and again."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from agent.models import Conversation

# The stream looks every 15 seconds; one look may be late.
OPEN_FOR = timedelta(seconds=40)
WRITTEN_EVERY = timedelta(seconds=10)


def seen(order_id: int, customer_id: int) -> None:
    """The customer's page about the order is open now. Cheap to call often: it writes every ten seconds at most."""
    now = timezone.now()
    talks = Conversation.objects.filter(order_id=order_id, customer_id=customer_id)
    long_ago = Q(seen_at=None) | Q(seen_at__lt=now - WRITTEN_EVERY)
    Conversation.objects.filter(long_ago, pk__in=talks.order_by("-pk")[:1].values("pk")).update(seen_at=now)


def is_open(conversation: Conversation) -> bool:
    """Was the page open a moment ago, as far as the row that is given knows?"""
    return conversation.seen_at is not None and conversation.seen_at > timezone.now() - OPEN_FOR
