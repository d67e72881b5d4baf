"""A part of a refund that no machine can pay is paid by a person, and counts as paid from then on."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from orders.actors import Actor, NotAllowed
from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent, Order, Payment
from orders.tests import cast
from orders.tests.factories import payment_body, shipment_body
from refunds import elsewhere, outcome, returns, selectors, tasks
from refunds.acceptance import accept
from refunds.by_hand import paid_by_hand
from refunds.models import Refund
from refunds.redeem import redeem
from refunds.retry import retry
from refunds.states import AllocationState, RefundState
from refunds.tests.ask import ask
from refunds.tests.browser import post_json, signed_in
from refunds.tests.paying import pending_refund, switch_on

pytestmark = pytest.mark.django_db(transaction=True)


def order_in_cash() -> Order:
    """The payment turned out to be cash on delivery after the return was promised."""
    order = cast.place("7701", lines=[("線", 500, 1)], shipments=[shipment_body({1: 1})])
    request = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).return_request
    assert request is not None
    Payment.objects.filter(order=order).update(method="cash_on_delivery", last4="")
    returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
    accept(return_id=request.pk, actor=cast.staff("warehouse"))
    return order


def failed() -> Refund:
    order_in_cash()
    refund = Refund.objects.get()
    tasks.send_refund(refund.pk)
    refund.refresh_from_db()
    assert refund.state == RefundState.FAILED
    return refund


def by_hand(refund: Refund, *, actor: Actor | None = None, **changes: Any) -> Refund:
    facts: dict[str, Any] = {"external_ref": "匯款 0412", "note": "今天匯了", **changes}
    return paid_by_hand(refund_id=refund.pk, actor=actor or cast.staff("supervisor"), **facts)


def test_what_no_machine_could_pay_counts_as_paid_once_a_person_has() -> None:
    refund = failed()
    assert list(selectors.needs_a_look()) == [refund]
    paid = by_hand(refund)
    assert (paid.state, paid.external_ref) == (RefundState.SUCCEEDED, "匯款 0412")
    assert [part.state for part in paid.allocations.all()] == [AllocationState.SUCCEEDED]
    assert not selectors.needs_a_look().exists()
    assert cast.payment(refund.order).refunded_amount == 500
    event = AuditEvent.objects.get(action="allocation.paid_by_hand")
    assert (event.actor_user, event.chosen["note"]) == (cast.staff_user("supervisor"), "今天匯了")


def test_it_is_neither_paid_by_hand_twice_nor_sent_afterwards() -> None:
    refund = by_hand(failed())
    acts: list[Callable[[], object]] = [
        partial(by_hand, refund, external_ref="匯款 0413"),
        partial(retry, refund_id=refund.pk, actor=cast.staff()),
    ]
    for act in acts:
        with pytest.raises(Refusal) as caught:
            act()
        assert caught.value.code == "wrong_state"


def test_told_once_more_under_its_number_it_is_the_same_payment() -> None:
    refund = by_hand(failed())
    assert by_hand(refund).state == RefundState.SUCCEEDED
    assert AuditEvent.objects.filter(action="allocation.paid_by_hand").count() == 1


def test_what_the_first_payment_has_got_stays_with_it() -> None:
    payments = [payment_body(100, external_id="p1"), payment_body(280, external_id="p2", method="wallet", last4="")]
    order = cast.place("7702", lines=[("殼", 380, 1)], payments=payments)
    refund = pending_refund(order, (1, 1, "other"))
    switch_on("refuse")
    tasks.send_refund(refund.pk)
    assert by_hand(refund).state == RefundState.SUCCEEDED
    assert AuditEvent.objects.filter(action="allocation.paid_by_hand").count() == 1


def half_refused() -> Refund:
    """The first of two payments takes it back no more; what became of the second part nobody knows."""
    payments = [payment_body(100, external_id="p1"), payment_body(280, external_id="p2", method="wallet", last4="")]
    refund = pending_refund(cast.place("7703", lines=[("殼", 380, 1)], payments=payments), (1, 1, "other"))
    for fault in ("refuse", "timeout_before"):
        switch_on(fault)
    tasks.send_refund(refund.pk)
    return refund


def test_the_refused_part_is_paid_by_hand_while_the_other_is_in_doubt_and_that_one_later() -> None:
    refund = half_refused()
    assert by_hand(refund).state == RefundState.UNKNOWN
    assert [part.state for part in refund.allocations.order_by("position")] == ["succeeded", "unknown"]
    outcome.record_refusal(refund.allocations.get(position=2).attempts.get(), started_at=None, code="no", message="")
    paid = by_hand(refund, external_ref="匯款 0415")
    assert (paid.state, paid.external_ref) == (RefundState.SUCCEEDED, "匯款 0412")
    assert [part.external_ref for part in paid.allocations.order_by("position")] == ["匯款 0412", "匯款 0415"]


@pytest.mark.parametrize("number", ["匯款 0412", "匯款 0415"])
def test_each_number_under_which_a_part_was_paid_is_known_and_booked_no_second_time(number: str) -> None:
    refund = half_refused()
    by_hand(refund)
    outcome.record_refusal(refund.allocations.get(position=2).attempts.get(), started_at=None, code="no", message="")
    with pytest.raises(Refusal) as caught:
        by_hand(refund)
    assert caught.value.code == "reference_reused"
    by_hand(refund, external_ref="匯款 0415")
    Payment.objects.filter(order=refund.order, external_id="p1").update(amount=500)
    body = {"external_ref": number, "amount": 100, "payment_id": cast.payment(refund.order, 2).pk, "note": "退了"}
    with pytest.raises(Refusal) as caught:
        elsewhere.record(order=refund.order, body=body, actor=cast.staff("supervisor"))
    assert (caught.value.code, Refund.objects.count()) == ("reference_reused", 1)


def test_only_a_refund_that_has_failed_is_paid_by_hand() -> None:
    with pytest.raises(Refusal) as caught:
        by_hand(pending_refund())
    assert caught.value.code == "wrong_state"


def test_a_number_that_another_refund_of_the_order_has_is_refused() -> None:
    refund = failed()
    Payment.objects.filter(order=refund.order).update(amount=600)
    body = {
        "external_ref": "匯款 0412",
        "amount": 100,
        "payment_id": cast.payment(refund.order).pk,
        "note": "退了",
        "lines": [],
        "for_goods": False,
    }
    elsewhere.record(order=refund.order, body=body, actor=cast.staff("supervisor"))
    with pytest.raises(Refusal) as caught:
        by_hand(refund)
    assert (caught.value.code, Refund.objects.get(pk=refund.pk).state) == ("reference_reused", RefundState.FAILED)


@pytest.mark.parametrize("actor", [cast.shopper, cast.staff, lambda: cast.staff("warehouse")])
def test_it_needs_the_permission(actor: Callable[[], Actor]) -> None:
    with pytest.raises(NotAllowed):
        by_hand(failed(), actor=actor())


def test_it_needs_a_note() -> None:
    with pytest.raises(InvalidInput) as caught:
        by_hand(failed(), note="")
    assert caught.value.field == "note"


def test_it_can_be_said_by_api() -> None:
    address = f"/api/v1/refunds/{failed().pk}/paid-by-hand/"
    body = {"external_ref": "匯款 0412", "note": "今天匯了"}
    assert post_json(signed_in("staff"), address, body).status_code == 403
    assert post_json(signed_in("supervisor"), address, {"note": "今天匯了"}).json()["field"] == "external_ref"
    answer = post_json(signed_in("supervisor"), address, body)
    assert (answer.status_code, answer.json()["state"]) == (200, "succeeded")
    assert post_json(signed_in("supervisor"), address, body).json() == answer.json()
    other = {**body, "external_ref": "匯款 0413"}
    assert post_json(signed_in("supervisor"), address, other).status_code == 409
