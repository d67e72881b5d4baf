"""Our books against the provider's own list of refunds: once a day, and for one charge when a report does not add up.

It only asks. What it finds is handed on as the fact it is (`reported.py`); what differs then is written down, and staff
are told once of each difference. The provider is asked outside any transaction.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.db import transaction
from django.utils import timezone

from orders.models import Order, Payment
from refunds import alerts, charges, gateways, given_back, reported, send
from refunds.gateways.base import CONNECTED, ProviderRefund
from refunds.models import BooksCompared, GatewayAttempt
from refunds.states import AlertKind, AttemptOutcome, Trouble

log = structlog.get_logger(__name__)
# Every comparison looks back so far: a bank can send money back weeks after the provider had called it paid.
LOOK_BACK: Final = timedelta(days=30)
# So long a payment may stand in the list that a person has said is taken back.
TAKEN_BACK_WITHIN: Final = timedelta(days=3)
# The provider's clock and ours, and a call just before midnight: its line may stand on the other side of the edge.
MARGIN: Final = timedelta(days=1)
_SAME_STATE: Final = {"succeeded": AttemptOutcome.SUCCEEDED, "pending": AttemptOutcome.UNKNOWN, "failed": "refused"}


@dataclass(frozen=True, slots=True)
class Difference:
    """`what`: missing_here, missing_there, amount, state, still_paid. `number`: the provider's number, or our key."""

    what: str
    number: str
    facts: dict[str, Any]
    order: Order | None = None
    attempt: GatewayAttempt | None = None
    told: bool = False

    def as_json(self) -> dict[str, Any]:
        order_number = self.order.number if self.order else None
        return {"difference": self.what, "number": self.number, "order_number": order_number, **self.facts}


def compare_all(now: datetime | None = None) -> None:
    """Up to the last midnight of the shop, every connected provider; one that does not answer keeps no other back."""
    until = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    for provider in list(CONNECTED):
        try:
            compare(provider=provider, since=until - LOOK_BACK, until=until)
        except Exception as error:
            log.exception("books.not_compared", provider=provider)
            alerts.raise_alert(
                kind=AlertKind.DIFFERENCE,
                subject=f"{provider}:not_compared:{until.date()}",
                provider=provider,
                facts={"difference": "not_compared", "why": type(error).__name__},
            )


def compare(*, provider: str, since: datetime, until: datetime) -> BooksCompared:
    """What was given back from `since` until before `until`, here and there. Made once per provider and `until`.

    Raises GatewayTimeout where the provider does not give its list.
    """
    done = BooksCompared.objects.filter(provider=provider, until=until).first()
    if done is not None:
        return done
    send.require_no_transaction()
    asked_at = {"since": since - MARGIN, "until": until + MARGIN}
    lines = list(gateways.get(provider).list_refunds(**asked_at))
    here = [line for line in lines if since <= line.created_at < until]
    differences = [found for line in here for found in _of_line(provider, line, lines)]
    differences += _missing_there(provider, since, until, lines)
    return _write(provider, since, until, len(here), differences)


@transaction.atomic
def _write(
    provider: str, since: datetime, until: datetime, checked: int, differences: list[Difference]
) -> BooksCompared:
    written, is_new = BooksCompared.objects.get_or_create(
        provider=provider,
        until=until,
        defaults={
            "since": since,
            "checked": checked,
            "differences": [difference.as_json() for difference in differences],
        },
    )
    for difference in differences if is_new else ():
        if not difference.told:
            _raise(provider, difference)
    return written


def _raise(provider: str, difference: Difference) -> None:
    alerts.raise_alert(
        kind=AlertKind.DIFFERENCE,
        subject=f"{provider}:{difference.what}:{difference.number}"[:160],
        provider=provider,
        order=difference.order,
        refund=difference.attempt.allocation.refund if difference.attempt else None,
        attempt=difference.attempt,
        facts=difference.as_json(),
    )


def _of_line(provider: str, line: ProviderRefund, lines: Iterable[ProviderRefund]) -> list[Difference]:
    attempt = reported.attempt_of(provider, line)
    if attempt is None:
        return _without_attempt(provider, line, lines)
    reported.tell(attempt, line)
    attempt.refresh_from_db()
    return _still_paid(attempt, line) if attempt.settled_at else _between(attempt, line)


