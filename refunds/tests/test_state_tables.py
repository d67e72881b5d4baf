"""Every state machine, walked from each state to each other, by the services that people and jobs use.

An allowed move writes exactly one row of history that names it. Every other move is refused, by the service that leads
to that state and by the one function that moves, and changes not a single row of any table. The turns and cards of the
chat are walked in `agent/tests/test_state_tables.py`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any, Final

import pytest
from django.apps import apps
from django.db import transaction
from django.utils import timezone

from orders.errors import Refusal
from orders.models import AuditEvent, Order, Shipment
from orders.money import DECIMALS
from orders.states import SHIPMENT_MOVES
from orders.tests import cast
from orders.tests.factories import payment_body, shipment_body
from refunds import (
    approval_states,
    approvals,
    compensation,
    elsewhere,
    ending,
    outcome,
    policies,
    reconcile,
    release,
    replacement_states,
    replacements,
    return_states,
    returns,
    send,
    tasks,
)
from refunds.acceptance import accept
from refunds.attention import admit_failure
from refunds.elsewhere_undone import undo
from refunds.gateways.base import GatewayAnswer, StillPending
from refunds.models import Approval, GatewayAttempt, Refund, RefundPolicy, RefundQuote, Replacement, Return
from refunds.policy_selectors import newest_settling
from refunds.redeem import redeem
from refunds.retry import retry
from refunds.states import (
    APPROVAL_MOVES,
    ATTEMPT_MOVES,
    ELSEWHERE_MOVES,
    OPEN_RETURNS,
    POLICY_MOVES,
    QUOTE_MOVES,
    REFUND_MOVES,
    REPLACEMENT_MOVES,
    RETURN_MOVES,
    PolicyState,
)
from refunds.tests.ask import ask
from refunds.tests.going_back import accepted_exchange, exchange, leaves, parcel_is, sent_again, warehouse
from refunds.tests.paying import pending_refund, switch_on, time_passes

Moves = Mapping[str, frozenset[str]]
Door = Callable[[Any], object]

NOTE: Final = "依規定處理"
numbers: Iterator[int] = count(60_001)


@dataclass(frozen=True)
class Machine:
    """`make(before, after)`: a row in state `before`, of a kind that could go to `after`. `doors`: the service that
    leads to a state, by (before, after) or by after alone. `mover`: the function that moves, where it is public."""

    subject: str
    moves: Moves
    make: Callable[[str, str], Any]
    doors: Mapping[str | tuple[str, str], Door]
    mover: Callable[[Any, str], object] | None = None
    action: str = ""
    state: str = "state"
    not_a_move: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def door(self, before: str, after: str) -> Door | None:
        return self.doors.get((before, after)) or self.doors.get(after)

    def told(self, row: Any) -> list[str]:
        """The moves of the row that the history tells of, the oldest first."""
        known = {f"{self.action or self.subject}.{state}" for state in self.moves}
        events = AuditEvent.objects.filter(subject_type=self.subject, subject_id=str(row.pk), action__in=known)
        return list(events.order_by("pk").values_list("action", flat=True))

    def state_of(self, row: Any) -> str:
        row.refresh_from_db()
        return str(getattr(row, self.state))


def everything(*more: str) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table of orders, refunds and the apps named besides."""
    models = [model for app in ("orders", "refunds", *more) for model in apps.get_app_config(app).get_models()]
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}


def walk(machine: Machine, before: str) -> None:
    """From `before` to every state of the machine, each time with a row of its own."""
    for after in machine.moves:
        if (before, after) in machine.not_a_move:
            continue
        row = machine.make(before, after)
        assert machine.state_of(row) == before
        if after in machine.moves[before]:
            _goes(machine, row, before, after)
        else:
            _stays(machine, row, before, after)


def _goes(machine: Machine, row: Any, before: str, after: str) -> None:
    door, so_far = machine.door(before, after), machine.told(row)
    assert door is not None, f"no service takes a {machine.subject} from {before} to {after}"
    door(row)
    assert machine.state_of(row) == after
    assert machine.told(row) == [*so_far, f"{machine.action or machine.subject}.{after}"], f"{before} → {after}"


