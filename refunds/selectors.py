"""Reads for pages, API and tools, each with a fixed number of queries however many rows it gives."""

from datetime import timedelta
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Reverse
from django.utils import timezone

from orders.models import Order
from refunds.models import Approval, GatewayAttempt, Refund, RefundAllocation, RefundQuote, Replacement, Return
from refunds.states import (
    OPEN_RETURNS,
    RELEASED,
    AllocationState,
    AttemptOutcome,
    QuoteState,
    RefundKind,
    RefundState,
    ReplacementKind,
    ReplacementState,
    ReturnState,
)

# What `present` shows of goods: names of what is really there, findings, and what is sent instead.
_LINES: Final = ("lines__line_item", "lines__shipment_line__product")
_OF_REPLACEMENT: Final = (*_LINES, "lines__product")
_OF_RETURN: Final = (
    *_LINES,
    "lines__findings",
    "refund__allocations",
    *(f"replacement__{name}" for name in _OF_REPLACEMENT),
)
_WITH_RETURN: Final = ("order", "quote", "refund", "replacement__order", "replacement__shipment")
# A gateway that has not made up its mind for so long is asked by a person.
DOUBT_TO_LOOK_AT: Final = timedelta(days=1)
# What was booked as made elsewhere and taken back is a mistake of the shop's: nothing that a customer was promised.
FOR_CUSTOMERS: Final = ~Q(kind=RefundKind.ELSEWHERE, state=RefundState.REJECTED)


def quotes() -> QuerySet[RefundQuote]:
    """Quotes with everything that `present.quote_as_dict` shows, newest first."""
    return (
        RefundQuote.objects.select_related(
            "order", "policy", "refund__order", *(f"return_request__{name}" for name in _WITH_RETURN)
        )
        .prefetch_related(
            *_LINES,
            "order__payments",
            "order__returns__quote",
            "refund__allocations__payment",
            *(f"return_request__{name}" for name in _OF_RETURN),
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
    return Return.objects.select_related(*_WITH_RETURN).prefetch_related(*_OF_RETURN).order_by("-created_at", "-pk")


def replacements() -> QuerySet[Replacement]:
    """Replacements with everything that `present.replacement_as_dict` shows, newest first."""
    return (
        Replacement.objects.select_related("order", "shipment")
        .prefetch_related(*_OF_REPLACEMENT)
        .order_by("-created_at", "-pk")
    )


def refunds_of(order: Order) -> QuerySet[Refund]:
    return refunds().filter(order=order)


def refunds_shown_to_customer(order: Order) -> QuerySet[Refund]:
    return refunds_of(order).filter(FOR_CUSTOMERS)


def returns_of(order: Order) -> QuerySet[Return]:
    return returns().filter(order=order)


def replacements_of(order: Order) -> QuerySet[Replacement]:
    return replacements().filter(order=order)


def replacements_to_send() -> QuerySet[Replacement]:
    """Replacements that can leave now, the oldest first: lost goods, and exchanges whose goods were accepted."""
    accepted = Q(kind=ReplacementKind.LOST) | Q(return_request__state=ReturnState.ACCEPTED)
    return replacements().filter(accepted, state=ReplacementState.RESERVED).order_by("created_at", "pk")


def replacements_owed() -> QuerySet[Replacement]:
    """Replacements of goods that are gone: lost, or back here, accepted or not yet."""
    gone = Q(kind=ReplacementKind.LOST) | Q(return_request__state__in=[ReturnState.RECEIVED, ReturnState.ACCEPTED])
    return replacements().filter(gone, state=ReplacementState.RESERVED)


def open_returns() -> QuerySet[Return]:
    """Returns that somebody has to do something about, the oldest first."""
    return returns().filter(state__in=OPEN_RETURNS).order_by("created_at", "pk")


def ending_with(ending: str) -> QuerySet[Return]:
    """Returns whose number ends so: what people read out or type of it. Found by an index of the numbers backwards."""
    return Return.objects.alias(backwards=Reverse("pk")).filter(backwards__startswith=ending.lower()[::-1])


def approvals() -> QuerySet[Approval]:
    """Questions to a second person with everything that `present.approval_as_dict` shows, newest first."""
    return Approval.objects.select_related("order", "asked_by", "decided_by").order_by("-created_at", "-pk")


def paid_under(order: Order, external_ref: str) -> QuerySet[Refund]:
    """Refunds of the order that people have paid, wholly or in part, under this number."""
    part = RefundAllocation.objects.filter(refund=OuterRef("pk"), external_ref=external_ref)
    return Refund.objects.filter(Q(external_ref=external_ref) | Exists(part), order=order)


def needs_a_look() -> QuerySet[Refund]:
    """Refunds that a person has to see to, the oldest first.

    With a part that a gateway has refused, whatever the others do: goods are gone, money is not sent; not where all of
    it was let go of. Paid after a refusal, or something else than was asked, and nobody has settled it yet. In doubt
    for longer than a day. Made elsewhere, and nobody has said for which goods: no quote can be made until then.
    """
    attempts = GatewayAttempt.objects.order_by().values("allocation__refund")
    long_ago = timezone.now() - DOUBT_TO_LOOK_AT
    refused = RefundAllocation.objects.filter(state=AllocationState.FAILED).exclude(refund__state__in=RELEASED)
    # Each is few among many and has an index for just that; asked together they would read all refunds.
    keys = (
        refused.order_by()
        .values("refund")
        .union(
            attempts.filter(outcome=AttemptOutcome.UNKNOWN, started_at__lte=long_ago),
            attempts.filter(~Q(trouble=""), settled_at=None),
            Refund.objects.filter(needs_assignment=True).order_by().values("pk"),
            all=True,
        )
    )
    rows = refunds().filter(pk__in=keys)
    return rows.order_by("created_at", "pk")
