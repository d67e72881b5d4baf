"""Compensation: proposed by staff or the agent, paid after a second person has said yes, never part of the goods."""

from typing import Any

import pytest
from django.utils import translation

from orders.actors import Actor, NotAllowed, agent_actor
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.factories import payment_body, shipment_body
from refunds import approvals, compensation, release, tasks
from refunds.models import Approval, Refund, RefundPolicy
from refunds.redeem import redeem
from refunds.states import ApprovalKind, ApprovalState, RefundKind, RefundState
from refunds.tests.ask import ask

pytestmark = pytest.mark.django_db


def propose(
    order: Order, amount: Any = 100, *, actor: Actor | None = None, ref: str = "call_1", **more: Any
) -> Approval:
    return compensation.propose(
        order=order, amount=amount, reason="包裹遲到", actor=actor or cast.staff(), request_ref=ref, **more
    )


def agent(who: str = "ming") -> Actor:
    return agent_actor(cast.customer(who))


def approved(approval: Approval) -> Refund:
    refund = approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor"), reason="合理").refund
    assert refund is not None
    return refund


def test_a_proposal_holds_nothing_and_pays_nothing() -> None:
    order = cast.order_5531()
    approval = propose(order, actor=agent(), conversation_ref="17")
    assert (approval.kind, approval.state, approval.amount) == (ApprovalKind.COMPENSATION, ApprovalState.WAITING, 100)
    assert (approval.asked_by_kind, approval.asked_by, approval.conversation_ref) == ("agent", None, "17")
    assert not Refund.objects.exists()
    assert cast.payment(order).refunded_amount == 0


def test_approved_it_is_a_refund_of_its_own_kind_that_is_sent() -> None:
    order = cast.order_5531()
    refund = approved(propose(order))
    assert (refund.kind, refund.quote, refund.state) == (RefundKind.COMPENSATION, None, RefundState.PENDING)
    assert (refund.confirmed_by, refund.decided_by) == (cast.staff_user(), cast.staff_user("supervisor"))
    assert (refund.note, refund.decision_reason) == ("包裹遲到", "合理")
    assert [(part.payment, part.amount) for part in refund.allocations.all()] == [(cast.payment(order), 100)]
    assert cast.payment(order).refunded_amount == 100
    assert AuditEvent.objects.filter(action="refund.pending", subject_id=refund.pk).count() == 1


@pytest.mark.django_db(transaction=True)
def test_it_is_paid_by_the_gateway_like_any_other_refund() -> None:
    refund = approved(propose(cast.order_5531()))
    tasks.send_refund(refund.pk)
    refund.refresh_from_db()
    assert refund.state == RefundState.SUCCEEDED


def test_rejected_it_leaves_nothing_but_its_history() -> None:
    approval = propose(cast.order_5531())
    rejected = approvals.reject(approval_id=approval.pk, actor=cast.staff("supervisor"), reason="沒有理由")
    assert (rejected.state, rejected.decision_reason) == (ApprovalState.REJECTED, "沒有理由")
    assert not Refund.objects.exists()


def test_undecided_for_seven_days_it_expires() -> None:
    approval = propose(cast.order_5531())
    Approval.objects.update(expires_at=approval.created_at)
    assert release.expire_approvals() == 1
    approval.refresh_from_db()
    assert (approval.state, approval.decided_by) == (ApprovalState.EXPIRED, None)
    assert not Refund.objects.exists()


def test_who_proposed_it_does_not_approve_it() -> None:
    approval = propose(cast.order_5531(), actor=cast.staff("supervisor"))
    with pytest.raises(Refusal) as caught:
        approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor"))
    assert caught.value.code == "own_decision"
    assert not Refund.objects.exists()


@pytest.mark.parametrize("actor", [cast.shopper, lambda: cast.staff("warehouse"), lambda: cast.staff("auditor")])
def test_customers_and_staff_without_the_permission_propose_nothing(actor: Any) -> None:
    with pytest.raises(NotAllowed):
        propose(cast.order_5531(), actor=actor())
    assert not Approval.objects.exists()


