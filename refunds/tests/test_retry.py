"""A person sends a failed refund again: as a new attempt, to the same payment or to another one of the order."""

from datetime import timedelta

import pytest
from django.utils import timezone

from orders.actors import NotAllowed
from orders.errors import Refusal
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import selectors, tasks
from refunds.models import GatewayAttempt, Refund
from refunds.retry import retry
from refunds.states import RefundState
from refunds.tests.paying import outcomes, paid_out, pending_refund, state_of, switch_on, time_passes

pytestmark = pytest.mark.django_db(transaction=True)


def failed_refund(order: Order | None = None) -> Refund:
    switch_on("refuse")
    refund = pending_refund(order, (2, 1, "other"))
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.FAILED
    return refund


def order_with_two_payments(method: str = "bank_transfer") -> Order:
    payments = [payment_body(1000), payment_body(580, external_id="p2", method=method, last4="")]
    return cast.place("6401", payments=payments)


def test_it_is_the_same_refund_with_a_new_attempt_and_a_new_key() -> None:
    refund = failed_refund()
    retry(refund_id=refund.pk, actor=cast.staff(), note="客人要求")
    assert state_of(refund) == RefundState.PENDING
    tasks.send_refund(refund.pk)
    assert (state_of(refund), paid_out(), outcomes()) == (
        RefundState.SUCCEEDED,
        [230],
        [(1, "refused"), (2, "succeeded")],
    )
    assert len(set(GatewayAttempt.objects.values_list("idempotency_key", flat=True))) == 2
    assert cast.payment(refund.order).refunded_amount == 230


def test_it_can_go_to_another_payment_that_has_enough_left() -> None:
    order = order_with_two_payments()
    refund = failed_refund(order)
    other = cast.payment(order, 2)
    retry(refund_id=refund.pk, actor=cast.staff(), payment_id=other.pk)
    tasks.send_refund(refund.pk)
    assert state_of(refund) == RefundState.SUCCEEDED
    assert [cast.payment(order, position).refunded_amount for position in (1, 2)] == [0, 380]


@pytest.mark.parametrize("payment_id", ["pay_00000000000000000000", "\x00", "cash_on_delivery", "full"])
def test_a_payment_that_cannot_take_it_is_refused_and_nothing_changes(payment_id: str) -> None:
    order = order_with_two_payments("cash_on_delivery" if payment_id == "cash_on_delivery" else "wallet")
    refund = failed_refund(order)
    other = cast.payment(order, 2)
    if payment_id == "full":
        other.refunded_amount = 300
        other.save(update_fields=["refunded_amount"])
    wanted = other.pk if payment_id in {"cash_on_delivery", "full"} else payment_id
    with pytest.raises(Refusal) as caught:
        retry(refund_id=refund.pk, actor=cast.staff(), payment_id=wanted)
    assert (caught.value.code, caught.value.field) == ("payment_cannot_take", "payment_id")
    assert state_of(refund) == RefundState.FAILED
    assert cast.payment(order, 1).refunded_amount == 380


def half_refused(order: Order | None = None) -> Refund:
    """Of two parts the first was refused, and of the second nobody knows what became of it."""
    refund = pending_refund(order or order_with_two_payments(), (1, 1, "other"), (2, 1, "other"))
    for fault in ("refuse", "timeout_after"):
        switch_on(fault)
    tasks.send_refund(refund.pk)
    assert parts_of(refund) == ["failed", "unknown"]
    return refund


def parts_of(refund: Refund) -> list[str]:
    return list(refund.allocations.order_by("position").values_list("state", flat=True))


def test_a_refused_part_is_seen_and_sent_again_while_another_is_still_in_doubt() -> None:
    refund = half_refused()
    assert list(selectors.needs_a_look()) == [refund]
    retry(refund_id=refund.pk, actor=cast.staff())
    assert (state_of(refund), parts_of(refund)) == (RefundState.PENDING, ["pending", "unknown"])
    tasks.send_refund(refund.pk)
    assert (state_of(refund), parts_of(refund)) == (RefundState.UNKNOWN, ["succeeded", "unknown"])
    assert outcomes() == [(1, "refused"), (2, "succeeded"), (1, "unknown")]  # and what is in doubt is not sent again
    time_passes(60)
    tasks.sweep()
    assert (state_of(refund), sorted(paid_out())) == (RefundState.SUCCEEDED, [580, 1000])
    assert not selectors.needs_a_look().exists()


def test_a_refused_part_is_sent_again_while_another_waits_for_its_time() -> None:
    refund = half_refused()
    refund.allocations.filter(state="unknown").update(state="pending", not_before=timezone.now() + timedelta(hours=9))
    Refund.objects.filter(pk=refund.pk).update(state=RefundState.PENDING)
    assert list(selectors.needs_a_look()) == [refund]
    retry(refund_id=refund.pk, actor=cast.staff())
    assert (state_of(refund), parts_of(refund)) == (RefundState.PENDING, ["pending", "pending"])


@pytest.mark.parametrize("state", ["pending_approval", "rejected", "expired"])
def test_what_waits_for_a_second_person_or_was_let_go_of_is_not_sent(state: str) -> None:
    refund = half_refused()
    Refund.objects.filter(pk=refund.pk).update(state=state)
    with pytest.raises(Refusal) as caught:
        retry(refund_id=refund.pk, actor=cast.staff())
    assert (caught.value.code, parts_of(refund)) == ("wrong_state", ["failed", "unknown"])


def test_a_refund_that_has_not_failed_cannot_be_sent_again() -> None:
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    with pytest.raises(Refusal) as caught:
        retry(refund_id=refund.pk, actor=cast.staff())
    assert caught.value.code == "wrong_state"
    assert paid_out() == [230]


@pytest.mark.parametrize("actor", ["auditor", "warehouse", "customer"])
def test_it_needs_the_permission(actor: str) -> None:
    refund = failed_refund()
    with pytest.raises(NotAllowed):
        retry(refund_id=refund.pk, actor=cast.shopper() if actor == "customer" else cast.staff(actor))