def _stays(machine: Machine, row: Any, before: str, after: str) -> None:
    world = everything()
    for push in (machine.door(before, after), _forced(machine, after)):
        if push is None:
            continue
        with suppress(Refusal, outcome.WrongMove):
            push(row)
        assert everything() == world, f"{machine.subject}: {before} → {after}"


def _forced(machine: Machine, after: str) -> Door | None:
    """The function that moves, called as a service would: with a transaction around it."""
    mover = machine.mover
    return None if mover is None else transaction.atomic(lambda row: mover(row, after))


# --- Orders to act on --------------------------------------------------------------------------------------------


def order(**options: Any) -> Order:
    return cast.place(str(next(numbers)), **options)


def expensive(**options: Any) -> Order:
    """Above what one person may pay back alone."""
    return order(lines=[("音響", 30_000, 1)], **options)


def boss(name: str = "supervisor") -> Any:
    return cast.staff(name)


# --- Quotes ------------------------------------------------------------------------------------------------------


def overdue(quote: RefundQuote) -> None:
    RefundQuote.objects.filter(pk=quote.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def expire_quote(quote: RefundQuote) -> None:
    ending.expire_quotes()


def overtake(quote: RefundQuote) -> None:
    ending.supersede_open(order=quote.order, asker_ref=quote.asker_ref, actor=cast.shopper())


QUOTE_DOORS: Final[dict[Any, Door]] = {
    "redeemed": lambda quote: redeem(quote_id=quote.pk, actor=cast.shopper()),
    "declined": lambda quote: ending.decline(quote_id=quote.pk, actor=cast.shopper()),
    "expired": expire_quote,
    "superseded": overtake,
}


def make_quote(before: str, after: str) -> RefundQuote:
    quote = ask(order(), (2, 1, "other"))
    if before == "expired":
        overdue(quote)
    if before != "open":
        QUOTE_DOORS[before](quote)
    if after == "expired":
        overdue(quote)
    return quote


# --- Approvals ---------------------------------------------------------------------------------------------------


def a_week_passes(approval: Approval) -> None:
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


APPROVAL_DOORS: Final[dict[Any, Door]] = {
    "approved": lambda approval: approvals.approve(approval_id=approval.pk, actor=boss(), reason=NOTE),
    "rejected": lambda approval: approvals.reject(approval_id=approval.pk, actor=boss(), reason=NOTE),
    "expired": lambda approval: release.expire_approvals(),
}


def large_refund() -> Approval:
    refund = redeem(quote_id=ask(expensive(), (1, 1, "other")).pk, actor=cast.shopper()).refund
    return Approval.objects.get(refund=refund)


def proposed() -> Approval:
    ref = f"form:{next(numbers)}"
    return compensation.propose(order=order(), amount=100, reason=NOTE, actor=cast.staff(), request_ref=ref)


def make_approval(ask_for: Callable[[], Approval], before: str, after: str) -> Approval:
    approval = ask_for()
    if before == "expired":
        a_week_passes(approval)
    if before != "waiting":
        APPROVAL_DOORS[before](approval)
    if after == "expired":
        a_week_passes(approval)
    return approval


def move_approval(approval: Approval, to: str) -> None:
    approval_states.move(approval=approval, to=to, actor=boss())  # type: ignore[arg-type]


# --- Returns -----------------------------------------------------------------------------------------------------

RETURN_DOORS: Final[dict[Any, Door]] = {
    "received": lambda item: returns.receive(return_id=item.pk, actor=warehouse()),
    "accepted": lambda item: accept(return_id=item.pk, actor=warehouse()),
    "refunded": lambda item: approvals.approve_refund(refund_id=item.refund_id or "", actor=boss(), reason=NOTE),
    "exchanged": lambda item: returns.complete_exchange(return_id=item.pk, actor=warehouse()),
    "rejected": lambda item: returns.reject(return_id=item.pk, actor=warehouse(), note=NOTE),
    ("accepted", "rejected"): lambda item: approvals.reject_refund(refund_id=item.refund_id, actor=boss(), reason=NOTE),
    "withdrawn": lambda item: returns.withdraw(return_id=item.pk, actor=cast.shopper()),
}
RETURN_WAYS: Final = {
    "requested": (),
    "received": ("received",),
    "accepted": ("received", "accepted"),
    "refunded": ("received", "accepted", "refunded"),
    "exchanged": ("received", "accepted", "exchanged"),
    "rejected": ("rejected",),
    "withdrawn": ("withdrawn",),
}


def make_return(before: str, after: str) -> Return:
    """A refund so large that it waits for a second person once it is accepted; an exchange where only that goes on."""
    place = expensive(shipments=[shipment_body({1: 1})])
    if before == "exchanged" or (after == "exchanged" and before in OPEN_RETURNS):
        item = exchange(place, ref=f"card_{place.pk}")
    else:
        redeemed = redeem(quote_id=ask(place, (1, 1, "changed_mind")).pk, actor=cast.shopper()).return_request
        assert redeemed is not None
        item = redeemed
    for step in RETURN_WAYS[before]:
        RETURN_DOORS[step](item)
        item.refresh_from_db()
    return item


def move_return(item: Return, to: str) -> None:
    return_states.move(request=item, to=to, actor=warehouse())  # type: ignore[arg-type]


# --- Replacements ------------------------------------------------------------------------------------------------

REPLACEMENT_DOORS: Final[dict[Any, Door]] = {
    "sent": leaves,
    "released": lambda item: replacements.release(replacement_id=item.pk, actor=warehouse(), note=NOTE),
}


def make_replacement(kind: str, before: str, after: str) -> Replacement:
    if kind == "exchange":
        place = order(shipments=[shipment_body({1: 1})])
        item = Replacement.objects.get(return_request=accepted_exchange(place, ref=f"card_{place.pk}"))
    else:
        place = order(shipments=[shipment_body({1: 1}, state="lost")])
        item = sent_again(place, (1, 1, "lost"), ref=f"card_{place.pk}")
    if before != "reserved":
        (EXCHANGE_DOORS if kind == "exchange" else REPLACEMENT_DOORS)[before](item)
    return item


# An exchange's replacement follows its return.
EXCHANGE_DOORS: Final[dict[Any, Door]] = {
    "sent": leaves,
    "released": lambda item: returns.reject(return_id=item.return_request_id, actor=warehouse(), note=NOTE),
}


def move_replacement(item: Replacement, to: str) -> None:
    replacement_states.move(replacement=item, to=to, actor=warehouse())  # type: ignore[arg-type]


# --- Parcels and rules -------------------------------------------------------------------------------------------


def make_shipment(before: str, after: str) -> Shipment:
    return cast.shipment(order(shipments=[shipment_body({1: 1}, state=before)]))


def parcel_becomes(state: str) -> Door:
    return lambda shipment: parcel_is(shipment.order, shipment.external_id, state)


def make_policy(before: str, after: str) -> RefundPolicy:
    drafts = RefundPolicy.objects.filter(state=PolicyState.DRAFT).values_list("currency", flat=True)
    currency = next(currency for currency in DECIMALS if currency not in drafts)
    policy, _ = policies.draft(currency=currency, actor=boss())
    if before != "draft":
        publish_policy(policy)
    if before == "superseded":
        follow_policy(policy)
    return policy


def publish_policy(policy: RefundPolicy) -> None:
    newest = newest_settling(policy.currency)
    moment = max(timezone.now(), newest.in_force_from if newest else timezone.now()) + timedelta(hours=1)
    options = {"in_force_from": moment, "actor": cast.staff("marketing")}
    policies.publish(currency=policy.currency, version=policy.version, **options)  # type: ignore[arg-type]


def follow_policy(policy: RefundPolicy) -> None:
    publish_policy(policies.draft(currency=policy.currency, actor=boss())[0])


def move_policy(policy: RefundPolicy, to: str) -> None:
    policies.move(policy, PolicyState(to), boss(), chosen={}, fields={})


MACHINES: Final = {
    "quote": Machine("quote", QUOTE_MOVES, make_quote, QUOTE_DOORS),
    "approval of a refund": Machine(
        "approval", APPROVAL_MOVES, partial(make_approval, large_refund), APPROVAL_DOORS, move_approval
    ),
    "approval of a compensation": Machine(
        "approval", APPROVAL_MOVES, partial(make_approval, proposed), APPROVAL_DOORS, move_approval
    ),
    "return": Machine("return", RETURN_MOVES, make_return, RETURN_DOORS, move_return),
    "replacement of lost goods": Machine(
        "replacement", REPLACEMENT_MOVES, partial(make_replacement, "lost"), REPLACEMENT_DOORS, move_replacement
    ),
    "replacement of an exchange": Machine(
        "replacement", REPLACEMENT_MOVES, partial(make_replacement, "exchange"), EXCHANGE_DOORS, move_replacement
    ),
    "shipment": Machine(
        "shipment", SHIPMENT_MOVES, make_shipment, {state: parcel_becomes(state) for state in SHIPMENT_MOVES}
    ),
    "policy": Machine(
        "policy",
        POLICY_MOVES,
        make_policy,
        {"published": publish_policy, ("published", "superseded"): follow_policy},
        move_policy,
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "before"), [(name, before) for name, each in MACHINES.items() for before in each.moves]
)
def test_an_allowed_move_is_told_once_and_every_other_changes_nothing(name: str, before: str) -> None:
    walk(MACHINES[name], before)


# --- Money on its way: the gateway insists on real transactions ------------------------------------------------------


def send_it(refund: Refund) -> None:
    tasks.send_refund(refund.pk)


def send_while(fault: str) -> Door:
    def sent(refund: Refund) -> None:
        switch_on(fault)
        send_it(refund)

    return sent


def ask_the_gateway(refund: Refund) -> None:
    """As often as it takes to be sure that it knows nothing, or until it says that it has paid."""
    for _ in range(3):
        time_passes(60)
        reconcile.reconcile()


def attempt_of(refund: Refund) -> GatewayAttempt:
    return GatewayAttempt.objects.filter(allocation__refund=refund).latest("pk")


def paid(attempt: GatewayAttempt) -> None:
    """The gateway says so: exactly what was asked for."""
    allocation = attempt.allocation
    answer = GatewayAnswer(f"re_{attempt.pk}", allocation.amount, allocation.refund.currency)
    outcome.record_success(attempt, answer)


def refused(attempt: GatewayAttempt) -> None:
    outcome.record_refusal(attempt, started_at=None, code="declined", message="")


def refused_late(refund: Refund) -> None:
    if GatewayAttempt.objects.filter(allocation__refund=refund).exists():
        refused(attempt_of(refund))


def failed_after_all(attempt: GatewayAttempt) -> None:
    """The gateway takes back what it had said."""
    outcome.record_failed_after_payment(attempt, code="expired_card", message="")


def under_way_after_all(attempt: GatewayAttempt) -> None:
    """The gateway knows of it, whatever it had said before."""
    outcome.note_pending(attempt, StillPending(f"re_{attempt.pk}"))


def doubted(attempt: GatewayAttempt) -> None:
    outcome.record_doubt(attempt, started_at=attempt.started_at)


REFUND_DOORS: Final[dict[Any, Door]] = {
    "pending": lambda refund: retry(refund_id=refund.pk, actor=cast.staff(), note=NOTE),
    ("pending_approval", "pending"): lambda refund: approvals.approve_refund(
        refund_id=refund.pk, actor=boss(), reason=NOTE
    ),
    "rejected": lambda refund: approvals.reject_refund(refund_id=refund.pk, actor=boss(), reason=NOTE),
    "expired": lambda refund: release.expire_approvals(),
    "succeeded": send_it,
    ("unknown", "succeeded"): ask_the_gateway,
    ("failed", "succeeded"): lambda refund: paid(attempt_of(refund)),
    "failed": refused_late,
    ("pending", "failed"): send_while("refuse"),
    ("unknown", "failed"): ask_the_gateway,
    ("pending", "unknown"): send_while("timeout_after"),
    ("succeeded", "unknown"): lambda refund: failed_after_all(attempt_of(refund)),
    ("failed", "unknown"): lambda refund: under_way_after_all(attempt_of(refund)),
}


def half_refused() -> Refund:
    """In doubt, with a part that was refused: that one can be sent again meanwhile."""
    payments = [payment_body(1000), payment_body(580, external_id="p2")]
    refund = pending_refund(order(payments=payments), (1, 1, "other"), (2, 1, "other"))
    for fault in ("refuse", "timeout_after"):
        switch_on(fault)
    send_it(refund)
    return refund


def make_refund(before: str, after: str) -> Refund:
    if before in {"pending_approval", "rejected", "expired"}:
        approval = large_refund()
        assert approval.refund is not None
        if before == "expired":
            a_week_passes(approval)
        if before != "pending_approval":
            REFUND_DOORS[before](approval.refund)
        if after == "expired":
            a_week_passes(approval)
        return approval.refund
    if (before, after) == ("unknown", "pending"):
        return half_refused()
    refund = pending_refund(order(), (2, 1, "other"))
    if before == "unknown":
        send_while("timeout_before" if after == "failed" else "timeout_after")(refund)
    elif before != "pending":
        (send_it if before == "succeeded" else send_while("refuse"))(refund)
    return refund


def move_refund(refund: Refund, to: str) -> None:
    outcome.move_refund(refund=refund, to=to, actor=boss())  # type: ignore[arg-type]


def make_attempt(before: str, after: str) -> GatewayAttempt:
    refund = pending_refund(order(), (2, 1, "other"))
    assert send.claim_allocation(refund.allocations.get().pk)
    attempt = attempt_of(refund)
    if before != "sending":
        ATTEMPT_DOORS[before](attempt)
    if (before, after) == ("succeeded", "refused"):
        failed_after_all(attempt)
    return attempt


def admitted(attempt: GatewayAttempt) -> None:
    admit_failure(refund_id=attempt.allocation.refund_id, actor=boss(), note=NOTE)


ATTEMPT_DOORS: Final[dict[Any, Door]] = {
    "succeeded": paid,
    "refused": refused,
    ("succeeded", "refused"): admitted,
    ("refused", "unknown"): under_way_after_all,
    "unknown": doubted,
}


def make_elsewhere(before: str, after: str) -> Refund:
    bought = order()
    body = {"external_ref": "re_1", "amount": 100, "payment_id": bought.payments.get().pk, "note": NOTE}
    refund = elsewhere.record(order=bought, body=body, actor=boss())
    if before == "rejected":
        undo_it(refund)
    return refund


def undo_it(refund: Refund) -> None:
    undo(refund_id=refund.pk, actor=boss(), note=NOTE)


PAYING: Final = {
    "refund made elsewhere": Machine(
        "refund",
        ELSEWHERE_MOVES,
        make_elsewhere,
        {
            "rejected": undo_it,
            "pending": lambda refund: retry(refund_id=refund.pk, actor=boss(), note=NOTE),
            "failed": lambda refund: admit_failure(refund_id=refund.pk, actor=boss(), note=NOTE),
        },
        move_refund,
    ),
    "refund": Machine("refund", REFUND_MOVES, make_refund, REFUND_DOORS, move_refund),
    "attempt": Machine(
        "gateway_attempt",
        ATTEMPT_MOVES,
        make_attempt,
        ATTEMPT_DOORS,
        action="attempt",
        state="outcome",
        # A doubt that is doubted again stays the same doubt.
        not_a_move=frozenset({("unknown", "unknown")}),
    ),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("name", "before"), [(name, before) for name, each in PAYING.items() for before in each.moves])
def test_a_move_of_money_is_told_once_and_every_other_changes_nothing(name: str, before: str) -> None:
    walk(PAYING[name], before)
