"""Finding out what became of a gateway call that nobody saw the end of. Never pays under a new key.

A call whose worker died is asked about and, if the gateway knows nothing, made again under the same key. A call without
an outcome is only asked about, more and more rarely, until the gateway says paid or refused. That it knows nothing is a
no only after several answers, and only once so much time has passed as the gateway itself names. That it says nothing
is no answer: nothing follows from it, but that it is asked more rarely.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog
from django.conf import settings
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Q, QuerySet, Value
from django.db.models.functions import Greatest, Least, Power
from django.utils import timezone

from refunds import charges, gateways, outcome, send, silence
from refunds.gateways.base import CONNECTED, GatewayAnswer, GatewayRefused, GatewayTimeout, StillPending
from refunds.models import GatewayAttempt
from refunds.states import UNDECIDED, AttemptOutcome, Trouble

log = structlog.get_logger(__name__)
# How long after its own time-out a call counts as abandoned by its worker.
GRACE: Final = timedelta(seconds=5)
ASKS_BEFORE_NO: Final = 3
# Between two asks: 8 seconds, doubled with every ask, answered or not, and in the end about an hour.
FIRST_PAUSE: Final = timedelta(seconds=8)
DOUBLINGS: Final = 9
BATCH: Final = 100
# Once the gateway has known of it, "nothing known" contradicts itself, and is no answer.
_KNOWN_OF: Final = frozenset({outcome.PENDING, Trouble.AMOUNT_DIFFERS})


def reconcile() -> None:
    """Ask about every undecided attempt that is due. Safe to run by two workers at once."""
    send.require_no_transaction()
    undecided = GatewayAttempt.objects.filter(outcome__in=UNDECIDED).order_by("provider")
    providers = list(undecided.values_list("provider", flat=True).distinct())
    silence.in_turn({provider: _questions(provider) for provider in providers})


def _questions(provider: str) -> Iterator[Callable[[], bool]]:
    for step, due in ((_resume, _abandoned), (_ask, _in_doubt)):
        for attempt in due(provider):
            yield partial(_guarded, step, attempt)


def _guarded(step: Callable[[GatewayAttempt], None], attempt: GatewayAttempt) -> bool:
    """Whether the gateway was heard in time. One attempt that cannot be resolved must not keep the others waiting."""
    try:
        step(attempt)
    except GatewayTimeout:
        log.info("reconcile.no_answer", attempt=attempt.idempotency_key, provider=attempt.provider)
        return False
    except Exception:
        log.exception("reconcile.failed", attempt=attempt.idempotency_key)
    return True


def _attempts(outcome_now: AttemptOutcome, provider: str, since: str) -> QuerySet[GatewayAttempt]:
    """Those of the provider, each with `due_at`: the moment in the field `since`, and the pause after so many tries."""
    doublings = Least(Greatest(F("times_tried") - 1, 0), DOUBLINGS)
    pause = ExpressionWrapper(Value(FIRST_PAUSE) * Power(2.0, doublings), output_field=DurationField())
    due_at = ExpressionWrapper(F(since) + F("pause"), output_field=DateTimeField())
    attempts = GatewayAttempt.objects.filter(outcome=outcome_now, provider=provider)
    return attempts.select_related("allocation__refund", "payment__order").annotate(pause=pause).annotate(due_at=due_at)


def _abandoned(provider: str) -> list[GatewayAttempt]:
    """Attempts that were begun and not finished for longer than any call can take, and are due to be taken over."""
    patience = timedelta(seconds=settings.GATEWAY_TIMEOUT_SECONDS) + GRACE
    begun_before = timezone.now() - patience
    attempts = _attempts(AttemptOutcome.SENDING, provider, "started_at").filter(started_at__lt=begun_before)
    due = attempts.filter(Q(times_tried=0) | Q(due_at__lt=begun_before))
    return list(due.order_by("started_at")[:BATCH])


def _resume(attempt: GatewayAttempt) -> None:
    """Take the attempt over; what the gateway knows counts, else the same call is made again under the same key."""
    now = timezone.now()
    mine = GatewayAttempt.objects.filter(
        pk=attempt.pk, outcome=AttemptOutcome.SENDING, started_at=attempt.started_at
    ).update(started_at=now, times_tried=F("times_tried") + 1)
    if mine != 1:
        return
    if attempt.provider not in CONNECTED:  # it was when the attempt was begun, so the call may have been made
        outcome.record_doubt(attempt, started_at=now, code="no_gateway")
        return
    found = _learn(attempt, claim=now)
    if found is None:
        if not send.deliver(send.claim_of(attempt, now)):
            raise GatewayTimeout
    elif isinstance(found, StillPending):
        outcome.record_pending(attempt, found, started_at=now)


def _in_doubt(provider: str) -> list[GatewayAttempt]:
    """Attempts that are due to be asked about, those first that have waited longest."""
    attempts = _attempts(AttemptOutcome.UNKNOWN, provider, "asked_at")
    due = attempts.filter(Q(asked_at=None) | Q(due_at__lte=timezone.now()))
    return list(due.order_by(F("asked_at").asc(nulls_first=True), "pk")[:BATCH])


def _ask(attempt: GatewayAttempt) -> None:
    now = timezone.now()
    mine = GatewayAttempt.objects.filter(
        pk=attempt.pk, outcome=AttemptOutcome.UNKNOWN, asked_at=attempt.asked_at
    ).update(asked_at=now, times_tried=F("times_tried") + 1)
    if mine != 1:
        return
    if attempt.provider not in CONNECTED:
        log.warning("reconcile.no_gateway", attempt=attempt.idempotency_key, provider=attempt.provider)
        return
    found = _learn(attempt, claim=None)
    GatewayAttempt.objects.filter(pk=attempt.pk).update(times_asked=F("times_asked") + 1)
    if isinstance(found, StillPending):
        outcome.note_pending(attempt, found)
    elif found is None and _is_final(attempt, now):
        outcome.record_refusal(attempt, started_at=None, code="no_record", message="The gateway has no record of it.")


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
