"""Store credit is paid back to our own ledger, whatever provider the payment was taken in with; once per key."""

import pytest

from orders import store_credit
from orders.models import Order, StoreCreditEntry
from orders.tests import cast
from orders.tests.factories import payment_body
from orders.tests.race import at_once
from refunds import gateways, retry, send, tasks
from refunds.charges import charge_of
from refunds.gateways.base import GatewayRefused
from refunds.models import GatewayAttempt, SimulatedFault
from refunds.states import AllocationState, RefundState
from refunds.tests.paying import paid_out, pending_refund, state_of, time_passes

pytestmark = pytest.mark.django_db(transaction=True)
CREDIT = {"external_id": "p2", "method": "store_credit", "last4": ""}


def order_paid_twice(number: str = "6901", *, credit: int = 30, **changes: str) -> Order:
    payments = [payment_body(80 - credit), {**payment_body(credit, **CREDIT), **changes}]
    return cast.place(number, lines=[("杯", 40, 2)], payments=payments)


def credit() -> int:
    return store_credit.balance(cast.customer(), "TWD")


@pytest.mark.parametrize("provider", ["simulated", "elsewhere", "stripe"])
def test_card_and_store_credit_each_get_their_part(provider: str) -> None:
    refund = pending_refund(order_paid_twice(provider=provider), (1, 2, "other"))
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), credit()) == (RefundState.SUCCEEDED, [50], 30)
    entry = StoreCreditEntry.objects.get()
    attempt = GatewayAttempt.objects.get(provider="store_credit")
    assert (entry.kind, entry.reference, entry.order) == ("refunded", attempt.idempotency_key, refund.order)


def test_the_job_delivered_twice_credits_once() -> None:
    refund = pending_refund(order_paid_twice(), (1, 2, "other"))
    for _ in range(2):
        tasks.send_refund(refund.pk)
    assert credit() == 30


def test_a_worker_that_died_after_crediting_is_replaced_and_nothing_is_credited_again() -> None:
    refund = pending_refund(order_paid_twice(), (1, 2, "other"))
    claim = send.claim_allocation(refund.allocations.get(amount=30).pk)
    assert claim is not None
    send._call(claim)  # and here the worker dies
    time_passes(16)
    tasks.sweep()
    assert (state_of(refund), credit()) == (RefundState.SUCCEEDED, 30)


def test_a_worker_that_died_before_crediting_is_replaced_under_the_same_key() -> None:
    refund = pending_refund(order_paid_twice(), (1, 2, "other"))
    assert send.claim_allocation(refund.allocations.get(amount=30).pk)
    time_passes(16)
    tasks.sweep()
    assert (state_of(refund), credit(), StoreCreditEntry.objects.count()) == (RefundState.SUCCEEDED, 30, 1)


def test_the_same_key_many_times_at_once_credits_once() -> None:
    charge = charge_of(cast.payment(order_paid_twice(), 2))
    gateway = gateways.get("store_credit")
    answers = at_once([lambda: gateway.refund(charge=charge, amount=30, idempotency_key="k")] * 6)
    assert len(set(answers)) == 1
    assert (credit(), StoreCreditEntry.objects.count()) == (30, 1)
    assert gateway.find(charge=charge, idempotency_key="k") == answers[0]


def test_the_same_key_for_another_sum_is_refused_and_credits_nothing() -> None:
    charge = charge_of(cast.payment(order_paid_twice(), 2))
    gateway = gateways.get("store_credit")
    gateway.refund(charge=charge, amount=30, idempotency_key="k")
    with pytest.raises(GatewayRefused) as caught:
        gateway.refund(charge=charge, amount=20, idempotency_key="k")
    assert (caught.value.code, credit()) == ("reference_reused", 30)


def test_a_card_that_refuses_leaves_the_credit_paid_and_staff_send_the_rest_again() -> None:
    order = order_paid_twice("6902")
    SimulatedFault.objects.create(kind="refuse", seconds=0, charge_ref=cast.payment(order).pk)
    refund = pending_refund(order, (1, 2, "other"))
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), credit()) == (RefundState.FAILED, [], 30)
    assert dict(refund.allocations.values_list("amount", "state")) == {
        50: AllocationState.FAILED,
        30: AllocationState.SUCCEEDED,
    }
    retry.retry(refund_id=refund.pk, actor=cast.staff())
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), credit()) == (RefundState.SUCCEEDED, [50], 30)


def test_a_refund_to_the_card_that_is_refused_goes_to_store_credit_when_staff_choose_so() -> None:
    order = order_paid_twice("6904", credit=40)
    SimulatedFault.objects.create(kind="refuse", seconds=0, charge_ref=cast.payment(order).pk)
    refund = pending_refund(order, (1, 1, "other"))
    tasks.send_refund(refund.pk)
    retry.retry(refund_id=refund.pk, actor=cast.staff(), payment_id=cast.payment(order, 2).pk)
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), credit()) == (RefundState.SUCCEEDED, [], 40)
    assert [cast.payment(order, position).refunded_amount for position in (1, 2)] == [0, 40]
