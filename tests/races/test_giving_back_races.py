"""Different things asked of the same goods or the same money at the same moment, on real connections.

Those of one kind are where the kind is tested: quotes in `test_redeem_races.py`, returns, exchanges and replacements in
`refunds/tests/test_returns_races.py`, decisions and compensation in `refunds/tests/test_approvals_races.py`, reports of
a provider in `refunds/tests/test_webhooks.py`, policies in `test_policy_races.py`, take-in in
`orders/tests/test_take_in_races.py`. Here are the pairs between them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from orders import goods, store_credit
from orders.errors import Refusal
from orders.models import AuditEvent, Order, Payment
from orders.shipments import upsert_shipment
from orders.tests import cast
from orders.tests.factories import payment_body
from orders.tests.race import at_once
from refunds import acceptance, approvals, compensation, payout, resend, retry, returns, tasks
from refunds.models import Approval, GatewayAttempt, Refund, RefundPolicy, Replacement, Return
from refunds.redeem import Redeemed, redeem
from refunds.tests.ask import ask, choices
from refunds.tests.going_back import (
    earphones,
    exchange,
    lost_earphones,
    received_return,
    requested_return,
    states_of,
    warehouse,
)
from refunds.tests.paying import paid_out, pending_refund, state_of, switch_on

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = range(3)


def both(*actions: Callable[[], object]) -> list[object]:
    """What each gave, or the code of its refusal. Anything else fails the test."""
    answers: Sequence[object] = at_once(actions)
    for answer in answers:
        assert isinstance(answer, Refusal) or not isinstance(answer, Exception), repr(answer)
    return [answer.code if isinstance(answer, Refusal) else answer for answer in answers]


def given_back(order: Order) -> int:
    return sum(payment.refunded_amount for payment in Payment.objects.filter(order=order))


# --- compensation beside goods: one payment, two that want the rest of it -------------------------------------------


def order_with_little_left() -> tuple[Order, Approval]:
    """100 were paid, 60 of compensation wait, and the goods come to 100: together more than there is."""
    order = cast.place("7971", lines=[("書", 100, 1)])
    facts: dict[str, Any] = {"order": order, "amount": 60, "reason": "遲到", "actor": cast.staff()}
    return order, compensation.propose(**facts, request_ref="c1")


@contextmanager
def meeting_before_paying(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Both have worked out what they take before either takes it; whoever a lock keeps out is not waited for."""
    meeting, original = Barrier(2), payout._allocate

    def allocate(*given: Any) -> None:
        with suppress(BrokenBarrierError):
            meeting.wait(timeout=1)
        original(*given)

    with monkeypatch.context() as patch:
        patch.setattr(payout, "_allocate", allocate)
        yield


def press_and_approve(order: Order, approval: Approval) -> list[Callable[[], object]]:
    quote = ask(order, (1, 1, "other"))
    return [
        partial(redeem, quote_id=quote.pk, actor=cast.shopper()),
        partial(approvals.approve, approval_id=approval.pk, actor=cast.staff("supervisor")),
    ]


def test_goods_and_compensation_at_once_never_take_more_than_was_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    order, approval = order_with_little_left()
    with meeting_before_paying(monkeypatch):
        pressed, approved = both(*press_and_approve(order, approval))
    told = (pressed if isinstance(pressed, str) else "paid", approved if isinstance(approved, str) else "paid")
    assert told in {("paid", "payments_have_less"), ("order_changed", "paid")}
    assert given_back(order) == sum(Refund.objects.values_list("amount", flat=True)) in {100, 60}


