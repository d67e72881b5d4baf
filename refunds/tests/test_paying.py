"""The gateway pays, refuses, dawdles or falls silent, and the refund says what is known: never more, never less."""

import pytest
from django.db import IntegrityError, transaction

from orders.errors import Refusal
from orders.models import AuditEvent, Payment
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import gateways, send, tasks
from refunds.charges import charge_of
from refunds.gateways.base import GatewayRefused
from refunds.models import GatewayAttempt, RefundAllocation, RefundQuote, SimulatedFault
from refunds.states import AllocationState, RefundState
from refunds.tests.ask import ask
from refunds.tests.paying import outcomes, paid_out, pending_refund, state_of, switch_on

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_gateway_pays_and_the_refund_has_succeeded() -> None:
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), outcomes()) == (RefundState.SUCCEEDED, [230], [(1, "succeeded")])
    attempt = GatewayAttempt.objects.get()
    assert attempt.idempotency_key == f"{attempt.allocation_id}-1"
    assert attempt.provider_refund_id
    refund.refresh_from_db()
    assert refund.finished_at


def test_the_job_delivered_twice_pays_once() -> None:
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    tasks.send_refund(refund.pk)
    assert paid_out() == [230]
    assert outcomes() == [(1, "succeeded")]


def test_a_refusal_is_a_failure_and_the_goods_stay_cancelled() -> None:
    switch_on("refuse")
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), outcomes()) == (RefundState.FAILED, [], [(1, "refused")])
    assert cast.line(refund.order, 2).cancelled_quantity == 1
    assert cast.payment(refund.order).refunded_amount == 230


def test_a_failed_refund_is_not_sent_again_by_itself() -> None:
    switch_on("refuse")
    refund = pending_refund()
    for _ in range(3):
        tasks.send_refund(refund.pk)
        tasks.sweep()
    assert outcomes() == [(1, "refused")]


def test_a_slow_answer_is_waited_for() -> None:
    switch_on("slow")
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out()) == (RefundState.SUCCEEDED, [230])


@pytest.mark.parametrize(("fault", "really_paid"), [("timeout_after", [230]), ("timeout_before", [])])
def test_silence_is_neither_success_nor_failure_and_nobody_sends_again(fault: str, really_paid: list[int]) -> None:
    switch_on(fault)
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), outcomes()) == (RefundState.UNKNOWN, really_paid, [(1, "unknown")])


def test_a_refund_to_two_payments_that_half_fails_has_failed_and_says_which_half() -> None:
    payments = [payment_body(50), payment_body(30, external_id="p2", method="wallet", last4="")]
    order = cast.place("6201", lines=[("杯", 40, 2)], payments=payments)
    SimulatedFault.objects.create(kind="refuse", seconds=0, charge_ref=cast.payment(order, 2).pk)
    refund = pending_refund(order, (1, 2, "other"))
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out()) == (RefundState.FAILED, [50])
    states = dict(RefundAllocation.objects.values_list("amount", "state"))
    assert states == {50: AllocationState.SUCCEEDED, 30: AllocationState.FAILED}


def test_doubt_about_one_half_is_doubt_about_the_refund_until_it_is_resolved() -> None:
    payments = [payment_body(50), payment_body(30, external_id="p2", method="wallet", last4="")]
    order = cast.place("6202", lines=[("杯", 40, 2)], payments=payments)
    SimulatedFault.objects.create(kind="timeout_after", seconds=0, charge_ref=cast.payment(order, 1).pk)
    refund = pending_refund(order, (1, 2, "other"))
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.UNKNOWN
    tasks.sweep()
    assert (state_of(refund), paid_out()) == (RefundState.SUCCEEDED, [50, 30])


def test_a_payment_through_a_gateway_that_is_not_connected_fails_before_anything_is_sent() -> None:
    refund = pending_refund()
    Payment.objects.update(provider="elsewhere")
    tasks.send_refund(refund.pk)
    assert (state_of(refund), outcomes()) == (RefundState.FAILED, [(1, "refused")])
    assert GatewayAttempt.objects.get().code == "no_gateway"


def test_a_payment_that_no_gateway_can_pay_is_refused_in_the_moment_it_is_begun() -> None:
    """So that a worker that dies between the beginning and the call leaves nothing that can never be resolved."""
    refund = pending_refund()
    Payment.objects.update(provider="elsewhere")
    assert send.claim_allocation(refund.allocations.get().pk) is None
    assert (state_of(refund), outcomes()) == (RefundState.FAILED, [(1, "refused")])


def test_an_order_whose_payment_provider_is_not_connected_is_taken_in_and_quoting_it_needs_a_person() -> None:
    order = cast.place("6203", payments=[{**payment_body(1580), "provider": "elsewhere"}])
    with pytest.raises(Refusal) as caught:
        ask(order, (1, 1, "other"))
    assert caught.value.code == "needs_a_person"
    assert not RefundQuote.objects.exists()


def test_a_gateway_is_never_called_inside_a_transaction() -> None:
    claim = send.claim_allocation(pending_refund().allocations.get().pk)
    assert claim is not None
    with pytest.raises(RuntimeError), transaction.atomic():
        send.deliver(claim)
    assert paid_out() == []


def test_the_gateway_pays_a_key_once_and_a_charge_no_more_than_it_took() -> None:
    payment = cast.payment(cast.order_5531())
    gateway = gateways.get("simulated")
    charge = charge_of(payment)
    first = gateway.refund(charge=charge, amount=1000, idempotency_key="k1")
    assert gateway.refund(charge=charge, amount=1000, idempotency_key="k1") == first
    assert gateway.find(charge=charge, idempotency_key="k1") == first
    for amount, key, code in (
        (431, "k2", "amount_too_large"),
        (999, "k1", "key_reused"),
        (0, "k3", "amount_too_large"),
    ):
        with pytest.raises(GatewayRefused) as caught:
            gateway.refund(charge=charge, amount=amount, idempotency_key=key)
        assert caught.value.code == code
    assert gateway.find(charge=charge, idempotency_key="k2") is None
    assert paid_out() == [1000]


def test_the_database_knows_no_second_attempt_while_the_first_is_not_refused() -> None:
    """The last line of defence against paying under two keys."""
    tasks.send_refund(pending_refund().pk)
    first = GatewayAttempt.objects.get()
    for outcome in ("succeeded", "sending", "unknown"):
        GatewayAttempt.objects.update(outcome=outcome)
        second = GatewayAttempt(
            allocation=first.allocation,
            payment=first.payment,
            number=2,
            idempotency_key="k",
            provider="simulated",
            started_at=first.started_at,
        )
        with pytest.raises(IntegrityError, match="one_attempt_not_refused"):
            second.save(force_insert=True)


def test_every_step_of_the_money_is_in_the_audit() -> None:
    switch_on("timeout_after")
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    tasks.sweep()
    actions = list(AuditEvent.objects.filter(subject_type__in=["refund", "gateway_attempt"]).order_by("pk"))
    assert [event.action for event in actions] == [
        "refund.pending",
        "attempt.sending",
        "attempt.unknown",
        "refund.unknown",
        "attempt.succeeded",
        "refund.succeeded",
    ]
