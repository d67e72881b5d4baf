"""Finding out what became of a gateway call that nobody saw the end of. Never pays under a new key.

A call whose worker died is asked about and, if the gateway knows nothing, made again under the same key. A call that
timed out is only asked about: paid, or after three asks over at least half a minute definitely not.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import timezone

from refunds import gateways, outcome, send
from refunds.gateways.base import GatewayAnswer
from refunds.models import GatewayAttempt
from refunds.states import AttemptOutcome

log = structlog.get_logger(__name__)
# How long after its own time-out a call counts as abandoned by its worker.
GRACE: Final = timedelta(seconds=5)
ASKS_BEFORE_NO: Final = 3
DOUBT_BEFORE_NO: Final = timedelta(seconds=30)
FIRST_PAUSE: Final = timedelta(seconds=8)
BATCH: Final = 100


def reconcile() -> None:
    """Ask about every undecided attempt that is due. Safe to run by two workers at once."""
    send.require_no_transaction()
    for attempt in _abandoned():
        _guarded(_resume, attempt)
    for attempt in _in_doubt():
        _guarded(_ask, attempt)


def _guarded(step: Callable[[GatewayAttempt], None], attempt: GatewayAttempt) -> None:
    """One attempt that cannot be resolved must not keep the others waiting; the next sweep tries it again."""
    try:
        step(attempt)
    except Exception:
        log.exception("reconcile.failed", attempt=attempt.idempotency_key)


def _attempts(outcome_now: AttemptOutcome) -> QuerySet[GatewayAttempt]:
    return (
        GatewayAttempt.objects.filter(outcome=outcome_now).select_related("allocation__refund").order_by("started_at")
    )


def _abandoned() -> list[GatewayAttempt]:
    """Attempts that were begun and not finished for longer than any call can take."""
    patience = timedelta(seconds=settings.GATEWAY_TIMEOUT_SECONDS) + GRACE
    begun_before = timezone.now() - patience
    return list(_attempts(AttemptOutcome.SENDING).filter(started_at__lt=begun_before)[:BATCH])


def _resume(attempt: GatewayAttempt) -> None:
    """Take the attempt over; what the gateway knows counts, else the same call is made again under the same key."""
    now = timezone.now()
    mine = GatewayAttempt.objects.filter(
        pk=attempt.pk, outcome=AttemptOutcome.SENDING, started_at=attempt.started_at
    ).update(started_at=now)
    if mine != 1:
        return
    answer = _find(attempt)
    if answer is not None:
        outcome.record_success(attempt, answer)
    else:
        send.deliver(send.claim_of(attempt, attempt.allocation.refund, now))


def _in_doubt() -> list[GatewayAttempt]:
    return [attempt for attempt in _attempts(AttemptOutcome.UNKNOWN)[:BATCH] if _due(attempt, timezone.now())]


def _due(attempt: GatewayAttempt, now: datetime) -> bool:
    """The pause doubles with every ask."""
    if attempt.asked_at is None:
        return True
    return bool(now >= attempt.asked_at + FIRST_PAUSE * 2 ** max(attempt.times_asked - 1, 0))


def _ask(attempt: GatewayAttempt) -> None:
    now = timezone.now()
    mine = GatewayAttempt.objects.filter(
        pk=attempt.pk, outcome=AttemptOutcome.UNKNOWN, asked_at=attempt.asked_at
    ).update(asked_at=now)
    if mine != 1:
        return
    answer = _find(attempt)
    if answer is not None:
        outcome.record_success(attempt, answer)
        return
    GatewayAttempt.objects.filter(pk=attempt.pk).update(times_asked=F("times_asked") + 1)
    in_doubt_since = attempt.answered_at or attempt.started_at
    if attempt.times_asked + 1 >= ASKS_BEFORE_NO and now - in_doubt_since >= DOUBT_BEFORE_NO:
        outcome.record_refusal(attempt, started_at=None, code="no_record", message="The gateway has no record of it.")


def _find(attempt: GatewayAttempt) -> GatewayAnswer | None:
    send.require_no_transaction()
    return gateways.get(attempt.provider).find(attempt.idempotency_key)
