"""What Stripe reports by webhook, signed and applied, and what our books make of it."""

import json
from datetime import timedelta
from itertools import count
from typing import Any, Final

from django.db.models import F
from django.test import Client

from orders.models import Order
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import tasks
from refunds.models import ProviderEvent, Refund, StaffAlert
from refunds.states import AlertKind, RefundKind
from refunds.tests.stripe_stand_in import Stripe, event, signed

ADDRESS: Final = "/webhooks/stripe/"
numbers = count(1)


def paid_by_stripe(stripe: Stripe) -> Order:
    """1,200 and the case, 380; the charge is ch_1."""
    stripe.charge("ch_1", 158_000, payment_intent="pi_1")
    payment = {**payment_body(1580), "provider": "stripe", "provider_ref": "ch_1"}
    return cast.place("6601", payments=[payment])


def post(body: str, header: str | None = None) -> int:
    headers = {"Stripe-Signature": signed(body) if header is None else header}
    answer = Client(enforce_csrf_checks=True).post(ADDRESS, body, content_type="application/json", headers=headers)
    return answer.status_code


def reports(kind: str, told: dict[str, Any]) -> ProviderEvent:
    """Stripe calls, and the job runs."""
    event_id = f"evt_{next(numbers)}"
    assert post(json.dumps(event(kind, told, event_id))) == 200
    kept = ProviderEvent.objects.get(event_id=event_id)
    tasks.apply_event(kept.pk)
    kept.refresh_from_db()
    return kept


def charge_told(stripe: Stripe, **changes: Any) -> dict[str, Any]:
    told = {"id": "ch_1", "object": "charge", "payment_intent": "pi_1", "currency": "twd"}
    return {**told, "amount_refunded": stripe.given_back("ch_1"), **changes}


def refund_told(stripe: Stripe, **changes: Any) -> dict[str, Any]:
    return {**stripe.refunds[0], **changes}


def alerts_of(kind: AlertKind) -> list[str]:
    return list(StaffAlert.objects.filter(kind=kind).order_by("pk").values_list("subject", flat=True))


def booked() -> list[tuple[str | None, int]]:
    elsewhere_ones = Refund.objects.filter(kind=RefundKind.ELSEWHERE).order_by("created_at")
    return list(elsewhere_ones.values_list("external_ref", "amount"))


def later() -> None:
    """As if the events had come and been tried two hours earlier, so that what was put off is due."""
    two_hours = timedelta(hours=2)
    ProviderEvent.objects.update(received_at=F("received_at") - two_hours, tried_at=F("tried_at") - two_hours)
