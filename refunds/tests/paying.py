"""Refunds on their way, for tests of what the gateway does to them. Real transactions: the gateway insists on it."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from orders.models import Order
from orders.tests import cast
from refunds.models import GatewayAttempt, Refund, SimulatedFault, SimulatedRefund
from refunds.redeem import redeem
from refunds.tests.ask import Asked, ask


def pending_refund(order: Order | None = None, *asked: Asked) -> Refund:
    """A redeemed refund that nobody has sent yet: by default the 230 of order 5531."""
    order = order or cast.order_5531()
    refund = redeem(quote_id=ask(order, *(asked or ((2, 1, "other"),))).pk, actor=cast.shopper()).refund
    assert refund is not None
    return refund


def attempted(refund: Refund, **fields: Any) -> GatewayAttempt:
    """The first call to a gateway for the refund's only part, as it is written down: no answer, unless in `fields`."""
    part = refund.allocations.get()
    usual = {"provider": "simulated", "idempotency_key": f"{part.pk}-1", "started_at": timezone.now()}
    return GatewayAttempt.objects.create(allocation=part, payment=part.payment, number=1, **usual | fields)


def switch_on(kind: str, *, times: int = 1) -> None:
    """The gateway's next calls go wrong, without making the test wait."""
    SimulatedFault.objects.create(kind=kind, remaining=times, seconds=0)


def state_of(refund: Refund) -> str:
    return Refund.objects.values_list("state", flat=True).get(pk=refund.pk)


def paid_out() -> list[int]:
    """What the gateway has really paid, by its own ledger."""
    return list(SimulatedRefund.objects.order_by("pk").values_list("amount", flat=True))


def outcomes() -> list[tuple[int, str]]:
    return list(GatewayAttempt.objects.order_by("allocation", "number").values_list("number", "outcome"))


def time_passes(seconds: float) -> None:
    """Everything that happened so far happened this much earlier."""
    earlier = timedelta(seconds=seconds)
    for refund in Refund.objects.all():
        Refund.objects.filter(pk=refund.pk).update(created_at=refund.created_at - earlier)
    for attempt in GatewayAttempt.objects.all():
        moments = {name: getattr(attempt, name) for name in ("started_at", "answered_at", "asked_at")}
        earlier_moments = {name: moment - earlier for name, moment in moments.items() if moment}
        GatewayAttempt.objects.filter(pk=attempt.pk).update(**earlier_moments)
