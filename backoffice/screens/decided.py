"""What a dialog says where nothing is left to decide: what has happened to its row meanwhile, by whom and when."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Q, QuerySet

from backoffice.screens.audit_facts import reason_of, sentence_of
from orders.models import AuditEvent
from orders.states import ActorKinds
from refunds.models import Refund

# What a colleague may have said of a refund. What moved by itself is told where there is none.
_OF_A_REFUND: Final = (
    "attempt.settled",
    "attempt.refused",
    "allocation.retried",
    "allocation.paid_by_hand",
    "refund.undone",
)


@dataclass(frozen=True, slots=True)
class Decided:
    """`words`: the note or the reason that was left with it."""

    sentence: str
    at: datetime
    words: str


def of_row(subject_type: str, subject_id: object) -> Decided | None:
    """The last that happened to it."""
    return _told(AuditEvent.objects.filter(subject_type=subject_type, subject_id=str(subject_id)))


def of_refund(refund: Refund) -> Decided | None:
    own = Q(subject_type="refund", subject_id=refund.pk)
    events = AuditEvent.objects.filter(own | Q(correlation__refund_id=refund.pk), order=refund.order_id)
    by_people = events.filter(action__in=_OF_A_REFUND, actor_kind=ActorKinds.STAFF)
    return _told(by_people) or _told(events.filter(own))


def _told(events: QuerySet[AuditEvent]) -> Decided | None:
    event = events.select_related("order").order_by("-pk").first()
    return Decided(sentence_of(event), event.at, reason_of(event)) if event else None


def shown(*, is_open: bool, decided: Callable[[], Decided | None]) -> dict[str, Any]:
    """For `staff/decision.html`. `decided` is asked only where it is shown."""
    return {"is_open": is_open, "decided": None if is_open else decided()}
