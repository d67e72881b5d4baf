"""Telling the shop's own system that goods of an order changed: written down with the change, sent after it."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone

from orders import jobs, tasks
from orders.audit import as_json
from orders.models import Order, OrderAnnouncement


def announce(*, order: Order, event: str, payload: Mapping[str, Any]) -> OrderAnnouncement | None:
    """Queue `event` with `payload` (JSON values) for the shop's webhook; None where no webhook is set.

    Call it inside the transaction of the change: both are kept, or neither. It is sent after commit, and again until
    the shop accepts it, in the order in which an order's announcements were made.
    """
    if not settings.ORDER_WEBHOOK_URL:
        return None
    announcement = OrderAnnouncement.objects.create(
        order=order, event=event, payload=as_json(payload), next_attempt_at=timezone.now()
    )
    jobs.enqueue_on_commit(tasks.sweep)
    return announcement
