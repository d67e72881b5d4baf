"""Every state that a quote, a refund, an attempt or a return can come into leaves a row in the history."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.dispatch import Signal
from django.utils import timezone

from orders.errors import Refusal
from orders.models import AuditEvent, Order
from orders.shipments import pack_order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import approvals, returns, tasks
from refunds.acceptance import accept
from refunds.models import Approval, Refund, RefundQuote, Return
from refunds.redeem import decline, redeem
from refunds.retry import retry
from refunds.signals import quote_ended, refund_moved, return_moved
from refunds.states import ApprovalState, AttemptOutcome, QuoteState, RefundState, ReturnState
from refunds.tests.ask import ask, choices
from refunds.tests.paying import pending_refund, switch_on, time_passes

pytestmark = pytest.mark.django_db(transaction=True)
numbers = iter(range(8000, 9000))


def order() -> Order:
    return cast.place(
        str(next(numbers)), lines=[("音響", 30_000, 2), ("線", 500, 3)], shipments=[shipment_body({1: 1, 2: 1})]
    )


def waiting() -> Refund:
    refund = redeem(quote_id=ask(order(), (1, 1, "other", "cancel")).pk, actor=cast.shopper()).refund
    assert refund is not None
    return refund


def sent(fault: str | None = None) -> Refund:
    if fault:
        switch_on(fault)
    refund = pending_refund(order(), (2, 1, "other", "cancel"))
    tasks.send_refund(refund.pk)
    return refund


def received() -> Return:
    request = redeem(quote_id=ask(order(), (2, 1, "other", "return")).pk, actor=cast.shopper()).return_request
    assert request is not None
    return returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))


def quotes_end() -> None:
    quote = ask(order(), (2, 1, "other", "cancel"))
    decline(quote_id=quote.pk, actor=cast.shopper())
    ask(quote.order, (2, 1, "other", "cancel"))
    newest = ask(quote.order, (2, 2, "other", "cancel"))
    pack_order(order=quote.order, actor=cast.staff("warehouse"))
    with pytest.raises(Refusal):
        redeem(quote_id=newest.pk, actor=cast.shopper())
    ask(order(), (2, 1, "other", "cancel"))
    RefundQuote.objects.filter(state=QuoteState.OPEN).update(expires_at=timezone.now() - timedelta(seconds=1))
    tasks.sweep()


def refunds_end() -> None:
    sent()
    sent("timeout_after")
    tasks.sweep()
    retry(refund_id=sent("refuse").pk, actor=cast.staff())
    approvals.approve_refund(refund_id=waiting().pk, actor=cast.staff("supervisor"))
    approvals.reject_refund(refund_id=waiting().pk, actor=cast.staff("supervisor"), reason="不符規定")
    overdue = waiting()
    Approval.objects.filter(refund=overdue).update(expires_at=timezone.now())
    tasks.sweep()
    sent("timeout_before")
    for _ in range(3):
        time_passes(60)
        tasks.sweep()


def returns_end() -> None:
    accept(return_id=received().pk, actor=cast.staff("warehouse"))
    returns.reject(return_id=received().pk, actor=cast.staff("warehouse"), note="外盒不見")
    exchanges = [
        returns.request_exchange(
            order=order(), lines=choices((2, 1, "defective")), actor=cast.shopper(), request_ref=f"card_{number}"
        )
        for number in range(2)
    ]
    returns.withdraw(return_id=exchanges[0].pk, actor=cast.shopper())
    for step in (returns.receive, accept, returns.complete_exchange):
        step(return_id=exchanges[1].pk, actor=cast.staff("warehouse"))


@pytest.mark.parametrize(
    ("walk", "subject", "states"),
    [
        (quotes_end, "quote", {*QuoteState.values, "opened"} - {"open", "redeemed"}),
        (refunds_end, "refund", set(RefundState.values)),
        (refunds_end, "approval", set(ApprovalState.values)),
        (refunds_end, "attempt", set(AttemptOutcome.values)),
        (returns_end, "return", set(ReturnState.values)),
    ],
)
def test_every_state_is_in_the_history(walk: Callable[[], None], subject: str, states: set[str]) -> None:
    walk()
    told = set(AuditEvent.objects.filter(action__startswith=f"{subject}.").values_list("action", flat=True))
    assert {f"{subject}.{state}" for state in states} <= told


def test_the_history_of_the_money_can_neither_be_changed_nor_deleted() -> None:
    sent()
    events = AuditEvent.objects.all()
    for act in (partial(events.update, action="nothing.happened"), events.delete):
        with pytest.raises(IntegrityError), transaction.atomic():
            act()


class Listener:
    """Notes what a signal says, and whether a transaction was open."""

    def __init__(self, signal: Signal) -> None:
        self.heard: list[str] = []
        self.signal = signal
        signal.connect(self)

    def __call__(self, **said: Any) -> None:
        assert not transaction.get_connection().in_atomic_block
        self.heard += [value for name, value in said.items() if name.endswith("_id")]


def test_listeners_are_told_after_commit_and_one_that_fails_changes_nothing() -> None:
    def broken(**said: Any) -> None:
        raise RuntimeError("a listener that fails")

    refund_moved.connect(broken)
    listeners = [Listener(quote_ended), Listener(refund_moved), Listener(return_moved)]
    try:
        refund = sent()
        request = received()
    finally:
        refund_moved.disconnect(broken)
        for listener in listeners:
            listener.signal.disconnect(listener)
    assert [listener.heard for listener in listeners] == [
        [refund.quote_id, request.quote_id],
        [refund.pk, refund.pk],
        [request.pk, request.pk],
    ]
    assert Refund.objects.get().state == RefundState.SUCCEEDED


def test_what_is_rolled_back_tells_nobody() -> None:
    listener = Listener(quote_ended)
    quote = ask(cast.order_5531(), (2, 1, "other"))
    with transaction.atomic():
        decline(quote_id=quote.pk, actor=cast.shopper())
        transaction.set_rollback(True)
    listener.signal.disconnect(listener)
    assert listener.heard == []
    assert not AuditEvent.objects.filter(action="quote.declined").exists()