def _still_paid(attempt: GatewayAttempt, line: ProviderRefund) -> list[Difference]:
    """Something else has paid the part, a person has said that the provider takes its own back, and it has not."""
    taken_back = (attempt.outcome, attempt.trouble) == (AttemptOutcome.REFUSED, Trouble.PAID_AFTER_REFUSAL)
    soon = attempt.settled_at is not None and attempt.settled_at > timezone.now() - TAKEN_BACK_WITHIN
    if not taken_back or soon or line.state != "succeeded":
        return []
    facts = {"amount": line.amount, "currency": line.currency}
    return [Difference("still_paid", line.provider_refund_id, facts, attempt.allocation.refund.order, attempt)]


def _between(attempt: GatewayAttempt, line: ProviderRefund) -> list[Difference]:
    """What still differs once the report was handed on. Settled by a person: nothing differs any more."""
    refund = attempt.allocation.refund
    ours = {"amount": attempt.allocation.amount, "currency": refund.currency}
    theirs = {"amount": line.amount, "currency": line.currency}
    found = []
    if ours != theirs:
        found.append(Difference("amount", line.provider_refund_id, _both(ours, theirs), refund.order, attempt))
    elif attempt.outcome != _SAME_STATE[line.state] and attempt.outcome != AttemptOutcome.SENDING:
        facts = {**_both(attempt.outcome, line.state), **theirs}
        found.append(Difference("state", line.provider_refund_id, facts, refund.order, attempt))
    return found


def _both(ours: Any, theirs: Any) -> dict[str, Any]:
    return {"ours": ours, "theirs": theirs}


def _without_attempt(provider: str, line: ProviderRefund, lines: Iterable[ProviderRefund]) -> list[Difference]:
    """A refund that we never asked for: booked as made elsewhere if it is of a charge of ours."""
    facts = {"amount": line.amount, "currency": line.currency, "charge": ", ".join(line.charge_refs)}
    payment = reported.payment_of(provider, line.charge_refs)
    if line.state == "failed":
        booked = given_back.held_as(payment, line.provider_refund_id) if payment else None
        told = {**_both("succeeded", "failed"), **facts}
        return [Difference("state", line.provider_refund_id, told, booked.order)] if booked else []
    if payment is None:
        return [Difference("missing_here", line.provider_refund_id, facts)]
    of_charge = [each for each in lines if set(each.charge_refs) & set(line.charge_refs)]
    if not reported.take_over(payment, of_charge, only=line):
        return []
    return [Difference("missing_here", line.provider_refund_id, facts, payment.order, told=True)]


def _missing_there(
    provider: str, since: datetime, until: datetime, lines: Iterable[ProviderRefund]
) -> list[Difference]:
    """Paid by our books, and not in the provider's list."""
    there = {line.provider_refund_id for line in lines}
    paid = GatewayAttempt.objects.filter(
        provider=provider, outcome=AttemptOutcome.SUCCEEDED, settled_at=None, started_at__gte=since
    )
    paid = paid.filter(started_at__lt=until).select_related("allocation__refund__order")
    return [
        Difference(
            "missing_there",
            attempt.idempotency_key,
            {"amount": attempt.allocation.amount, "currency": attempt.allocation.refund.currency},
            attempt.allocation.refund.order,
            attempt,
        )
        for attempt in paid.order_by("pk")
        if attempt.provider_refund_id not in there
    ]


def look_at(payment: Payment) -> list[ProviderRefund]:
    """Ask the provider for every refund of one charge, and take over what it says; that list.

    Raises GatewayTimeout where the provider does not answer, GatewayRefused `no_gateway` where it is not connected.
    """
    send.require_no_transaction()
    lines = list(gateways.get(payment.provider).refunds_of(charge=charges.charge_of(payment)))
    for line in lines:
        attempt = reported.attempt_of(payment.provider, line)
        if attempt is not None:
            reported.tell(attempt, line)
    reported.take_over(payment, lines)
    return lines
