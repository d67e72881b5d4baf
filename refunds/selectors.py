"""Reads for pages, API and tools, each with a fixed number of queries however many rows it gives."""

from datetime import timedelta
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from orders.models import Order
from refunds.models import GatewayAttempt, Refund, RefundQuote, Return
from refunds.states import OPEN_RETURNS, AttemptOutcome, QuoteState, RefundState

# A gateway that has not made up its mind for so long is asked by a person.
DOUBT_TO_LOOK_AT: Final = timedelta(days=1)


def quotes() -> QuerySet[RefundQuote]:
    """Quotes with everything that `present.quote_as_dict` shows, newest first."""
    return (
        RefundQuote.objects.select_related("order", "policy", "refund__order", "return_request__order")
        .prefetch_related(
            "lines__line_item",
            "order__payments",
            "order__returns__quote",
            "refund__allocations__payment",
            "return_request__lines__line_item",
            "return_request__quote",
        )
        .order_by("-created_at", "-pk")
    )


def in_shown_state(rows: QuerySet[RefundQuote], state: str) -> QuerySet[RefundQuote]:
    """Quotes that `present.quote_state` shows in this state: one whose time is over is expired, marked so or not."""
    over = Q(state=QuoteState.OPEN, expires_at__lte=timezone.now())
    if state == QuoteState.EXPIRED:
        return rows.filter(Q(state=state) | over)
    return rows.filter(state=state).exclude(over)


def refunds() -> QuerySet[Refund]:
    """Refunds with everything that `present.refund_as_dict` shows, newest first."""
    return (
        Refund.objects.select_related("order", "quote")
        .prefetch_related("allocations__payment")
        .order_by("-created_at", "-pk")
    )


def returns() -> QuerySet[Return]:
    """Returns with everything that `present.return_as_dict` shows, newest first."""
    return (
        Return.objects.select_related("order", "quote")
        .prefetch_related("lines__line_item")
        .order_by("-created_at", "-pk")
    )


def refunds_of(order: Order) -> QuerySet[Refund]:
    return refunds().filter(order=order)


def returns_of(order: Order) -> QuerySet[Return]:
    return returns().filter(order=order)


def open_returns() -> QuerySet[Return]:
    """Returns that somebody has to do something about, the oldest first."""
    return returns().filter(state__in=OPEN_RETURNS).order_by("created_at", "pk")


def waiting_for_approval() -> QuerySet[Refund]:
    """Refunds that a second person has to decide about, the oldest first."""
    return refunds().filter(state=RefundState.PENDING_APPROVAL).order_by("created_at", "pk")


def needs_a_look() -> QuerySet[Refund]:
    """Refunds that a person has to see to, the oldest first.

    Refused by a gateway: goods are gone, money is not sent. Paid after a refusal, or something else than was asked, and
    nobody has settled it yet. In doubt for longer than a day.
    """
    in_doubt = Q(outcome=AttemptOutcome.UNKNOWN, started_at__lte=timezone.now() - DOUBT_TO_LOOK_AT)
    of_refund = GatewayAttempt.objects.filter(allocation__refund=OuterRef("pk"))
    attempts = of_refund.filter(in_doubt | (~Q(trouble="") & Q(settled_at=None)))
    rows = refunds().filter(Q(state=RefundState.FAILED) | Exists(attempts))
    return rows.order_by("created_at", "pk")
