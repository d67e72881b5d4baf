"""Large refunds wait for a second person: they hold goods and money until a yes, a no, or seven days of neither."""

from datetime import timedelta

import pytest
from django.utils import timezone

from orders.actors import NotAllowed
from orders.errors import InvalidInput, Refusal
from orders.models import Order
from orders.tests import cast
from refunds import release, tasks
from refunds.approvals import approve, reject
from refunds.models import Refund
from refunds.redeem import redeem
from refunds.states import RefundState
from refunds.tests.ask import ask

pytestmark = pytest.mark.django_db


def large_order() -> Order:
    return cast.place("6501", lines=[("音響", 30_000, 1), ("線", 500, 1)])


def waiting_refund(order: Order | None = None) -> Refund:
    """A refund of 30,000, confirmed by the customer."""
    quote = ask(order or large_order(), (1, 1, "changed_mind"))
    refund = redeem(quote_id=quote.pk, actor=cast.shopper()).refund
    assert refund is not None
    return refund


def test_above_the_policys_amount_it_waits_and_holds_goods_and_money() -> None:
    refund = waiting_refund()
    assert refund.state == RefundState.PENDING_APPROVAL
    assert cast.line(refund.order, 1).cancelled_quantity == 1
    assert cast.payment(refund.order).refunded_amount == 30_000


def test_exactly_the_policys_amount_needs_no_second_person() -> None:
    order = cast.place("6502", lines=[("音響", 20_000, 1)])
    refund = redeem(quote_id=ask(order, (1, 1, "other")).pk, actor=cast.shopper()).refund
    assert refund is not None
    assert refund.state == RefundState.PENDING


def test_while_it_waits_it_is_not_sent() -> None:
    refund = waiting_refund()
    tasks.send_refund(refund.pk)
    assert not refund.allocations.get().attempts.exists()


def test_while_it_waits_it_counts_as_spent() -> None:
    refund = waiting_refund()
    assert ask(refund.order, (2, 1, "other")).amount == 500


def test_approved_it_is_on_its_way() -> None:
    refund = approve(refund_id=waiting_refund().pk, actor=cast.staff("supervisor"), reason="查證過")
    assert (refund.state, refund.decided_by, refund.decision_reason) == (
        RefundState.PENDING,
        cast.staff_user("supervisor"),
        "查證過",
    )


def test_rejected_it_lets_go_of_goods_and_money_and_can_be_asked_for_anew() -> None:
    refund = reject(refund_id=waiting_refund().pk, actor=cast.staff("supervisor"), reason="不符規定")
    assert refund.state == RefundState.REJECTED
    assert cast.line(refund.order, 1).cancelled_quantity == 0
    assert cast.payment(refund.order).refunded_amount == 0
    assert ask(refund.order, (1, 1, "other")).amount == 30_000


def test_a_no_needs_a_reason() -> None:
    refund = waiting_refund()
    with pytest.raises(InvalidInput) as caught:
        reject(refund_id=refund.pk, actor=cast.staff("supervisor"), reason="")
    assert caught.value.field == "reason"


def test_whoever_confirmed_it_cannot_decide_about_it() -> None:
    boss = cast.staff("supervisor")
    refund = redeem(quote_id=ask(large_order(), (1, 1, "other")).pk, actor=boss, note="來電").refund
    assert refund is not None
    for decide in (approve, reject):
        with pytest.raises(Refusal) as caught:
            decide(refund_id=refund.pk, actor=boss, reason="我自己")
        assert caught.value.code == "own_decision"


def test_whoever_asked_for_the_quote_cannot_decide_about_it() -> None:
    boss = cast.staff("supervisor")
    quote = ask(large_order(), (1, 1, "other"), actor=boss)
    refund = redeem(quote_id=quote.pk, actor=cast.staff(), note="來電").refund
    assert refund is not None
    with pytest.raises(Refusal) as caught:
        approve(refund_id=refund.pk, actor=boss)
    assert caught.value.code == "own_decision"


@pytest.mark.parametrize("role", ["staff", "auditor", "warehouse", "customer"])
def test_it_needs_the_permission(role: str) -> None:
    refund = waiting_refund()
    with pytest.raises(NotAllowed):
        approve(refund_id=refund.pk, actor=cast.shopper() if role == "customer" else cast.staff(role))


def test_what_is_decided_stays_decided() -> None:
    refund = waiting_refund()
    approve(refund_id=refund.pk, actor=cast.staff("supervisor"))
    with pytest.raises(Refusal) as caught:
        reject(refund_id=refund.pk, actor=cast.staff("supervisor"), reason="後悔")
    assert caught.value.code == "wrong_state"
    assert cast.payment(refund.order).refunded_amount == 30_000


def test_after_seven_days_without_an_answer_it_expires_and_lets_go() -> None:
    refund = waiting_refund()
    assert release.expire_approvals() == 0
    Refund.objects.update(created_at=timezone.now() - timedelta(days=7, seconds=1))
    assert release.expire_approvals() == 1
    refund.refresh_from_db()
    assert refund.state == RefundState.EXPIRED
    assert cast.payment(refund.order).refunded_amount == 0
    assert cast.line(refund.order, 1).cancelled_quantity == 0
