"""What staff must see although nobody asked: raised once per subject, told on commit, settled by a person.

A refund or a returned parcel may not wait without end: 10 days warn, and after 15 the law's time for giving money back
is over (Consumer Protection Act, Taiwan, article 19-2). Goods that the shop owes instead are told after as many days.
Reasons: docs/money.md, section "States".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final

import structlog
from django.conf import settings
from django.core.mail import send_mail
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Concat, Least
from django.utils import timezone, translation

from orders import audit
from orders.actors import Actor, system_actor
from orders.models import AuditEvent, Order
from orders.prose import aside
from refunds import errors, selectors
from refunds.alert_words import in_mail
from refunds.choices import clean_note
from refunds.models import GatewayAttempt, Refund, Return, StaffAlert
from refunds.notices import tell_on_commit
from refunds.present import moment
from refunds.signals import alert_raised
from refunds.states import FINISHED, AlertKind, ReturnKind, ReturnState, Trouble

SETTLE: Final = "refunds.retry_refund"
WARN_AFTER: Final = timedelta(days=10)
STATUTORY: Final = timedelta(days=15)
LEVELS: Final = {
    AlertKind.OVERDUE: ((WARN_AFTER, "warning"), (STATUTORY, "statutory")),
    AlertKind.OWED_GOODS: ((WARN_AFTER, "late"), (STATUTORY, "very_late")),
}
BATCH: Final = 500
# Far longer than a mail server is waited for (`EMAIL_TIMEOUT`, at each of its few steps).
MAIL_CLAIM: Final = timedelta(minutes=10)
MAILS_AT_ONCE: Final = 50
MAIL_FAILURES: Final = 3
log = structlog.get_logger(__name__)


@transaction.atomic
def raise_alert(
    *,
    kind: AlertKind,
    subject: str,
    provider: str = "",
    order: Order | None = None,
    refund: Refund | None = None,
    attempt: GatewayAttempt | None = None,
    facts: dict[str, Any] | None = None,
) -> StaffAlert | None:
    """Write an alert and tell staff on commit; None where this one was raised before, settled or not.

    `subject`: what it is about, in at most 160 characters; with `kind` it makes the alert one.
    """
    rest = {"provider": provider, "order": order, "refund": refund, "attempt": attempt, "facts": facts or {}}
    alert, is_new = StaffAlert.objects.get_or_create(kind=kind, subject=subject, defaults=rest)
    if not is_new:
        return None
    _audit(alert, "alert.raised", system_actor("watch"))
    tell_on_commit(alert_raised, alert_id=str(alert.pk))
    return alert


@transaction.atomic
def settle(*, alert_id: int, actor: Actor, note: str) -> StaffAlert:
    """Say that it was seen to, and how. By staff with `refunds.retry_refund`.

    Raises NotAllowed, NotFound, InvalidInput (`note`), and Refusal wrong_state where it is settled already.
    """
    actor.require_staff(SETTLE)
    text = clean_note(note, required=True)
    fields = {"settled_at": timezone.now(), "settled_by": actor.user, "note": text}
    moved = StaffAlert.objects.filter(pk=alert_id, settled_at=None).update(**fields)
    alert = StaffAlert.objects.select_related("order", "refund").filter(pk=alert_id).first()
    if alert is None:
        raise errors.no_such_alert()
    if moved != 1:
        raise errors.wrong_state(aside(alert.get_kind_display(), alert.subject))
    _audit(alert, "alert.settled", actor, note=text)
    return alert


def _audit(alert: StaffAlert, action: str, actor: Actor, **chosen: Any) -> None:
    audit.record(
        action=action,
        actor=actor,
        subject_type="alert",
        subject_id=str(alert.pk),
        order=alert.order,
        chosen=chosen,
        outcome={"kind": alert.kind, "subject": alert.subject, "facts": alert.facts},
        correlation={"refund_id": alert.refund_id} if alert.refund_id else {},
    )


# --- what has waited too long -----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Waiting:
    """What a customer waits for. Money: a refund, or a return whose goods are here and that has no refund yet.

    Or goods: a replacement that has not left, and has no `amount`.
    """

    kind: AlertKind
    number: str
    since: datetime
    order: Order
    state: str
    amount: int | None = None
    refund: Refund | None = None


def raise_overdue(now: datetime | None = None) -> int:
    """Raise what has waited for 10 days, and again what has for 15; how many are new. Found again, it is not new."""
    now = now or timezone.now()
    raised = 0
    for waiting in chain(_money(now - WARN_AFTER), _goods(now - WARN_AFTER)):
        for after, level in LEVELS[waiting.kind]:
            if waiting.since <= now - after:
                raised += _raise_overdue(waiting, level, (now - waiting.since).days)
    return raised


def _raise_overdue(waiting: Waiting, level: str, days: int) -> bool:
    facts: dict[str, Any] = {
        "level": level,
        "days": days,
        "since": moment(waiting.since),
        "number": waiting.number,
        "state": waiting.state,
    }
    if waiting.amount is not None:
        facts |= {"amount": waiting.amount, "currency": waiting.order.currency}
    alert = raise_alert(
        kind=waiting.kind,
        subject=f"{waiting.number}:{level}",
        order=waiting.order,
        refund=waiting.refund,
        facts=facts,
    )
    return alert is not None


def _money(before: datetime) -> Iterator[Waiting]:
    """Money that is waited for since before that moment.

    Goods that came back count from their receipt until their refund is finished, whatever has become of the return:
    that it was accepted gives nobody their money.
    """
    unpaid = GatewayAttempt.objects.filter(
        allocation__refund=OuterRef("pk"), trouble=Trouble.FAILED_AFTER_PAYMENT, settled_at=None
    )
    refunds = Refund.objects.filter(~Q(state__in=FINISHED) | Exists(unpaid)).select_related("order")
    received = _happened("return.received", "return_request__pk")
    due = refunds.annotate(since=Least("created_at", received))  # Least passes over what is null
    for refund in _late(due, AlertKind.OVERDUE, before):
        yield Waiting(AlertKind.OVERDUE, refund.pk, refund.since, refund.order, refund.state, refund.amount, refund)
    here = Return.objects.filter(
        state__in=[ReturnState.RECEIVED, ReturnState.ACCEPTED], kind=ReturnKind.REFUND, refund=None
    ).annotate(since=_happened("return.received", "pk"))
    for request in _late(here.select_related("order", "quote"), AlertKind.OVERDUE, before):
        promised = request.quote.amount if request.quote else 0
        yield Waiting(AlertKind.OVERDUE, request.pk, request.since, request.order, request.state, promised)


def _goods(before: datetime) -> Iterator[Waiting]:
    """Replacements that are owed since before that moment.

    Of an exchange from the receipt of its goods, whether anybody has looked at them or not; of lost goods from when it
    was confirmed that they are sent again.
    """
    received = _happened("return.received", "return_request")
    owed = selectors.replacements_owed().annotate(since=Coalesce(received, "created_at"))
    for replacement in _late(owed, AlertKind.OWED_GOODS, before):
        yield Waiting(AlertKind.OWED_GOODS, replacement.pk, replacement.since, replacement.order, replacement.state)


def _late(rows: QuerySet[Any], kind: AlertKind, before: datetime) -> QuerySet[Any]:
    """Of rows that are annotated with `since`, the oldest that were not told for the last time."""
    return rows.filter(since__lte=before).exclude(_told_twice(kind)).order_by("since", "pk")[:BATCH]


def _happened(action: str, return_id: str) -> Subquery:
    """When this first happened to the return that the outer row names in `return_id`; null if it never has."""
    events = AuditEvent.objects.filter(action=action, subject_type="return", subject_id=OuterRef(return_id))
    return Subquery(events.order_by("at").values("at")[:1])


def _told_twice(kind: AlertKind) -> Exists:
    """Rows that have had their last alert: however many of them wait, they hide none that has not."""
    last = Concat(OuterRef("pk"), Value(f":{LEVELS[kind][-1][1]}"))
    return Exists(StaffAlert.objects.filter(kind=kind, subject=last))


# --- telling them -----------------------------------------------------------------------------------------------------
def mail(alert_id: int) -> None:
    """Send one alert to the staff's address, outside any transaction: a mail server is a stranger's.

    Whoever sends it claims it first, so that two workers at once send it once. A mail that fails gives the claim back
    and is sent later (`mail_waiting`); a worker that dies leaves a claim that is over after `MAIL_CLAIM`. If it died in
    the moment between sending and writing that down, the mail comes twice, which is better than never.
    """
    if connection.in_atomic_block:
        raise RuntimeError("Mail must not be sent inside a transaction.")
    now = timezone.now()
    if not settings.STAFF_ALERT_EMAIL or _to_mail(now).filter(pk=alert_id).update(mailing_since=now) != 1:
        return
    mine = StaffAlert.objects.filter(pk=alert_id, mailing_since=now)
    try:
        _send(StaffAlert.objects.select_related("order").get(pk=alert_id))
    except Exception:
        mine.update(mailing_since=None)
        raise
    mine.update(mailing_since=None, mailed_at=timezone.now())


def mail_waiting() -> None:
    """Send what a lost job or a mail server that failed has left. After a few failures the server has the next hour."""
    if not settings.STAFF_ALERT_EMAIL:
        return
    failed = 0
    waiting = _to_mail(timezone.now()).order_by("raised_at", "pk").values_list("pk", flat=True)
    for alert_id in list(waiting[:MAILS_AT_ONCE]):
        try:
            mail(alert_id)
        except Exception:
            log.exception("alert.not_mailed", alert_id=alert_id)
            failed += 1
            if failed == MAIL_FAILURES:
                return


def _to_mail(now: datetime) -> QuerySet[StaffAlert]:
    """Alerts that nobody has settled, has mailed, or is mailing."""
    free = Q(mailing_since=None) | Q(mailing_since__lte=now - MAIL_CLAIM)
    return StaffAlert.objects.filter(free, settled_at=None, mailed_at=None)


def _send(alert: StaffAlert) -> None:
    with translation.override(settings.LANGUAGE_CODE):
        subject, body = in_mail(alert)
    send_mail(subject, body, settings.DEFAULT_FROM_EMAIL, [settings.STAFF_ALERT_EMAIL])
