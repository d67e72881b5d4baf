"""Parcels of which staff must hear: lost ones that have arrived after all, and returns that nobody sends back.

Nothing is decided here, least of all about money (docs/money.md, States). A sweep finds both, so no notice can be lost.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from orders.models import Shipment
from refunds import alerts
from refunds.models import QuoteLine, ReplacementLine, Return, StaffAlert
from refunds.present import moment
from refunds.states import (
    RELEASED,
    AlertKind,
    QuoteAction,
    ReplacementKind,
    ReplacementState,
    ReturnState,
)

BATCH: Final = 500


def raise_astray(now: datetime | None = None) -> int:
    """Raise an alert for each such parcel and return, once; how many are new."""
    now = now or timezone.now()
    return sum(map(_arrived, _arrived_after_all())) + sum(_not_sent(request, now) for request in _not_sent_back(now))


def _arrived_after_all() -> QuerySet[Shipment]:
    """Delivered parcels of which units were refunded as lost, or have a replacement that has left."""
    here: dict[str, Any] = {"shipment_line__shipment": OuterRef("pk")}
    settled = Exists(_sent_again().filter(**here)) | Exists(_refunded().filter(**here))
    arrived = Shipment.objects.exclude(delivered_at=None).filter(settled).exclude(_told(AlertKind.ARRIVED_AFTER_ALL))
    return arrived.select_related("order").order_by("delivered_at", "pk")[:BATCH]


def _sent_again() -> QuerySet[ReplacementLine]:
    kind, state = ReplacementKind.LOST, ReplacementState.SENT
    return ReplacementLine.objects.filter(replacement__kind=kind, replacement__state=state)


def _refunded() -> QuerySet[QuoteLine]:
    lost = QuoteLine.objects.filter(quote__action=QuoteAction.LOST, quote__refund__isnull=False)
    return lost.exclude(quote__refund__state__in=RELEASED).select_related("quote__refund")


def _told(kind: AlertKind) -> Exists:
    return Exists(StaffAlert.objects.filter(kind=kind, subject=OuterRef("pk")))


def _arrived(parcel: Shipment) -> bool:
    of_parcel = {"shipment_line__shipment": parcel}
    again = _sent_again().filter(**of_parcel).order_by("pk").first()
    refunded = _refunded().filter(**of_parcel).order_by("pk").first()
    refund = refunded.quote.refund if refunded else None
    facts: dict[str, Any] = {
        "parcel": parcel.tracking_number or parcel.external_id,
        "at": moment(parcel.delivered_at),
    }
    if again is not None:
        facts["sent_again"] = again.replacement_id
    if refund is not None:
        facts |= {"refunded": refund.pk, "amount": refund.amount, "currency": refund.currency}
    alert = alerts.raise_alert(
        kind=AlertKind.ARRIVED_AFTER_ALL, subject=parcel.pk, order=parcel.order, refund=refund, facts=facts
    )
    return alert is not None


def _not_sent_back(now: datetime) -> QuerySet[Return]:
    before = now - timedelta(days=settings.RETURN_SEND_BY_DAYS)
    asked = Return.objects.filter(state=ReturnState.REQUESTED, created_at__lte=before)
    asked = asked.exclude(_told(AlertKind.NOT_SENT_BACK)).select_related("order", "quote")
    return asked.order_by("created_at", "pk")[:BATCH]


def _not_sent(request: Return, now: datetime) -> bool:
    facts: dict[str, Any] = {
        "number": request.pk,
        "since": moment(request.created_at),
        "days": (now - request.created_at).days,
    }
    if request.quote is not None:
        facts |= {"amount": request.quote.amount, "currency": request.quote.currency}
    alert = alerts.raise_alert(kind=AlertKind.NOT_SENT_BACK, subject=request.pk, order=request.order, facts=facts)
    return alert is not None
