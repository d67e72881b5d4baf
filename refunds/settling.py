"""The settlement of picked units as the order stands now, and the fingerprint of everything it depends on.

One way in for quotes, for redeeming and for accepted returns. Call it with the order locked.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from django.utils import timezone

from orders.models import Order, Payment
from refunds import charges, errors, policy
from refunds.allocation import PaymentLeft, allocate, set_aside
from refunds.charges import BY_HAND
from refunds.charges import by_machine as by_machine
from refunds.charges import provider_of as provider_of
from refunds.eligibility import UnitState
from refunds.gateways.plan import Person
from refunds.goods import UnitGroup
from refunds.history import history_of, is_promise
from refunds.models import RefundPolicy, RefundQuote, Return
from refunds.selection import Picked
from refunds.snapshot import terms_of
from refunds.states import QuoteAction

# Where units are while a quote of this action holds good.
STATE_OF_ACTION: Final[dict[str, UnitState]] = {
    QuoteAction.CANCEL: "unfulfilled",
    QuoteAction.LOST: "lost",
    QuoteAction.RETURN: "delivered",
}


@dataclass(frozen=True, slots=True)
class Worked:
    """`fingerprint`: sha256 over the settlement's inputs and over where the picked units are."""

    settlement: policy.Settlement
    fingerprint: str


def work_out(
    *, order: Order, action: str, picked: Sequence[Picked], rules: RefundPolicy, without: Return | None = None
) -> Worked:
    """What giving back `picked` comes to. `without`: the return that is being settled by it."""
    asked = [item.as_departure() for item in picked]
    history = history_of(order, without=without, counts=policy.counts_as_return(action, asked))
    inputs: dict[str, Any] = {
        "terms": terms_of(order),
        "ledger": history.ledger,
        "gone": history.gone,
        "asked": asked,
        "action": action,
        "rules": policy.Rules(return_fee=rules.return_fee, return_fee_enabled=rules.return_fee_enabled),
    }
    units = [(item.line.line_item_id, item.shipment_line and item.shipment_line.pk, item.state) for item in picked]
    # What the payments have left is left out: compensation beside it spoils no quote as long as the amount is the same.
    ledger = replace(history.ledger, payments_left=0)
    known = {**inputs, "ledger": ledger, "version": rules.version, "units": units}
    return Worked(policy.settle(**inputs), _digest(known))


def _digest(inputs: dict[str, Any]) -> str:
    text = json.dumps(inputs, default=_plain, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """JSON of what JSON does not know: the rules' dataclasses, sets and Decimals."""
    if isinstance(value, frozenset):
        return sorted(value)
    return asdict(value) if hasattr(value, "__dataclass_fields__") else f"{value.normalize():f}"


def picked_again(quote: RefundQuote, groups: Iterable[UnitGroup]) -> list[Picked]:
    """The units of a quote as they stand now: with the quote's state where all are still there, else with None."""
    state = STATE_OF_ACTION[quote.action]
    there: Counter[tuple[int, int | None]] = Counter()
    for group in groups:
        if group.state == state:
            there[group.line.pk, group.shipment_line.pk if group.shipment_line else None] += group.quantity
    lines = list(quote.lines.select_related("line_item", "shipment_line__line_item"))
    wanted: Counter[tuple[int, int | None]] = Counter()
    for line in lines:
        wanted[line.line_item_id, line.shipment_line_id] += line.quantity
    return [
        Picked(
            line=line.line_item,
            shipment_line=line.shipment_line,
            quantity=line.quantity,
            reason=line.reason,
            shop_fault=line.shop_fault,
            state=state if there[key] >= wanted[key] else None,
        )
        for line, key in ((line, (line.line_item_id, line.shipment_line_id)) for line in lines)
    ]


def share_out(
    order: Order,
    amount: int,
    rules: RefundPolicy,
    *,
    without: Return | None = None,
    by_hand_too: bool = False,
    only_shown: bool = False,
    by_staff: bool = False,
) -> list[tuple[Payment, int]]:
    """Which payment gives back how much, in the policy's tender order, after what open returns were promised.

    `without`: the return that is being settled by it. Raises the refusal `needs_a_person` when part of it would go to a
    payment that no machine can pay back to, ever, unless `by_hand_too`. `only_shown`: for a page, which does not ask
    what the gateways can do at this moment. `by_staff`: who reads the refusal is the person that it needs.
    """
    payments = {payment.pk: payment for payment in order.payments.all()}
    left = [
        PaymentLeft(payment.pk, payment.method, payment.left, captured_order=index)
        for index, payment in enumerate(sorted(payments.values(), key=lambda item: (item.captured_at, item.position)))
    ]
    promised = sum(
        item.quote.amount for item in order.returns.all() if item != without and item.quote and is_promise(item)
    )
    left = set_aside(amount=promised, payments=left, tender_order=rules.tender_order)
    shares = allocate(amount=amount, payments=left, tender_order=rules.tender_order)
    chosen = [(payments[payment_id], share) for payment_id, share in shares]
    if not by_hand_too:
        for payment, share in chosen:
            _require_a_machine(order, payment, share, only_shown=only_shown, by_staff=by_staff)
    return chosen


def _require_a_machine(order: Order, payment: Payment, share: int, *, only_shown: bool, by_staff: bool) -> None:
    """Raises the refusal `needs_a_person`. That a gateway takes it only later is no obstacle: the refund waits."""
    if not by_machine(payment):
        raise errors.needs_a_person(order, by_hand=payment.method in BY_HAND, by_staff=by_staff)
    if only_shown:
        return
    step = charges.step_for(payment, share, held=False, now=timezone.now())
    if isinstance(step, Person):
        raise errors.needs_a_person(order, by_hand=False, by_staff=by_staff, because=step.code)
