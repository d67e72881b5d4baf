"""When the money of a refund went back, which may be long before it was written down here."""

from datetime import datetime

from refunds.models import Refund
from refunds.states import RefundKind, RefundState


def paid_at(refund: Refund) -> datetime | None:
    """When it was paid; null while it is not. What was made elsewhere was paid when whoever booked it says so."""
    return refund.finished_at if refund.state == RefundState.SUCCEEDED else None


def made_at(refund: Refund) -> datetime:
    """The day that people are told of it: on which it was asked for, or paid if that was done elsewhere."""
    paid = paid_at(refund) if refund.kind == RefundKind.ELSEWHERE else None
    return paid or refund.created_at
