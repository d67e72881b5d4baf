"""Decisions and proposals at the same moment, on real connections: one of two wins, and the cap is kept."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from orders.errors import Refusal
from orders.models import AuditEvent, Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from orders.tests.race import at_once
from refunds import approvals, compensation, elsewhere, overrides, release
from refunds.models import Approval, Refund, RefundPolicy, Return
from refunds.redeem import redeem
from refunds.states import ApprovalState, RefundKind
from refunds.tests.ask import ask, choices

pytestmark = pytest.mark.django_db(transaction=True)


def proposal(order: Order, amount: int, ref: str) -> Callable[[], Approval]:
    """To be made later, by a member of staff who exists already."""
    actor = cast.staff()
    return partial(compensation.propose, order=order, amount=amount, reason="遲到", actor=actor, request_ref=ref)


def both(actions: Sequence[Callable[[], object]]) -> list[object]:
    """Different things at once."""
    return at_once(actions)


def codes(answers: Sequence[object]) -> list[str]:
    """What each was told: `done`, or the code of its refusal. Anything else fails the test."""
    told = []
    for answer in answers:
        assert isinstance(answer, Approval | Refusal), repr(answer)
        told.append(answer.code if isinstance(answer, Refusal) else "done")
    return sorted(told)


@pytest.mark.parametrize("round_", range(3))
def test_of_a_yes_and_a_no_at_once_one_wins_and_the_other_is_told(round_: int) -> None:
    order = cast.order_5531()
    approval = proposal(order, 100, "c1")()
    one, other = cast.staff("supervisor"), cast.staff("admin")
    answers = at_once(
        [
            partial(approvals.approve, approval_id=approval.pk, actor=one),
            partial(approvals.reject, approval_id=approval.pk, actor=other, reason="不行"),
        ]
    )
    assert codes(answers) == ["done", "wrong_state"]
    approval.refresh_from_db()
    paid = Refund.objects.filter(kind=RefundKind.COMPENSATION).count()
    assert paid == (approval.state == ApprovalState.APPROVED)
    assert cast.payment(order).refunded_amount == 100 * paid
    assert AuditEvent.objects.filter(subject_id=approval.pk).count() == 2


def test_many_approvals_at_once_pay_a_compensation_once() -> None:
    order = cast.order_5531()
    approval = proposal(order, 100, "c1")()
    answers = at_once([partial(approvals.approve, approval_id=approval.pk, actor=cast.staff("supervisor"))] * 8)
    assert codes(answers) == ["done", *["wrong_state"] * 7]
    assert Refund.objects.count() == 1
    assert cast.payment(order).refunded_amount == 100


def test_a_decision_and_the_sweeper_at_once_leave_one_end() -> None:
    approval = proposal(cast.order_5531(), 100, "c1")()
    Approval.objects.update(expires_at=approval.created_at)
    reject = partial(approvals.reject, approval_id=approval.pk, actor=cast.staff("supervisor"), reason="不行")
    both([reject, release.expire_approvals])
    assert (
        AuditEvent.objects.filter(subject_id=approval.pk, action__in=["approval.rejected", "approval.expired"]).count()
        == 1
    )


def test_proposals_at_once_keep_the_cap() -> None:
    """The order's lock is what keeps it: without it both read that nothing is used yet."""
    order = cast.order_5531()
    cap = RefundPolicy.objects.get(currency="TWD", version=1).compensation_cap
    answers = at_once([proposal(order, cap - 100, f"c{number}") for number in range(4)])
    assert codes(answers) == ["above_compensation_cap"] * 3 + ["done"]
    assert compensation.room(order).used == cap - 100


def test_the_same_proposal_at_once_is_one() -> None:
    order = cast.order_5531()
    assert codes(at_once([proposal(order, 10, "c1")] * 6)) == ["done"] * 6
    assert Approval.objects.count() == 1


def test_an_exception_approved_while_its_goods_are_refunded_elsewhere_is_not_paid_twice() -> None:
    order = cast.order_5531(shipments=[shipment_body({1: 1, 2: 1})])
    cast.delivered_days_ago(order, 10)
    approval = overrides.ask(order=order, choices=choices((1, 1, "changed_mind")), reason="老客人", actor=cast.staff())
    body = {
        "external_ref": "re_1",
        "amount": 1050,
        "payment_id": cast.payment(order).pk,
        "note": "退了",
        "lines": [{"line_item_id": "li_1", "quantity": 1}],
    }
    both(
        [
            partial(approvals.approve, approval_id=approval.pk, actor=cast.staff("supervisor")),
            partial(elsewhere.record, order=order, body=body, actor=cast.staff("supervisor")),
        ]
    )
    assert Return.objects.count() + Refund.objects.count() == 1
    line = cast.shipment_line(order, 1)
    assert line.returning_quantity + line.refunded_quantity == 1


def test_the_same_number_booked_at_once_is_one_refund() -> None:
    order = cast.order_5531()
    body = {"external_ref": "re_1", "amount": 230, "payment_id": cast.payment(order).pk, "note": "退了"}
    answers = at_once([partial(elsewhere.record, order=order, body=body, actor=cast.staff("supervisor"))] * 6)
    assert {answer.pk for answer in answers if isinstance(answer, Refund)} == {Refund.objects.get().pk}
    assert len([answer for answer in answers if isinstance(answer, Refund)]) == 6
    assert cast.payment(order).refunded_amount == 230


def test_money_paid_elsewhere_and_a_press_at_once_never_come_to_more_than_was_paid() -> None:
    order = cast.order_5531(shipments=[])
    quote = ask(order, (1, 1, "other"), (2, 1, "other"))
    body = {
        "external_ref": "re_1",
        "amount": 1430,
        "payment_id": cast.payment(order).pk,
        "note": "退了",
        "lines": [{"line_item_id": "li_1", "quantity": 1}, {"line_item_id": "li_2", "quantity": 1}],
    }
    both(
        [
            partial(redeem, quote_id=quote.pk, actor=cast.shopper()),
            partial(elsewhere.record, order=order, body=body, actor=cast.staff("supervisor")),
        ]
    )
    assert [refund.amount for refund in Refund.objects.all()] == [1430]
    assert cast.payment(order).left == 0
