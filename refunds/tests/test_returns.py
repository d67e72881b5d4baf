"""Goods travel back before money moves: the return from its request to its refund, exchange, refusal or withdrawal."""

import pytest
from django.utils import timezone

from orders.actors import NotAllowed, agent_actor
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import Order, Payment
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, fixed_discount, payment_body, shipment_body
from refunds import approvals, compensation, returns, selectors, tasks
from refunds.acceptance import accept
from refunds.exchange_check import check_exchange
from refunds.goods import unit_groups
from refunds.models import Refund, RefundQuote, Return
from refunds.present import quote_as_dict
from refunds.redeem import redeem
from refunds.states import RefundState, ReturnState
from refunds.tests.ask import Asked, ask, choices

pytestmark = pytest.mark.django_db


def requested_return(order: Order, *asked: Asked) -> Return:
    request = redeem(quote_id=ask(order, *asked).pk, actor=cast.shopper()).return_request
    assert request is not None
    return request


def received_return(order: Order, *asked: Asked) -> Return:
    return returns.receive(return_id=requested_return(order, *asked).pk, actor=cast.staff("warehouse"))


def exchange(order: Order, ref: str = "card_1") -> Return:
    return returns.request_exchange(
        order=order, lines=choices((1, 1, "defective")), actor=cast.shopper(), request_ref=ref
    )


def state_of_line(order: Order, position: int) -> list[str]:
    return [group.state for group in unit_groups(order, now=timezone.now()) if group.line.position == position]


def delivered_order() -> Order:
    """990 + 790 + 590, coupon 100 from 1,000, delivery free from 1,000: the worked example of docs/money.md."""
    return cast.place(
        "6601",
        lines=[("甲", 990, 1), ("乙", 790, 1), ("丙", 590, 1)],
        discounts=[fixed_discount(100, 1000)],
        shipping={**FREE_DELIVERY, "free_from": 1000},
        shipments=[shipment_body({1: 1, 2: 1, 3: 1})],
    )


def test_an_accepted_return_is_refunded_what_was_promised() -> None:
    order = cast.order_5531()
    request = accept(return_id=received_return(order, (1, 1, "changed_mind")).pk, actor=cast.staff("warehouse"))
    refund = Refund.objects.get()
    assert (request.state, request.refund) == (ReturnState.REFUNDED, refund)
    assert (refund.amount, refund.state) == (1050, RefundState.PENDING)
    assert cast.shipment_line(order, 1).returning_quantity == 0
    assert cast.shipment_line(order, 1).refunded_quantity == 1
    assert state_of_line(order, 1) == ["refunded"]


def test_open_returns_count_as_gone_and_their_promise_as_refunded() -> None:
    order = delivered_order()
    requested_return(order, (2, 1, "changed_mind"))
    second = ask(order, (3, 1, "changed_mind"))
    assert (second.amount, second.fee) == (330, 80)
    redeem(quote_id=second.pk, actor=cast.shopper())
    third = ask(order, (1, 1, "changed_mind"))
    assert (third.amount, third.fee) == (990, 80)


def test_all_returns_accepted_in_any_order_come_to_what_was_promised() -> None:
    order = delivered_order()
    requests = [requested_return(order, (position, 1, "changed_mind")) for position in (2, 3, 1)]
    for request in reversed(requests):
        returns.receive(return_id=request.pk, actor=cast.staff("warehouse"))
        accept(return_id=request.pk, actor=cast.staff("warehouse"))
    amounts = sorted(Refund.objects.values_list("amount", flat=True))
    assert sum(amounts) == 2270 - 2 * 80
    assert cast.payment(order).refunded_amount == sum(amounts)


def test_a_claimed_defect_that_is_none_is_not_paid_less_without_a_second_person() -> None:
    order = cast.order_5531()
    request = received_return(order, (1, 1, "defective"))
    request = accept(return_id=request.pk, actor=cast.staff("warehouse"), found={"li_1": "changed_mind"})
    refund = Refund.objects.get()
    assert (refund.amount, refund.state) == (1050, RefundState.PENDING_APPROVAL)
    assert request.state == ReturnState.ACCEPTED
    approvals.approve_refund(refund_id=refund.pk, actor=cast.staff("supervisor"))
    request.refresh_from_db()
    assert request.state == ReturnState.REFUNDED


