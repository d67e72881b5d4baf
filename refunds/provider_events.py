"""Messages of a payment provider: kept once by the provider's number, applied afterwards, as often as it takes.

Applying is done by a job and by the sweeper. It changes nothing that the same message, an older or a newer one has
brought already: a refund of ours is moved by its own state, and a charge's cumulative amount counts as a difference.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

import structlog
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, Value
from django.db.models.functions import Coalesce, Greatest, Least, Power
from django.utils import timezone

from orders.models import Payment
from refunds import alerts, books, given_back, reported, silence, stripe_facts
from refunds.gateways.base import CONNECTED, GatewayTimeout, ProviderRefund
from refunds.models import ProviderEvent
from refunds.states import UNDECIDED, AlertKind

log = structlog.get_logger(__name__)
ABOUT_A_REFUND: Final = frozenset({"refund.created", "refund.updated", "refund.failed", "charge.refund.updated"})
ABOUT_A_CHARGE: Final = frozenset({"charge.refunded"})
# A message that cannot be applied yet is tried again after 8 seconds, doubled up to about an hour, and never dropped.
FIRST_PAUSE: Final = timedelta(seconds=8)
DOUBLINGS: Final = 9
ALERT_AFTER: Final = 5
# Of each provider, in one round.
BATCH: Final = 100


class NotYet(Exception):
    """The message cannot be applied now; it is tried again later."""


class Impossible(Exception):
    """What the message says cannot be, however often it is tried; people are told of it."""


def receive(*, provider: str, event_id: str, kind: str, payload: Mapping[str, Any]) -> ProviderEvent | None:
    """Keep a message whose signature was checked; None if it was kept before. A job is to apply it."""
    rest = {"kind": kind, "payload": dict(payload)}
    event, is_new = ProviderEvent.objects.get_or_create(provider=provider, event_id=event_id, defaults=rest)
    return event if is_new else None


def apply_waiting() -> None:
    """Apply what is due: a job was lost, or the message came too early. One that fails keeps no other waiting.

    Those first that have been due for longest. Trying puts a message behind all that are due by then. A provider that
    does not answer what its own messages make us ask keeps other providers' no longer than `silence.in_turn` says.
    """
    doublings = Least(Greatest(F("attempts") - 1, 0), DOUBLINGS)
    pause = ExpressionWrapper(Value(FIRST_PAUSE) * Power(2.0, doublings), output_field=DurationField())
    again_at = ExpressionWrapper(F("tried_at") + F("pause"), output_field=DateTimeField())
    waiting = ProviderEvent.objects.filter(applied_at=None).annotate(pause=pause)
    waiting = waiting.annotate(due_at=Coalesce(again_at, F("received_at")))
    due = waiting.filter(due_at__lte=timezone.now())
    providers = list(due.order_by("provider").values_list("provider", flat=True).distinct())
    in_order = due.order_by("due_at", "pk")
    events = {name: list(in_order.filter(provider=name).values_list("pk", flat=True)[:BATCH]) for name in providers}
    silence.in_turn({name: [partial(apply, event_pk=pk) for pk in events[name]] for name in providers})


def apply(*, event_pk: int) -> bool:
    """Apply one message. Safe to run twice, and by two workers at once: each step is a fact that is taken once.

    Whether the provider, if it was asked, answered in time.
    """
    event = ProviderEvent.objects.filter(pk=event_pk, applied_at=None).first()
    if event is None:
        return True
    ProviderEvent.objects.filter(pk=event.pk).update(attempts=F("attempts") + 1, tried_at=timezone.now())
    try:
        said = _apply(event)
    except Impossible as impossible:
        said = f"refused: {impossible}"
        _tell_of_message(event)
    except Exception as error:
        _put_off(event, error)
        return not isinstance(error, GatewayTimeout)
    ProviderEvent.objects.filter(pk=event.pk, applied_at=None).update(applied_at=timezone.now(), outcome=said[:240])
    return True


def _put_off(event: ProviderEvent, error: Exception) -> None:
    expected = isinstance(error, NotYet | GatewayTimeout)
    (log.warning if expected else log.exception)("provider_event.not_applied", event_id=event.event_id)
    reason = f"{type(error).__name__}: {error}"
    ProviderEvent.objects.filter(pk=event.pk, applied_at=None).update(outcome=reason[:240])
    if event.attempts + 1 >= ALERT_AFTER:
        _tell_of_message(event)


def _tell_of_message(event: ProviderEvent) -> None:
    alerts.raise_alert(
        kind=AlertKind.DIFFERENCE,
        subject=f"{event.provider}:event:{event.event_id}"[:160],
        provider=event.provider,
        facts={"difference": "event_not_applied", "event_id": event.event_id, "kind": event.kind},
    )


def _apply(event: ProviderEvent) -> str:
    """What became of it, in a few words for the record."""
    told = event.payload["data"]["object"]
    if event.kind in ABOUT_A_REFUND:
        _require_amount(told, "amount")
        return _refund(event.provider, stripe_facts.refund_line(told))
    if event.kind in ABOUT_A_CHARGE:
        _require_amount(told, "amount_refunded")
        return _charge(event.provider, told)
    return "not about a refund"


def _require_amount(told: Mapping[str, Any], name: str) -> None:
    """Raises Impossible for what is no whole number from 0: no book of ours is to hear of it."""
    amount = told[name]
    if type(amount) is not int or amount < 0:
        raise Impossible(f"{name} is {str(amount)[:40]}, and no amount")


def _refund(provider: str, line: ProviderRefund) -> str:
    attempt = reported.attempt_of(provider, line)
    if attempt is not None:
        return f"told {attempt.idempotency_key}: {reported.tell(attempt, line)}"
    payment = reported.payment_of(provider, line.charge_refs)
    if payment is None:
        return "no payment of ours"
    if line.state == "failed":
        return reported.tell_failed_elsewhere(payment, line)
    if provider in CONNECTED:
        _require_all(line.provider_refund_id in {each.provider_refund_id for each in books.look_at(payment)})
    else:
        reported.take_over(payment, [line])
    return f"looked at {payment.pk}"


def _charge(provider: str, charge: Mapping[str, Any]) -> str:
    """`amount_refunded` is all that was ever given back of the charge: what our books do not hold of it is the news.

    The provider is asked what it is made of. Where it cannot be asked the difference itself is booked.
    """
    payment = reported.payment_of(provider, stripe_facts.charge_refs(charge["id"], charge.get("payment_intent")))
    if payment is None:
        return "no payment of ours"
    total, currency = charge["amount_refunded"], charge["currency"]
    if total <= _in_parts(payment, given_back.reported(payment), currency):
        return "nothing new"
    if provider in CONNECTED:
        there = [line for line in books.look_at(payment) if line.state != "failed"]
        _require_all(_sum_in_parts(there) >= total)
        _tell_of_rest(payment, total, currency, there)
        return f"looked at {payment.pk}"
    lacking = total - _in_parts(payment, given_back.known(payment), currency)
    if lacking <= 0:
        return "nothing new"
    if payment.attempts.filter(outcome__in=UNDECIDED).exists():
        raise NotYet("an attempt of ours is not decided yet")
    not_booked = reported.book_unnamed(payment, _unnamed(charge, *stripe_facts.from_stripe(lacking, currency)))
    return f"told of what {payment.pk} lacks ({not_booked})" if not_booked else f"booked what {payment.pk} lacked"


def _require_all(is_there: bool) -> None:
    """Raises NotYet while the provider's own list lags behind its message."""
    if not is_there:
        raise NotYet("the provider's list does not show it yet")


