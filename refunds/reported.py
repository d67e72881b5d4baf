"""What a provider reports of refunds, whoever asked: the attempt hears of it, or it is a refund that we never made.

Reports come early, late, twice and in any order; the same facts again change nothing.
"""

from collections.abc import Iterable
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from orders import goods
from orders.actors import system_actor
from orders.errors import Refusal
from orders.models import Order, Payment
from refunds import alerts, elsewhere, given_back, locks, outcome, reported_before
from refunds.gateways.base import GatewayAnswer, ProviderRefund, StillPending
from refunds.models import GatewayAttempt, Refund, RefundAllocation
from refunds.present import moment
from refunds.states import UNDECIDED, AlertKind, AllocationState, AttemptOutcome, RefundKind, Trouble

log = structlog.get_logger(__name__)
WATCH: Final = system_actor("watch")


def payment_of(provider: str, charge_refs: Iterable[str]) -> Payment | None:
    """The payment that the provider knows by one of these numbers; None for a stranger's, or if it could be several."""
    refs = list(charge_refs)
    known_by = Q(pk__in=refs) | Q(provider_ref__in=refs) | Q(provider_ref="", external_id__in=refs)
    found = list(Payment.objects.filter(known_by, provider=provider).select_related("order")[:2])
    return found[0] if len(found) == 1 else None


def attempt_of(provider: str, line: ProviderRefund) -> GatewayAttempt | None:
    """The attempt whose refund it is: by the provider's number, else by our key.

    An attempt has one refund at the provider. A second one under its key (the provider had forgotten the key, and was
    asked again) is nobody's, as one that we never asked for; unless the first has failed, and this one stands for it.
    """
    attempts = GatewayAttempt.objects.filter(provider=provider).select_related("allocation__refund__order")
    by_number = attempts.filter(provider_refund_id=line.provider_refund_id).first()
    if by_number is not None or not line.idempotency_key:
        return by_number
    by_key = attempts.filter(idempotency_key=line.idempotency_key).first()
    return by_key if by_key is not None and _may_be_its(by_key, line) else None


def _may_be_its(attempt: GatewayAttempt, line: ProviderRefund) -> bool:
    if not attempt.provider_refund_id:
        return True
    if attempt.outcome != AttemptOutcome.REFUSED or attempt.trouble or line.state == "failed":
        return False
    part = attempt.allocation
    booking = reported_before.booking_of(part.refund.order, line.provider_refund_id)
    if booking is None:
        return True
    # Booked as a stranger's while the first one counted. Whatever a person has said of it since, it stays that.
    unpaid = (part.state, part.attempt) == (AllocationState.FAILED, attempt.number)
    return booking.needs_assignment and unpaid and booking.amount == part.amount


def tell(attempt: GatewayAttempt, line: ProviderRefund) -> str:
    """Hand a report on to the attempt that it is about; says in one word what it was."""
    if line.state == "succeeded":
        _tell_success(attempt, line)
    elif line.state == "pending":
        outcome.note_pending(attempt, StillPending(line.provider_refund_id))
    else:
        _tell_failure(attempt, line)
    return line.state


def _tell_success(attempt: GatewayAttempt, line: ProviderRefund) -> None:
    """What was booked as made elsewhere under its number is the same money: it counts once, or a person is told."""
    answer = GatewayAnswer(line.provider_refund_id, line.amount, line.currency)
    refund = attempt.allocation.refund
    if reported_before.booking_of(refund.order, line.provider_refund_id) is None:
        outcome.record_success(attempt, answer)
        return
    with transaction.atomic():
        order = goods.lock_order(refund.order_id)
        outcome.record_success(attempt, answer)
        _count_once(order, attempt, line)


def _count_once(order: Order, attempt: GatewayAttempt, line: ProviderRefund) -> None:
    booking = reported_before.booking_of(order, line.provider_refund_id)
    if booking is None:
        return
    attempt.refresh_from_db(fields=["outcome"])
    if booking.needs_assignment and booking.amount == line.amount and attempt.outcome == AttemptOutcome.SUCCEEDED:
        locked = locks.refund_of_locked_order(booking.pk)
        refund = attempt.allocation.refund
        reported_before.take_back(locked, order=order, actor=WATCH, reason=refund.pk, same_as=refund)
    else:
        _tell_of_two(attempt, line, booking)