def test_a_smaller_refund_that_is_rejected_ends_the_return_and_the_goods_count_as_kept() -> None:
    order = cast.order_5531()
    request = received_return(order, (1, 1, "defective"))
    accept(return_id=request.pk, actor=cast.staff("warehouse"), found={"li_1": "other"})
    approvals.reject_refund(refund_id=Refund.objects.get().pk, actor=cast.staff("supervisor"), reason="寄回客人")
    request.refresh_from_db()
    assert request.state == ReturnState.REJECTED
    assert state_of_line(order, 1) == ["delivered"]
    assert cast.payment(order).refunded_amount == 0


def test_findings_name_lines_of_the_return_and_reasons_that_goods_can_show() -> None:
    request = received_return(cast.order_5531(), (1, 1, "defective"))
    for found in ({"li_2": "other"}, {"li_1": "lost"}, {"li_1": "nonsense"}):
        with pytest.raises(InvalidInput):
            accept(return_id=request.pk, actor=cast.staff("warehouse"), found=found)
    assert Return.objects.get().state == ReturnState.RECEIVED


def order_paid_in_two_ways() -> Order:
    """300 delivered and 500 not yet packed; 500 paid by card, 300 in cash on delivery."""
    cash = payment_body(300, external_id="p2", method="cash_on_delivery", last4="")
    lines, shipments = [("甲", 300, 1), ("乙", 500, 1)], [shipment_body({1: 1})]
    return cast.place("6602", lines=lines, payments=[payment_body(500), cash], shipments=shipments)


def test_what_a_return_was_promised_from_the_card_is_not_given_to_others_meanwhile() -> None:
    order = order_paid_in_two_ways()
    request = received_return(order, (1, 1, "changed_mind"))
    with pytest.raises(Refusal) as caught:
        ask(order, (2, 1, "other"))
    assert caught.value.code == "needs_a_person"
    assert accept(return_id=request.pk, actor=cast.staff("warehouse")).state == ReturnState.REFUNDED
    assert [share.payment.method for share in Refund.objects.get().allocations.all()] == ["card"]


def test_whoever_asks_beside_a_promise_gets_what_it_leaves_of_each_payment_in_the_policys_order() -> None:
    """300 delivered and on its way back, 500 not yet packed; 500 paid by card, 300 with store credit."""
    credit = payment_body(300, external_id="p2", method="store_credit", last4="")
    lines, shipments = [("甲", 300, 1), ("乙", 500, 1)], [shipment_body({1: 1})]
    order = cast.place("6603", lines=lines, payments=[credit, payment_body(500)], shipments=shipments)
    request = received_return(order, (1, 1, "changed_mind"))
    cancelled = redeem(quote_id=ask(order, (2, 1, "other")).pk, actor=cast.shopper()).refund
    assert cancelled is not None
    assert parts_of(cancelled) == [("card", 200), ("store_credit", 300)]
    with pytest.raises(Refusal) as caught:
        compensation.propose(order=order, amount=1, reason="遲到", actor=cast.staff(), request_ref="c1")
    assert caught.value.code == "payments_have_less"
    accept(return_id=request.pk, actor=cast.staff("warehouse"))
    assert parts_of(Refund.objects.exclude(pk=cancelled.pk).get()) == [("card", 300)]


def parts_of(refund: Refund) -> list[tuple[str, int]]:
    return [(part.payment.method, part.amount) for part in refund.allocations.order_by("position")]


def test_a_promise_shows_the_payment_that_is_set_aside_for_it() -> None:
    order = order_paid_in_two_ways()
    quote = requested_return(order, (1, 1, "changed_mind")).quote
    assert quote is not None
    assert [(share["method"], share["amount"]) for share in quote_as_dict(quote)["to"]] == [("card", 300)]


@pytest.mark.django_db(transaction=True)
def test_goods_that_are_back_are_accepted_even_if_no_machine_can_pay_any_more_and_a_person_sees_it() -> None:
    order = order_paid_in_two_ways()
    request = received_return(order, (1, 1, "changed_mind"))
    Payment.objects.filter(order=order, method="card").update(provider="gone")
    accept(return_id=request.pk, actor=cast.staff("warehouse"))
    refund = Refund.objects.get()
    tasks.send_refund(refund.pk)
    assert list(selectors.needs_a_look()) == [refund]
    refund.refresh_from_db()
    assert (refund.state, refund.amount) == (RefundState.FAILED, 300)


def test_a_withdrawn_return_neither_pays_nor_counts() -> None:
    order = delivered_order()
    request = requested_return(order, (2, 1, "changed_mind"))
    returns.withdraw(return_id=request.pk, actor=cast.shopper())
    assert state_of_line(order, 2) == ["delivered"]
    assert ask(order, (3, 1, "changed_mind")).fee == 0


