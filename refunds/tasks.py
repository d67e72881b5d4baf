"""The jobs of money: paying, and bringing back what was lost. Each can be run twice, and by two workers at once."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog
from celery import shared_task
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from orders.jobs import one_at_a_time
from refunds import (
    alerts,
    books,
    charges,
    ending,
    parcels_astray,
    provider_events,
    reconcile,
    release,
    send,
    silence,
)
from refunds.models import GatewayAttempt, RefundAllocation
from refunds.states import AllocationState, RefundState

log = structlog.get_logger(__name__)
# A refund that has waited this long without an attempt has lost its job.
JOB_LOST_AFTER: Final = timedelta(seconds=5)
# Of each provider, in one round.
BATCH: Final = 100


@shared_task(name="refunds.tasks.send_refund")
def send_refund(refund_id: str) -> None:
    """Pay one refund: call the gateway for every part that nobody has called for yet."""
    send.send(refund_id=refund_id)


@shared_task(name="refunds.tasks.apply_event")
def apply_event(event_pk: int) -> None:
    """Apply what a provider has reported."""
    provider_events.apply(event_pk=event_pk)


@shared_task(name="refunds.tasks.compare_books")
@one_at_a_time
def compare_books() -> None:
    """Once a day: our books against every provider's list."""
    books.compare_all()


@shared_task(name="refunds.tasks.raise_overdue")
@one_at_a_time
def raise_overdue() -> None:
    """Money and goods that are waited for too long, parcels that went astray; and mail of alerts that was not sent."""
    for step in (alerts.raise_overdue, parcels_astray.raise_astray, alerts.mail_waiting):
        _guarded(step, step.__name__)


@shared_task(name="refunds.tasks.mail_alert")
def mail_alert(alert_pk: int) -> None:
    """One staff alert by e-mail. If the mail server fails, `raise_overdue` tries again within the hour."""
    alerts.mail(alert_pk)


@shared_task(name="refunds.tasks.sweep")
def sweep() -> None:
    """Bring back what a killed worker, a lost job or an emptied broker has left; end what has run out of time.

    Each step is begun once at a time, and not the whole: while one waits for a gateway, the next round passes it by.
    """
    for step in STEPS:
        _guarded(step, step.__name__)


def _guarded(step: Callable[[], object], name: str) -> None:
    """One step that fails must not keep the others from their work."""
    try:
        step()
    except Exception:
        log.exception("sweep.failed", step=name)


def send_forgotten() -> None:
    """Pay the parts of refunds whose job was lost, and those that could not be taken before now.

    A part that a live worker is sending is left to it, and one whose time has not come waits on.
    """
    forgotten = _forgotten(timezone.now()).annotate(provider=charges.provider_name())
    providers = list(forgotten.order_by("provider").values_list("provider", flat=True).distinct())
    in_order = forgotten.order_by("refund__created_at", "refund_id", "position")
    parts = {name: list(in_order.filter(provider=name).values_list("pk", flat=True)[:BATCH]) for name in providers}
    silence.in_turn({name: [partial(_send_part, part) for part in parts[name]] for name in providers})


def _forgotten(now: datetime) -> QuerySet[RefundAllocation]:
    """Parts that are due and that nobody has begun to send."""
    begun = GatewayAttempt.objects.filter(allocation=OuterRef("pk"), number=OuterRef("attempt"))
    parts = RefundAllocation.objects.filter(send.due(now), ~Exists(begun), state=AllocationState.PENDING)
    return parts.filter(refund__state=RefundState.PENDING, refund__created_at__lt=now - JOB_LOST_AFTER)


def _send_part(allocation_id: str) -> bool:
    """Whether the gateway was heard in time. A part that cannot be sent must not keep the others waiting."""
    try:
        return send.send_part(allocation_id)
    except Exception:
        log.exception("sweep.failed", step=allocation_id)
        return True


STEPS: Final = tuple(
    one_at_a_time(step)
    for step in (
        ending.expire_quotes,
        release.expire_approvals,
        send_forgotten,
        provider_events.apply_waiting,
        reconcile.reconcile,
    )
)
