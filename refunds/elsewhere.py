"""Refunds that were made without us: at the provider's desk, by transfer, in cash for cash on delivery.

They are facts, and booked as such, once per number. Until a person says for which goods one was, nothing can be worked
out for the order (`history.py` refuses). From then on its goods are gone and its amount counts as given back: what the
rule would have said otherwise is taken up by the next settlement.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from orders import audit, goods
from orders.actors import Actor, NotAllowed
from orders.announce import announce
from orders.errors import InvalidInput
from orders.models import Order, Payment
from orders.prose import aside
from orders.strict import validated
from refunds import elsewhere_units, ending, errors, holding, locks, numbers, policy, quotes, reported_before, selectors
from refunds.choices import clean_note
from refunds.deciding_bodies import AssignBody, ElsewhereBody
from refunds.elsewhere_units import Asked
from refunds.history import policy_for
from refunds.models import Refund, RefundAllocation, RefundQuote
from refunds.outcome import record_state
from refunds.present import moment
from refunds.selection import Picked
from refunds.settling import Worked
from refunds.states import AllocationState, Asker, RefundKind, RefundState

RECORD: Final = "refunds.record_elsewhere"


@dataclass(frozen=True, slots=True)
class Booked:
    """`created` False: it was booked before, under the same number."""

    refund: Refund
    created: bool


def record(*, order: Order, body: object, actor: Actor) -> Refund:
    """Book a refund that was made elsewhere; the same `external_ref` again gives the same one. See `book`."""
    return book(order=order, body=body, actor=actor).refund


@transaction.atomic
def book(*, order: Order, body: object, actor: Actor) -> Booked:
    """`body`: {external_ref, amount, payment_id, note, at?, lines?, for_goods?} as `ElsewhereBody` describes it.

    With `lines` the goods are gone; with none at all and `for_goods` false it was for no goods; without `lines` it
    waits for `assign`, or for the same number once more with `lines`. By staff with `refunds.record_elsewhere`, or by
    the system for what a provider reports. What a person tells is never before the shop had the money, and its number
    is of no other order. Raises NotAllowed, InvalidInput with the field, and Refusal
    payment_has_less, reference_reused, reported_already (by the provider, under a number of its own) or no_policy, or
    why goods of `lines` cannot have been meant.
    """
    _may_record(actor)
    facts = validated(ElsewhereBody, body)
    lines = _asked(facts) if "lines" in facts else None
    note = clean_note(facts["note"], required=True)
    order = goods.lock_order(order.pk)
    known = selectors.paid_under(order, facts["external_ref"]).first()
    if known is not None:
        return Booked(_again(order, known, facts, lines, actor, note), created=False)
    payment = _payment(order, facts["payment_id"])
    if actor.kind == "staff":
        _require_news(order, facts, payment)
    refund = _write(order, payment, facts, actor, note, needs_assignment=lines is None)
    if lines:
        _assign(order, refund, lines, actor, note)
    return Booked(refund, created=True)


@transaction.atomic
def assign(*, refund_id: str, lines: object, actor: Actor, note: str, for_goods: bool = True) -> Refund:
    """Say for which goods a refund was that was booked without: [{line_item_id, quantity, reason?}].

    No lines, and `for_goods` False: for no goods, as a compensation is. By staff with `refunds.record_elsewhere`.
    Raises NotAllowed, NotFound, InvalidInput, and Refusal wrong_state or why the goods cannot have been meant.
    """
    _may_record(actor)
    facts = validated(AssignBody, {"lines": lines, "for_goods": for_goods, "note": note})
    text = clean_note(facts["note"], required=True)
    asked = _asked(facts)
    order, refund = locks.order_and_refund(refund_id)
    if not refund.needs_assignment:
        raise errors.wrong_state(aside(refund.pk, refund.get_state_display()))
    _carry_out(order, refund, asked, actor, text)
    return refund


def _carry_out(order: Order, refund: Refund, asked: Sequence[Asked], actor: Actor, note: str) -> None:
    Refund.objects.filter(pk=refund.pk).update(needs_assignment=False)
    refund.needs_assignment = False
    if asked:
        _assign(order, refund, asked, actor, note)
    audit.record(
        action="refund.assigned",
        actor=actor,
        subject_type="refund",
        subject_id=refund.pk,
        order=order,
        chosen={"lines": [line.as_json() for line in asked], "note": note},
        computed={"amount": refund.amount, "currency": refund.currency},
        correlation={"quote_id": refund.quote_id} if refund.quote_id else {},
    )


def _may_record(actor: Actor) -> None:
    if actor.kind not in {"staff", "system"}:
        raise NotAllowed(RECORD)
    actor.require(RECORD)


def _asked(facts: dict[str, Any]) -> list[Asked]:
    lines = [Asked(**line) for line in facts["lines"]]
    if bool(lines) != facts["for_goods"]:
        raise InvalidInput(
            "lines", _("Name the goods that it was for; or none at all, and say that it was for no goods.")
        )
    return lines


def _again(
    order: Order, known: Refund, facts: dict[str, Any], lines: list[Asked] | None, actor: Actor, note: str
) -> Refund:
    """What the number stands for already, if that is what is told. Told for the first time for what it was: assigned.

    Who leaves `lines` out, as a provider's report does, says nothing about the goods and contradicts nobody.
    """
    part = known.allocations.first()
    if part is None or (part.payment_id, known.amount) != (facts["payment_id"], facts["amount"]):
        raise errors.reference_reused("external_ref")
    _require_same_moment(known, facts.get("at"), actor)
    if lines is None:
        return known
    if known.needs_assignment:
        _carry_out(order, locks.refund_of_locked_order(known.pk), lines, actor, note)
        known.refresh_from_db()
    elif _units_of(known) != _units(lines):
        raise errors.reference_reused("external_ref")
    return known


def _require_same_moment(known: Refund, at: datetime | None, actor: Actor) -> None:
    """Between people. Whoever leaves it out says nothing of it, and a provider's clock contradicts nobody."""
    told = actor.kind == known.confirmed_by_kind == Asker.STAFF and known.kind == RefundKind.ELSEWHERE
    if told and at is not None and at != known.finished_at:
        raise errors.reference_reused("at")