def _tell_of_rest(payment: Payment, total: int, currency: str, there: Iterable[ProviderRefund]) -> None:
    """Every refund of the charge was taken over. What our books still lack, and nobody was told of, is told."""
    known = given_back.known(payment)
    if total - _in_parts(payment, known, currency) <= _sum_in_parts(reported.told_of(payment, there)):
        return
    theirs, shown_in = stripe_facts.from_stripe(total, currency)
    alerts.raise_alert(
        kind=AlertKind.DIFFERENCE,
        subject=f"{payment.provider}:given_back:{payment.pk}:{theirs}",
        provider=payment.provider,
        order=payment.order,
        facts={
            "difference": "given_back",
            "ours": {"amount": known, "currency": payment.order.currency},
            "theirs": {"amount": theirs, "currency": shown_in},
            "payment_id": payment.pk,
        },
    )


def _in_parts(payment: Payment, amount: int, currency: str) -> int:
    """An amount of our books in the provider's unit; none where the provider counts in another currency."""
    parts, code = stripe_facts.in_parts(amount, payment.order.currency)
    return parts if code == currency.upper() else 0


def _sum_in_parts(lines: Iterable[ProviderRefund]) -> int:
    return sum(stripe_facts.in_parts(line.amount, line.currency)[0] for line in lines)


def _unnamed(charge: Mapping[str, Any], amount: int, currency: str) -> ProviderRefund:
    """A refund of which only the sum is known, because the provider cannot be asked."""
    return ProviderRefund(
        provider_refund_id=f"{charge['id']}{given_back.SUM}{charge['amount_refunded']}",
        idempotency_key="",
        charge_refs=(charge["id"],),
        amount=amount,
        currency=currency,
        state="succeeded",
        created_at=timezone.now(),
    )