def _tell_of_two(attempt: GatewayAttempt, line: ProviderRefund, booking: Refund) -> None:
    """A person has booked what was sent from here as made elsewhere, and has said what for: a person has to mend it."""
    alerts.raise_alert(
        kind=AlertKind.DIFFERENCE,
        subject=f"{attempt.provider}:booked_twice:{line.provider_refund_id}",
        provider=attempt.provider,
        order=booking.order,
        refund=booking,
        attempt=attempt,
        facts={"difference": "booked_twice", **_facts(line), "number": attempt.allocation.refund_id},
    )


def _tell_failure(attempt: GatewayAttempt, line: ProviderRefund) -> None:
    """In this order: what counts as paid by the second step was not undecided in the first, and nothing goes back."""
    code = line.reason or "failed"
    message = f"The payment provider says that the refund has failed: {code}."
    number = line.provider_refund_id
    outcome.record_refusal(attempt, started_at=None, code=code, message=message, provider_refund_id=number)
    GatewayAttempt.objects.filter(pk=attempt.pk, outcome=AttemptOutcome.REFUSED, provider_refund_id=None).update(
        provider_refund_id=number
    )
    with transaction.atomic():
        if outcome.record_failed_after_payment(attempt, code=code, message=message):
            refund = attempt.allocation.refund
            alerts.raise_alert(
                kind=AlertKind.DIFFERENCE,
                subject=f"{attempt.provider}:state:{number}",
                provider=attempt.provider,
                order=refund.order,
                refund=refund,
                attempt=attempt,
                facts={"difference": "state", "ours": "succeeded", "theirs": "failed", **_facts(line), "reason": code},
            )
        else:  # a person may have told of it as paid by hand
            tell_failed_elsewhere(attempt.payment, line)


def tell_failed_elsewhere(payment: Payment, line: ProviderRefund) -> str:
    """A refund that nobody asked for here has failed. If it was booked, a person has to mend our books."""
    booked = given_back.held_as(payment, line.provider_refund_id)
    if booked is None:
        return "failed, and never booked"
    alerts.raise_alert(
        kind=AlertKind.DIFFERENCE,
        subject=f"{payment.provider}:state:{line.provider_refund_id}",
        provider=payment.provider,
        order=payment.order,
        refund=booked,
        facts={"difference": "state", "ours": "succeeded", "theirs": "failed", **_facts(line)},
    )
    return f"failed, and booked as {booked.pk}"


def told_of(payment: Payment, lines: Iterable[ProviderRefund]) -> list[ProviderRefund]:
    """Which of these refunds our books do not count as given back, and people hear of or wait for all the same.

    That is under way, is a trouble, or was told as one that we never asked for and could not book.
    """
    there = [line for line in lines if line.state != "failed"]
    return [*_sorted(payment, there).strangers, *(line for line in there if _is_waited_for(payment, line))]


def _is_waited_for(payment: Payment, line: ProviderRefund) -> bool:
    attempt = attempt_of(payment.provider, line)
    if attempt is None or attempt.outcome == AttemptOutcome.SUCCEEDED:
        return False
    return attempt.outcome in UNDECIDED or attempt.trouble not in {"", Trouble.PAID_AFTER_REFUSAL}


@transaction.atomic
def take_over(payment: Payment, lines: Iterable[ProviderRefund], *, only: ProviderRefund | None = None) -> bool:
    """Of the provider's refunds of this charge, book those that our books do not hold, and ask about guesses.

    `only`: this one, and the others are known for comparison. Whether anything was booked, or told that could not be.
    """
    goods.lock_order(payment.order_id)  # what is free to be guessed is guessed once
    found = _sorted(payment, lines)
    strangers = [line for line in found.strangers if only in (None, line)]
    for line in strangers:
        _book_stranger(payment, line)
    for line, part in found.guesses:
        if only in (None, line):
            _ask_whether_same(payment, line, part)
    return bool(strangers)


