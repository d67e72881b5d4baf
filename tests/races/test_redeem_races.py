"""Presses at the same moment, on real connections: money moves once, and never more than one settlement allows.

The order's row lock is what guards this; the same test without it shows what would be paid.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from django.db import connection, connections

from orders import goods
from orders.errors import Refusal
from orders.models import AuditEvent, Order
from orders.shipments import pack_order
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, fixed_discount
from orders.tests.race import at_once
from refunds import approvals, ending, holding, reconcile, send, tasks
from refunds.models import GatewayAttempt, Refund, RefundQuote, SimulatedRefund
from refunds.redeem import Redeemed, redeem
from refunds.returns import request_exchange
from refunds.states import QuoteState, RefundState
from refunds.tests.ask import ask, choices
from refunds.tests.paying import paid_out, pending_refund, state_of, switch_on, time_passes

pytestmark = pytest.mark.django_db(transaction=True)


def sweep_of_another_process() -> None:
    """Every step, without the lock that lets it run once at a time within one process."""
    for step in tasks.STEPS:
        inspect.unwrap(step)()


@pytest.fixture
def connection_for_everybody() -> Iterator[None]:
    """A connection of its own for every thread: the pool would let forty in and keep the others waiting."""
    options = connections["default"].settings_dict["OPTIONS"]
    connection.close()
    pool = options.pop("pool")
    yield
    connection.close()
    options["pool"] = pool


def both(actions: Sequence[Callable[[], object]]) -> list[object]:
    """Two different things at once."""
    return at_once(actions)


def codes(answers: list[Any]) -> Counter[str]:
    """How often each answer came: `created`, `again`, or the code of a refusal. Anything else fails the test."""
    found: Counter[str] = Counter()
    for answer in answers:
        if isinstance(answer, Redeemed):
            found["created" if answer.created else "again"] += 1
        elif isinstance(answer, Refusal):
            found[answer.code] += 1
        else:
            raise AssertionError(f"unexpected answer: {answer!r}")
    return found


@pytest.mark.usefixtures("connection_for_everybody")
def test_a_hundred_presses_at_once_make_one_refund_and_one_gateway_call() -> None:
    quote = ask(cast.order_5531(), (2, 1, "late_delivery"))
    press = partial(redeem, quote_id=quote.pk)
    customers = [partial(press, actor=cast.shopper())] * 70
    members = [partial(press, actor=cast.staff(), note="客人來電")] * 30
    assert codes(at_once([*customers, *members])) == {"created": 1, "again": 99}
    refund = Refund.objects.get()
    assert cast.payment(quote.order).refunded_amount == 230
    assert cast.line(quote.order, 2).cancelled_quantity == 1
    assert AuditEvent.objects.filter(action="quote.redeemed").count() == 1

    sent = at_once([partial(tasks.send_refund, refund.pk)] * 20)
    assert not [answer for answer in sent if answer is not None]
    assert GatewayAttempt.objects.count() == SimulatedRefund.objects.count() == 1
    assert (state_of(refund), paid_out()) == (RefundState.SUCCEEDED, [230])


# 990 + 790 + 590, coupon 100 from 1,000, delivery free from 1,000. Cancelling the 790 or the 590 alone keeps both
# benefits. Both together leave 990: the coupon is lost and shipping is due, so one settlement allows 1,380 − 180.
BLIND = 790 + 590
ALLOWED = BLIND - 100 - 80


def order_of_three() -> Order:
    return cast.place(
        "7201",
        lines=[("甲", 990, 1), ("乙", 790, 1), ("丙", 590, 1)],
        discounts=[fixed_discount(100, 1000)],
        shipping={**FREE_DELIVERY, "free_from": 1000},
    )


def two_presses(order: Order) -> list[Callable[[], Redeemed]]:
    """The customer's quote for the 790 and staff's for the 590, neither of which knows of the other."""
    of_customer = ask(order, (2, 1, "other"))
    of_staff = ask(order, (3, 1, "other"), actor=cast.staff())
    assert of_customer.amount + of_staff.amount == BLIND
    return [
        partial(redeem, quote_id=of_customer.pk, actor=cast.shopper()),
        partial(redeem, quote_id=of_staff.pk, actor=cast.staff(), note="客人來電"),
    ]


def meet_between_check_and_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both presses have looked at the order before either writes; whoever is kept out by a lock is not waited for."""
    meeting, original = Barrier(2), holding.hold_goods

    def hold_goods(lines: Any) -> None:
        with suppress(BrokenBarrierError):
            meeting.wait(timeout=1)
        original(lines)

    monkeypatch.setattr(holding, "hold_goods", hold_goods)


def without_the_orders_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goods, "lock_order", lambda order_id: Order.objects.get(pk=order_id))


def refunded() -> int:
    return sum(Refund.objects.values_list("amount", flat=True))


def test_two_quotes_that_overlap_never_pay_more_than_one_settlement_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    order = order_of_three()
    presses = two_presses(order)
    meet_between_check_and_write(monkeypatch)
    assert codes(at_once(presses)) == {"created": 1, "order_changed": 1}
    left = 3 if cast.line(order, 2).cancelled_quantity else 2
    redeem(quote_id=ask(order, (left, 1, "other")).pk, actor=cast.shopper())
    assert refunded() == ALLOWED == cast.payment(order).refunded_amount