def test_a_rejected_return_neither_pays_nor_counts() -> None:
    order = delivered_order()
    request = received_return(order, (2, 1, "changed_mind"))
    returns.reject(return_id=request.pk, actor=cast.staff("warehouse"), note="外盒不見")
    assert ask(order, (3, 1, "changed_mind")).fee == 0
    assert not Refund.objects.exists()


def test_goods_that_are_back_cannot_be_withdrawn() -> None:
    request = received_return(cast.order_5531(), (1, 1, "changed_mind"))
    with pytest.raises(Refusal) as caught:
        returns.withdraw(return_id=request.pk, actor=cast.shopper())
    assert caught.value.code == "wrong_state"


def test_goods_that_have_not_come_back_cannot_be_accepted() -> None:
    request = requested_return(cast.order_5531(), (1, 1, "changed_mind"))
    with pytest.raises(Refusal) as caught:
        accept(return_id=request.pk, actor=cast.staff("warehouse"))
    assert caught.value.code == "wrong_state"
    assert not Refund.objects.exists()


def test_accepting_twice_pays_once() -> None:
    request = received_return(cast.order_5531(), (1, 1, "changed_mind"))
    accept(return_id=request.pk, actor=cast.staff("warehouse"))
    with pytest.raises(Refusal):
        accept(return_id=request.pk, actor=cast.staff("warehouse"))
    assert Refund.objects.count() == 1


def test_only_staff_who_handle_goods_receive_and_accept() -> None:
    request = requested_return(cast.order_5531(), (1, 1, "changed_mind"))
    for actor in (cast.shopper(), cast.staff(), cast.staff("auditor"), agent_actor(cast.customer())):
        with pytest.raises(NotAllowed):
            returns.receive(return_id=request.pk, actor=actor)


def test_another_customers_return_does_not_exist() -> None:
    request = requested_return(cast.order_5531(), (1, 1, "changed_mind"))
    with pytest.raises(NotFound):
        returns.withdraw(return_id=request.pk, actor=cast.shopper("ming2"))


def test_an_exchange_holds_the_goods_and_keeps_them_in_the_price() -> None:
    order = cast.order_5531()
    request = exchange(order)
    assert (request.kind, request.state, request.quote) == ("exchange", ReturnState.REQUESTED, None)
    assert state_of_line(order, 1) == ["exchanging"]
    assert ask(order, (2, 1, "late_delivery")).amount == 230


def test_the_same_card_pressed_twice_makes_one_exchange() -> None:
    order = cast.order_5531()
    assert exchange(order) == exchange(order)
    assert Return.objects.count() == 1


def test_goods_that_are_being_exchanged_cannot_be_exchanged_or_returned_again() -> None:
    order = cast.order_5531()
    request = exchange(order)
    for act in (lambda: exchange(order, "card_2"), lambda: ask(order, (1, 1, "defective"))):
        with pytest.raises(Refusal) as caught:
            act()
        assert caught.value.code == "already_exchanging"
        assert request.pk in caught.value.message


def test_an_exchange_ends_with_its_replacement_which_stands_for_the_goods() -> None:
    order = cast.order_5531()
    request = exchange(order)
    warehouse = cast.staff("warehouse")
    for step in (returns.receive, accept, returns.complete_exchange):
        request = step(return_id=request.pk, actor=warehouse)
    assert request.state == ReturnState.EXCHANGED
    assert state_of_line(order, 1) == ["shipped"]
    assert not Refund.objects.exists()
    assert not RefundQuote.objects.exists()


def test_the_agent_cannot_open_an_exchange() -> None:
    order = cast.order_5531()
    with pytest.raises(NotAllowed):
        returns.request_exchange(
            order=order,
            lines=choices((1, 1, "defective")),
            actor=agent_actor(cast.customer()),
            request_ref="1:toolu_1",
        )


def test_goods_that_are_not_delivered_cannot_be_exchanged() -> None:
    with pytest.raises(InvalidInput) as caught:
        check_exchange(cast.order_5531(), choices((2, 1, "defective")))
    assert caught.value.field == "lines[0].line_item_id"


def test_after_the_window_a_person_decides_about_an_exchange() -> None:
    order = cast.order_5531()
    cast.delivered_days_ago(order, 8)
    with pytest.raises(Refusal) as caught:
        check_exchange(order, choices((1, 1, "defective")))
    assert caught.value.code == "return_window_over"