def _sorted(payment: Payment, lines: Iterable[ProviderRefund]) -> given_back.Sorted:
    there = [line for line in lines if line.state != "failed"]
    not_ours = [line for line in there if attempt_of(payment.provider, line) is None]
    return given_back.sort(payment, not_ours, {line.provider_refund_id for line in there})


def _ask_whether_same(payment: Payment, line: ProviderRefund, part: RefundAllocation) -> None:
    """It is not booked a second time; whoever sees to the alert confirms that, or books it under its own number."""
    number = given_back.number_of(part)
    amounts = {
        "ours": {"amount": part.amount, "currency": part.refund.currency},
        "theirs": {"amount": line.amount, "currency": line.currency},
    }
    same_number = number == line.provider_refund_id
    alerts.raise_alert(
        kind=AlertKind.DIFFERENCE,
        subject=f"{payment.provider}:taken_to_be:{line.provider_refund_id}",
        provider=payment.provider,
        order=payment.order,
        refund=part.refund,
        facts={
            "difference": "amount" if same_number else "taken_to_be",
            **_facts(line),
            **(amounts if same_number else {}),
            "payment_id": payment.pk,
            "booked_as": number,
        },
    )


def book_unnamed(payment: Payment, line: ProviderRefund) -> str:
    """A refund of which only the sum is known, because the provider cannot be asked: it is nobody's.

    Empty, or the code of why it could not be booked, and people were told instead.
    """
    return _book_stranger(payment, line)


@transaction.atomic
def _book_stranger(payment: Payment, line: ProviderRefund) -> str:
    """A refund that the provider made and we never asked for: staff hear of it, and it is booked as made elsewhere.

    From then on the payment has that much less left, and no quote is made until a person says for which goods it was.
    Empty, or the code of why it could not be booked.
    """
    facts = {**_facts(line), "payment_id": payment.pk}
    not_booked = _book(payment, line)
    if not_booked:
        facts["not_booked"] = not_booked
    first = _paid_for(payment.provider, line.idempotency_key)
    if first is not None:
        facts["second_of"] = first.provider_refund_id
    alerts.raise_alert(
        kind=AlertKind.NOT_ANNOUNCED,
        subject=f"{payment.provider}:{line.provider_refund_id}{_once_more(payment, line)}"[:160],
        provider=payment.provider,
        order=payment.order,
        refund=Refund.objects.filter(order=payment.order, external_ref=line.provider_refund_id).first(),
        attempt=first,
        facts=facts,
    )
    return not_booked


def _once_more(payment: Payment, line: ProviderRefund) -> str:
    """Somebody has taken its booking back, and the provider goes on listing it: that is news, each time."""
    taken_back = Refund.objects.filter(
        order=payment.order, kind=RefundKind.ELSEWHERE, external_ref__startswith=f"{line.provider_refund_id}~"
    )
    count = taken_back.count()
    return f":{count + 1}" if count else ""


def _paid_for(provider: str, key: str) -> GatewayAttempt | None:
    """The attempt with this key, which has a refund of its own: the provider has made two for one call."""
    return GatewayAttempt.objects.filter(provider=provider, idempotency_key=key).first() if key else None


def _book(payment: Payment, line: ProviderRefund) -> str:
    """Empty, or why it cannot be booked: our books and the provider's contradict each other; a person mends them."""
    if line.currency != payment.order.currency:
        return "another_currency"
    body = {
        "external_ref": line.provider_refund_id,
        "amount": line.amount,
        "payment_id": payment.pk,
        "at": line.created_at.isoformat(),
        "note": _("Reported by the payment provider; nobody had asked for it here."),
    }
    try:
        elsewhere.record(order=payment.order, body=body, actor=WATCH)
    except Refusal as refusal:
        log.warning("not_announced.not_booked", number=line.provider_refund_id, code=refusal.code)
        return refusal.code
    return ""


def _facts(line: ProviderRefund) -> dict[str, Any]:
    return {
        "provider_refund_id": line.provider_refund_id,
        "amount": line.amount,
        "currency": line.currency,
        "at": moment(line.created_at),
    }