def test_without_the_orders_lock_the_same_two_presses_pay_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows the race: this is what the lock is for. If it stops overpaying, the test above proves nothing any more."""
    presses = two_presses(order_of_three())
    meet_between_check_and_write(monkeypatch)
    without_the_orders_lock(monkeypatch)
    assert codes(at_once(presses)) == {"created": 2}
    assert refunded() == BLIND > ALLOWED


def test_quotes_for_the_same_goods_never_cancel_them_twice_even_without_the_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The counters of the goods are the second line of defence."""
    order = order_of_three()
    quotes = [ask(order, (2, 1, "other")), ask(order, (2, 1, "other"), (3, 1, "other"), actor=cast.staff())]
    meet_between_check_and_write(monkeypatch)
    without_the_orders_lock(monkeypatch)
    answers = at_once(
        [
            partial(redeem, quote_id=quotes[0].pk, actor=cast.shopper()),
            partial(redeem, quote_id=quotes[1].pk, actor=cast.staff(), note="客人來電"),
        ]
    )
    assert codes(answers) == {"created": 1, "order_busy": 1}
    assert cast.line(order, 2).cancelled_quantity == 1
    assert Refund.objects.count() == 1


def test_packing_and_the_press_at_once_never_both_have_the_case() -> None:
    for number in range(6):
        order = cast.place(f"73{number:02}")
        quote = ask(order, (2, 1, "other"))
        case = [{"line_item_id": "li_2", "quantity": 1}]
        both(
            [
                partial(redeem, quote_id=quote.pk, actor=cast.shopper()),
                partial(pack_order, order=order, actor=cast.staff("warehouse"), lines=case),
            ]
        )
        line = cast.line(order, 2)
        assert line.cancelled_quantity + line.fulfilled_quantity == 1
        assert Refund.objects.filter(order=order).count() == line.cancelled_quantity


def test_the_press_and_the_refusal_at_once_end_the_quote_one_way() -> None:
    for number in range(6):
        quote = ask(cast.place(f"74{number:02}"), (2, 1, "other"))
        pressed, declined = both(
            [
                partial(redeem, quote_id=quote.pk, actor=cast.shopper()),
                partial(ending.decline, quote_id=quote.pk, actor=cast.shopper()),
            ]
        )
        quote.refresh_from_db()
        assert isinstance(pressed, Redeemed) == (declined is False) == (quote.state == QuoteState.REDEEMED)
        assert Refund.objects.filter(quote=quote).exists() == (quote.state == QuoteState.REDEEMED)


def test_approval_and_rejection_at_once_decide_one_way() -> None:
    for number in range(6):
        order = cast.place(f"75{number:02}", lines=[("音響", 30_000, 1)])
        refund = redeem(quote_id=ask(order, (1, 1, "other")).pk, actor=cast.shopper()).refund
        assert refund is not None
        boss = cast.staff("supervisor")
        answers = both(
            [
                partial(approvals.approve_refund, refund_id=refund.pk, actor=boss),
                partial(approvals.reject_refund, refund_id=refund.pk, actor=boss, reason="不符規定"),
            ]
        )
        refused = [answer for answer in answers if isinstance(answer, Refusal)]
        assert [refusal.code for refusal in refused] == ["wrong_state"]
        held = {RefundState.PENDING: 30_000, RefundState.REJECTED: 0}[RefundState(state_of(refund))]
        assert cast.payment(order).refunded_amount == held


def test_the_same_tool_call_at_once_gets_one_quote() -> None:
    order = cast.order_5531()
    answers = at_once([partial(ask, order, (2, 1, "other"), tool_call_ref="1:toolu_1")] * 8)
    assert {answer.pk if isinstance(answer, RefundQuote) else answer for answer in answers} == {
        RefundQuote.objects.get().pk
    }


def test_the_same_exchange_card_pressed_at_once_makes_one_exchange() -> None:
    order, actor = cast.order_5531(), cast.shopper()
    exchange = partial(
        request_exchange, order=order, lines=choices((1, 1, "defective")), actor=actor, request_ref="card_1"
    )
    assert len({getattr(answer, "pk", answer) for answer in at_once([exchange] * 8)}) == 1
    assert cast.shipment_line(order, 1).exchanging_quantity == 1


def test_many_sweepers_at_once_pay_a_forgotten_refund_once() -> None:
    refund = pending_refund()
    time_passes(6)
    at_once([sweep_of_another_process] * 8)
    assert (state_of(refund), paid_out(), GatewayAttempt.objects.count()) == (RefundState.SUCCEEDED, [230], 1)


def test_many_sweepers_at_once_take_over_from_a_dead_worker_once() -> None:
    refund = pending_refund()
    assert send.claim_allocation(refund.allocations.get().pk)
    time_passes(16)
    at_once([sweep_of_another_process] * 8)
    assert (state_of(refund), paid_out(), GatewayAttempt.objects.count()) == (RefundState.SUCCEEDED, [230], 1)


def test_many_askers_at_once_find_a_payment_once() -> None:
    switch_on("timeout_after")
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    at_once([reconcile.reconcile] * 8)
    assert (state_of(refund), paid_out()) == (RefundState.SUCCEEDED, [230])
    assert AuditEvent.objects.filter(action="refund.succeeded").count() == 1
