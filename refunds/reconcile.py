"""Finding out what became of a gateway call that nobody saw the end of. Never pays under a new key.

A call whose worker died is asked about and, if the gateway knows nothing, made again under the same key. A call without
an outcome is only asked about, more and more rarely, until the gateway says paid or refused. That it knows nothing is a
no only after several asks, and only once so much time has passed as the gateway itself names.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.conf import settings
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Q, QuerySet, Value
from django.db.models.functions import Greatest, Least, Power
from django.utils import timezone

from refunds import charges, gateways, outcome, send
from refunds.gateways.base import CONNECTED, GatewayAnswer, GatewayRefused, StillPending
from refunds.models import GatewayAttempt
from refunds.states import AttemptOutcome, Trouble

log = structlog.get_logger(__name__)
# How long after its own time-out a call counts as abandoned by its worker.
GRACE: Final = timedelta(seconds=5)
ASKS_BEFORE_NO: Final = 3
# Between two asks: 8 seconds, doubled with every ask, and in the end about an hour.
FIRST_PAUSE: Final = timedelta(seconds=8)
DOUBLINGS: Final = 9
BATCH: Final = 100
# Once the gateway has known of it, "nothing known" contradicts itself, and is no answer.
_KNOWN_OF: Final = frozenset({outcome.PENDING, Trouble.AMOUNT_DIFFERS})


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
    return GatewayAttempt.objects.filter(outcome=outcome_now).select_related("allocation__refund", "payment__order")


def _abandoned() -> list[GatewayAttempt]:
    """Attempts that were begun and not finished for longer than any call can take."""
    patience = timedelta(seconds=settings.GATEWAY_TIMEOUT_SECONDS) + GRACE
    begun_before = timezone.now() - patience
    return list(_attempts(AttemptOutcome.SENDING).filter(started_at__lt=begun_before).order_by("started_at")[:BATCH])


def _resume(attempt: GatewayAttempt) -> None:
    """Take the attempt over; what the gateway knows counts, else the same call is made again under the same key."""
    now = timezone.now()
    mine = GatewayAttempt.objects.filter(
        pk=attempt.pk, outcome=AttemptOutcome.SENDING, started_at=attempt.started_at
    ).update(started_at=now)
    if mine != 1:
        return
    if attempt.provider not in CONNECTED:  # it was when the attempt was begun, so the call may have been made
        outcome.record_doubt(attempt, started_at=now, code="no_gateway")
        return
    found = _learn(attempt, claim=now)
    if found is None:
        send.deliver(send.claim_of(attempt, now))
    elif isinstance(found, StillPending):
        outcome.record_pending(attempt, found, started_at=now)


def _in_doubt() -> list[GatewayAttempt]:
    """Attempts that are due to be asked about, those first that have waited longest."""
    doublings = Least(Greatest(F("times_asked") - 1, 0), DOUBLINGS)
    pause = ExpressionWrapper(Value(FIRST_PAUSE) * Power(2.0, doublings), output_field=DurationField())
    due_at = ExpressionWrapper(F("asked_at") + F("pause"), output_field=DateTimeField())
    attempts = _attempts(AttemptOutcome.UNKNOWN).annotate(pause=pause).annotate(due_at=due_at)
    due = attempts.filter(Q(asked_at=None) | Q(due_at__lte=timezone.now()))
    return list(due.order_by(F("asked_at").asc(nulls_first=True), "pk")[:BATCH])


def _ask(attempt: GatewayAttempt) -> None:
    now = timezone.now()
    mine = GatewayAttempt.objects.filter(
        pk=attempt.pk, outcome=AttemptOutcome.UNKNOWN, asked_at=attempt.asked_at
    ).update(asked_at=now)
    if mine != 1:
        return
    if attempt.provider not in CONNECTED:
        log.warning("reconcile.no_gateway", attempt=attempt.idempotency_key, provider=attempt.provider)
        _count(attempt)
        return
    found = _learn(attempt, claim=None)
    _count(attempt)
    if isinstance(found, StillPending):
        outcome.note_pending(attempt, found)
    elif found is None and _is_final(attempt, now):
        outcome.record_refusal(attempt, started_at=None, code="no_record", message="The gateway has no record of it.")


def _count(attempt: GatewayAttempt) -> None:
    GatewayAttempt.objects.filter(pk=attempt.pk).update(times_asked=F("times_asked") + 1)


def _is_final(attempt: GatewayAttempt, now: datetime) -> bool:
    """Whether "nothing known" says by now that nothing was paid and nothing will be."""
    final_after = gateways.get(attempt.provider).nothing_known_is_final_after
    if final_after is None or attempt.code in _KNOWN_OF or attempt.times_asked + 1 < ASKS_BEFORE_NO:
        return False
    return now - (attempt.answered_at or attempt.started_at) >= final_after


def _learn(attempt: GatewayAttempt, *, claim: datetime | None) -> GatewayAnswer | GatewayRefused | StillPending | None:
    """What the gateway knows of the attempt. If that decides it, it is written down already."""
    send.require_no_transaction()
    try:
        found = gateways.get(attempt.provider).find(
            charge=charges.charge_of(attempt.payment), idempotency_key=attempt.idempotency_key
        )
    except GatewayRefused as refusal:
        outcome.record_no(attempt, refusal, started_at=claim)
        return refusal
    if isinstance(found, GatewayAnswer):
        outcome.record_success(attempt, found)
    return found