def _payment(order: Order, payment_id: str) -> Payment:
    payment = Payment.objects.filter(order=order, pk=payment_id).first()
    if payment is None:
        raise InvalidInput("payment_id", _("This order has no such payment."))
    return payment


def _require_news(order: Order, facts: dict[str, Any], payment: Payment) -> None:
    """What a person tells may be in the books: sent from here, or reported by the provider and not explained yet.

    Or it is a slip: of another order, or before there was anything to give back.
    """
    had_from = max(order.placed_at, payment.captured_at)
    if facts.get("at", had_from) < had_from:
        raise errors.paid_before_it_was_had(had_from)
    reported_before.require_not_ours(order, facts["external_ref"])
    reported_before.require_explained(order, facts["payment_id"], facts["amount"])
    numbers.require_of_no_other_order(order, facts["external_ref"], [payment.provider])


def _units(lines: Iterable[Asked]) -> Counter[str]:
    units: Counter[str] = Counter()
    for line in lines:
        units[line.line_item_id] += line.quantity
    return units


def _units_of(refund: Refund) -> Counter[str]:
    units: Counter[str] = Counter()
    for line in holding.lines_of(refund.quote_id) if refund.quote_id else ():
        units[line.line_item.line_item_id] += line.quantity
    return units


def _write(
    order: Order, payment: Payment, facts: dict[str, Any], actor: Actor, note: str, *, needs_assignment: bool
) -> Refund:
    refund = Refund.objects.create(
        kind=RefundKind.ELSEWHERE,
        order=order,
        external_ref=facts["external_ref"],
        needs_assignment=needs_assignment,
        amount=facts["amount"],
        currency=order.currency,
        state=RefundState.SUCCEEDED,
        confirmed_by_kind=actor.kind,
        confirmed_by=actor.user,
        note=note,
        finished_at=facts.get("at") or timezone.now(),
    )
    RefundAllocation.objects.create(
        refund=refund, payment=payment, position=1, amount=refund.amount, state=AllocationState.SUCCEEDED
    )
    try:
        holding.hold_money(payment, refund.amount)
    except holding.MoneyMoved as moved:
        raise errors.payment_has_less(payment.left, order.currency) from moved
    chosen = {"external_ref": refund.external_ref, "payment_id": payment.pk, "note": note}
    outcome = {"to": {payment.pk: refund.amount}, "paid_at": moment(refund.finished_at)}
    record_state(refund, actor, chosen=chosen, outcome=outcome)
    return refund


def _assign(order: Order, refund: Refund, asked: Sequence[Asked], actor: Actor, note: str) -> None:
    """The goods are gone, and a quote that is redeemed from the first says what was given back for them."""
    picked = elsewhere_units.pick(order, asked)
    quote = _quote(order, refund, picked, actor)
    ending.spend(quote=quote, actor=actor, note=note)
    Refund.objects.filter(pk=refund.pk).update(quote=quote)
    refund.quote = quote
    lines = holding.lines_of(quote.pk)
    holding.hold_goods(lines)
    payload = {
        "order_number": order.number,
        "refund_id": refund.pk,
        "amount": refund.amount,
        "currency": refund.currency,
        "state": refund.state,
        "lines": holding.named(lines),
        "elsewhere": refund.external_ref,
    }
    announce(order=order, event=f"goods.{quote.action}", payload=payload)


def _quote(order: Order, refund: Refund, picked: list[Picked], actor: Actor) -> RefundQuote:
    params = {"external_ref": refund.external_ref, "lines": _lines(picked)}
    step = policy.Step("paid_elsewhere", refund.amount, params)
    settlement = policy.Settlement(refund.amount, fee=0, counts_as_return=False, steps=(step,))
    # Nobody can confirm it any more, so nothing is compared with it.
    fingerprint = hashlib.sha256(refund.pk.encode()).hexdigest()
    return quotes.write_quote(
        order=order,
        action=elsewhere_units.action_of(picked),
        picked=picked,
        worked=Worked(settlement, fingerprint),
        rules=policy_for(order),
        actor=actor,
        chosen={"refund_id": refund.pk, "lines": params["lines"]},
        asker=Asker.STAFF if actor.kind == "staff" else Asker.SYSTEM,
        asker_ref=f"elsewhere:{refund.pk}",
        asked_by=actor.user,
    )


def _lines(picked: Iterable[Picked]) -> list[dict[str, Any]]:
    return [
        {"line_item_id": item.line.line_item_id, "quantity": item.quantity, "unit_price": item.line.unit_price}
        for item in picked
    ]