def test_without_the_orders_lock_only_the_payment_itself_holds_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows the race: both believe that the payment has enough. It is the second line of defence that says no."""
    order, approval = order_with_little_left()
    actions = press_and_approve(order, approval)
    monkeypatch.setattr(goods, "lock_order", lambda order_id: Order.objects.get(pk=order_id))
    with meeting_before_paying(monkeypatch):
        pressed, approved = both(*actions)
    assert [answer for answer in (pressed, approved) if answer in {"order_busy", "payments_have_less"}]
    assert given_back(order) in {100, 60}


@pytest.mark.parametrize("number", ROUNDS)
def test_an_accepted_return_and_a_compensation_at_once_keep_to_the_payment(number: int) -> None:
    order = cast.place(f"798{number}", lines=[("書", 200, 1)])
    upsert_shipment(order=order, body=_parcel("delivered"), actor=warehouse())
    request = received_return(order, (1, 1, "changed_mind"))
    propose = partial(
        compensation.propose, order=order, amount=60, reason="遲到", actor=cast.staff(), request_ref=f"c{number}"
    )
    accepted, proposed = both(
        partial(acceptance.accept, return_id=request.pk, actor=warehouse()),
        propose,
    )
    assert isinstance(accepted, Return)
    assert proposed == "payments_have_less"
    assert given_back(order) == 200


def _parcel(state: str) -> dict[str, Any]:
    return {"external_id": "s1", "state": state, "lines": [{"line_item_id": "li_1", "quantity": 1}]}


# --- the same goods, wanted in two ways -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", ROUNDS)
def test_goods_are_returned_or_exchanged_and_never_both(number: int) -> None:
    order = earphones(1)
    quote = ask(order, (1, 1, "changed_mind"))
    pressed, exchanged = both(
        partial(redeem, quote_id=quote.pk, actor=cast.shopper()),
        partial(exchange, order, ref=f"card_{number}"),
    )
    assert isinstance(pressed, Redeemed) != isinstance(exchanged, Return)
    assert Return.objects.count() == 1
    assert states_of(order) in ({"returning": 1}, {"exchanging": 1})


@pytest.mark.parametrize("number", ROUNDS)
def test_lost_goods_are_refunded_or_sent_again_and_never_both(number: int) -> None:
    order = lost_earphones(1)
    quote = ask(order, (1, 1, "lost"))
    pressed, sent = both(
        partial(redeem, quote_id=quote.pk, actor=cast.shopper()),
        partial(
            resend.resend, order=order, lines=choices((1, 1, "lost")), actor=cast.shopper(), request_ref=f"c{number}"
        ),
    )
    assert isinstance(pressed, Redeemed) != isinstance(sent, Replacement)
    assert states_of(order) in ({"refunded": 1}, {"resending": 1})
    assert given_back(order) == (1200 if isinstance(pressed, Redeemed) else 0)


@pytest.mark.parametrize("number", ROUNDS)
def test_goods_that_arrive_while_they_are_refunded_as_lost_are_either(number: int) -> None:
    """Goods that arrive after they were taken for lost are delivered goods; once refunded they are refunded."""
    order = lost_earphones(1)
    quote = ask(order, (1, 1, "lost"))
    parcel = {"external_id": "s1", "state": "delivered"}
    pressed, _ = both(
        partial(redeem, quote_id=quote.pk, actor=cast.shopper()),
        partial(upsert_shipment, order=order, body=parcel, actor=warehouse()),
    )
    paid = isinstance(pressed, Redeemed)
    assert states_of(order) == ({"refunded": 1} if paid else {"delivered": 1})
    assert given_back(order) == (1200 if paid else 0)


@pytest.mark.parametrize("number", ROUNDS)
def test_two_returns_accepted_at_once_settle_the_order_once_each(number: int) -> None:
    order = earphones(3)
    requests = [requested_return(order, (1, 1, "changed_mind")), requested_return(order, (1, 2, "changed_mind"))]
    for request in requests:
        returns.receive(return_id=request.pk, actor=warehouse())
    both(*(partial(acceptance.accept, return_id=request.pk, actor=warehouse()) for request in requests))
    fee = RefundPolicy.objects.get(currency="TWD", version=1).return_fee
    assert given_back(order) == 3 * 1200 - fee
    assert states_of(order) == {"refunded": 3}


def test_an_accepted_return_and_a_second_quote_at_once_never_overpay() -> None:
    order = earphones(2)
    request = received_return(order, (1, 1, "changed_mind"))
    quote = ask(order, (1, 1, "changed_mind"))
    both(
        partial(acceptance.accept, return_id=request.pk, actor=warehouse()),
        partial(redeem, quote_id=quote.pk, actor=cast.shopper()),
    )
    assert given_back(order) == 1200
    assert states_of(order) in ({"refunded": 1, "returning": 1}, {"refunded": 1, "delivered": 1})


# --- money that is sent again ---------------------------------------------------------------------------------------


def failed_refund(**changes: Any) -> Refund:
    switch_on("refuse")
    refund = pending_refund(cast.order_5531(**changes))
    tasks.send_refund(refund.pk)
    assert state_of(refund) == "failed"
    return refund


def test_a_refused_refund_that_two_people_send_again_at_once_is_sent_once() -> None:
    refund = failed_refund()
    again = [partial(retry.retry, refund_id=refund.pk, actor=cast.staff(who)) for who in ("staff", "supervisor")]
    answers = both(*again)
    assert sorted(str(type(answer).__name__) for answer in answers) == ["Refund", "str"]
    assert "wrong_state" in answers
    at_once([partial(tasks.send_refund, refund.pk)] * 6)
    assert (state_of(refund), paid_out(), GatewayAttempt.objects.count()) == ("succeeded", [230], 2)


def test_two_people_who_choose_two_other_payments_at_once_hold_the_money_once() -> None:
    payments = [payment_body(1000), payment_body(400, external_id="p2"), payment_body(30, external_id="p3")]
    refund = failed_refund(payments=payments)
    order = refund.order
    first, second = cast.payment(order, 1), cast.payment(order, 2)
    both(
        partial(retry.retry, refund_id=refund.pk, actor=cast.staff(), payment_id=second.pk),
        partial(retry.retry, refund_id=refund.pk, actor=cast.staff("supervisor"), payment_id=first.pk),
    )
    assert given_back(order) == 230
    allocation = refund.allocations.get()
    assert Payment.objects.get(pk=allocation.payment_id).refunded_amount == 230
    assert AuditEvent.objects.filter(action="allocation.retried").count() == 1


def test_credit_that_is_spent_and_given_back_at_once_is_counted_in_full() -> None:
    payments = [payment_body(1030), payment_body(400, external_id="p2", method="store_credit", last4="")]
    order = cast.order_5531(payments=payments)
    customer = order.customer
    facts: dict[str, Any] = {"customer": customer, "currency": "TWD", "actor": cast.SHOP}
    store_credit.post(amount=100, kind="granted", reference="gift", **facts)
    spend = [partial(store_credit.post, amount=-60, kind="spent", reference=f"checkout {n}", **facts) for n in range(2)]
    answers = both(*spend, partial(store_credit.post, amount=30, kind="refunded", reference="r", **facts))
    spent = sum(answer != "not_enough_credit" for answer in answers[:2])
    assert store_credit.balance(customer, "TWD") == 130 - 60 * spent
    assert spent in {1, 2}