def test_to_the_agent_of_another_customer_the_order_does_not_exist() -> None:
    with pytest.raises(NotFound):
        propose(cast.order_5531(), actor=agent("ming2"))


@pytest.mark.parametrize("amount", [0, -1, 1.5, "100", True, None, 10**13])
def test_the_amount_is_a_whole_number_of_at_least_one_and_named_as_the_caller_names_it(amount: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        propose(cast.order_5531(), amount, field="compensation_ntd")
    assert caught.value.field == "compensation_ntd"


def test_it_needs_a_reason() -> None:
    with pytest.raises(InvalidInput) as caught:
        compensation.propose(order=cast.order_5531(), amount=1, reason=" ", actor=cast.staff(), request_ref="call_1")
    assert caught.value.field == "reason"


def test_asking_again_under_the_same_reference_is_the_same_proposal() -> None:
    order = cast.order_5531()
    assert propose(order) == propose(order)
    assert Approval.objects.count() == 1


def test_a_reference_that_meant_something_else_is_refused() -> None:
    order = cast.order_5531()
    propose(order, 100)
    with pytest.raises(Refusal) as caught:
        propose(order, 50)
    assert caught.value.code == "reference_reused"


def test_an_agent_that_calls_three_times_in_its_own_words_has_proposed_once() -> None:
    order = cast.order_5531()
    said: dict[str, Any] = {"order": order, "amount": 100, "actor": agent(), "conversation_ref": "17"}
    made = [compensation.propose(**said, reason=f"遲到 {ref}", request_ref=ref) for ref in ("tc_1", "tc_2", "tc_3")]
    assert made == [Approval.objects.get()] * 3
    assert AuditEvent.objects.filter(action="approval.waiting").count() == 1


def test_another_amount_while_one_waits_is_refused_and_names_what_waits() -> None:
    order = cast.order_5531()
    first = propose(order, 100, actor=agent(), conversation_ref="17")
    with translation.override("en"), pytest.raises(Refusal) as caught:
        propose(order, 150, actor=agent(), conversation_ref="17", ref="call_2", field="compensation_ntd")
    assert (caught.value.code, caught.value.field) == ("proposal_waits", "compensation_ntd")
    assert "A proposal of NT$100 waits already" in caught.value.message
    assert caught.value.details["approval_id"] == first.pk
    assert compensation.room(order).used == 100


def test_after_the_decision_the_same_can_be_proposed_anew() -> None:
    order = cast.order_5531()
    first = propose(order, 100, actor=agent(), conversation_ref="17")
    approvals.reject(approval_id=first.pk, actor=cast.staff("supervisor"), reason="沒有理由")
    assert propose(order, 100, actor=agent(), conversation_ref="17", ref="call_2") != first


def test_staff_and_other_conversations_propose_beside_it() -> None:
    order = cast.order_5531()
    propose(order, 100, actor=agent(), conversation_ref="17")
    propose(order, 100, actor=agent(), conversation_ref="18", ref="call_2")
    for ref in ("a", "b"):
        propose(order, 50, ref=ref)
    assert Approval.objects.count() == 4


def test_what_waits_and_what_was_paid_count_towards_the_cap_and_what_was_rejected_does_not() -> None:
    order = cast.order_5531()
    cap = RefundPolicy.objects.get(currency="TWD", version=1).compensation_cap
    assert compensation.room(order) == compensation.Room(cap=cap, used=0)
    approved(propose(order, 100, ref="a"))
    propose(order, cap - 150, ref="b")
    rejected = propose(order, 50, ref="c")
    approvals.reject(approval_id=rejected.pk, actor=cast.staff("supervisor"), reason="太多")
    with pytest.raises(Refusal) as caught:
        propose(order, 51, ref="d", field="compensation_ntd")
    assert (caught.value.code, caught.value.field) == ("above_compensation_cap", "compensation_ntd")
    assert caught.value.details["left"] == compensation.room(order).left == 50
    assert propose(order, 50, ref="e").amount == 50


def test_it_is_not_more_than_the_payments_have_left_after_what_is_promised() -> None:
    order = cast.place("7301", lines=[("線", 200, 1), ("殼", 60, 1)], shipments=[shipment_body({1: 1})])
    redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    with pytest.raises(Refusal) as caught:
        propose(order, 61)
    assert caught.value.code == "payments_have_less"
    assert propose(order, 60).amount == 60


def test_what_the_payments_have_left_is_looked_at_again_when_it_is_approved() -> None:
    order = cast.place("7302", lines=[("線", 200, 1)])
    approval = propose(order, 100)
    redeem(quote_id=ask(order, (1, 1, "other")).pk, actor=cast.shopper())
    with pytest.raises(Refusal) as caught:
        approvals.approve(approval_id=approval.pk, actor=cast.staff("supervisor"))
    approval.refresh_from_db()
    assert (caught.value.code, approval.state) == ("payments_have_less", ApprovalState.WAITING)
    assert not Refund.objects.filter(kind=RefundKind.COMPENSATION).exists()
    assert cast.payment(order).refunded_amount == 200


def test_no_machine_can_compensate_in_cash() -> None:
    order = cast.place("7303", payments=[payment_body(1580, method="cash_on_delivery", last4="")])
    with pytest.raises(Refusal) as caught:
        propose(order)
    assert caught.value.code == "needs_a_person"


def test_it_is_taken_from_the_payments_in_the_policys_order() -> None:
    payments = [
        payment_body(1530, external_id="credit", method="store_credit", last4=""),
        payment_body(50, external_id="card"),
    ]
    refund = approved(propose(cast.place("7304", payments=payments), 80))
    assert [(part.payment.method, part.amount) for part in refund.allocations.order_by("position")] == [
        ("card", 50),
        ("store_credit", 30),
    ]


def test_goods_come_to_the_same_before_and_after_a_compensation() -> None:
    order = cast.order_5531()
    before = ask(order, (2, 1, "other"))
    approved(propose(order))
    after = ask(order, (2, 1, "other"))
    assert (before.amount, before.steps) == (after.amount, after.steps) == (230, before.steps)


def test_what_waits_together_is_no_more_than_the_payments_have_left() -> None:
    order = cast.place("7305", lines=[("線", 200, 1)])
    propose(order, 150)
    with pytest.raises(Refusal) as caught:
        propose(order, 100, ref="another")
    assert caught.value.code == "payments_have_less"
    assert propose(order, 50, ref="another").amount == 50


def test_a_compensation_spoils_no_quote_that_somebody_is_about_to_confirm() -> None:
    order = cast.order_5531()
    quote = ask(order, (2, 1, "other"))
    approved(propose(order))
    refund = redeem(quote_id=quote.pk, actor=cast.shopper()).refund
    assert refund is not None
    assert (refund.amount, cast.payment(order).refunded_amount) == (230, 330)


def test_a_quote_that_the_payments_can_no_more_pay_is_spoilt() -> None:
    order = cast.place("7305", lines=[("線", 200, 1)])
    quote = ask(order, (1, 1, "other"))
    approved(propose(order))
    with pytest.raises(Refusal) as caught:
        redeem(quote_id=quote.pk, actor=cast.shopper())
    assert caught.value.code == "order_changed"


def test_where_goods_and_compensation_come_to_more_than_was_paid_the_quote_says_so() -> None:
    order = cast.place("7306", lines=[("線", 200, 1)])
    approved(propose(order, 100))
    quote = ask(order, (1, 1, "other"))
    assert quote.amount == 100
    assert [(step["code"], step["amount"]) for step in quote.steps] == [
        ("returned_goods", 200),
        ("payment_limit", -100),
    ]


def test_everything_given_back_comes_to_what_was_paid_with_the_compensation_on_top_of_nothing() -> None:
    order = cast.order_5531(shipments=[])
    approved(propose(order, 100))
    for position in (1, 2):
        redeem(quote_id=ask(order, (position, 1, "other")).pk, actor=cast.shopper())
    assert sum(Refund.objects.values_list("amount", flat=True)) == 1430
    assert cast.payment(order).left == 0
