"""Confirming a quote: what moves, what a second press gets, and everything that refuses without moving anything."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone, translation

from orders.actors import NotAllowed, agent_actor, system_actor
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import AuditEvent, LineItem, Order, Shipment
from orders.shipments import pack_order
from orders.tests import cast
from orders.tests.factories import payment_body, shipment_body
from refunds.models import Refund, RefundAllocation, RefundQuote, Return
from refunds.redeem import decline, redeem
from refunds.returns import request_exchange
from refunds.states import QuoteState, RefundState
from refunds.tests.ask import ask, choices
from refunds.tests.going_back import lost_earphones, parcel_is

pytestmark = pytest.mark.django_db


def quote_of_the_case() -> RefundQuote:
    return ask(cast.order_5531(), (2, 1, "late_delivery"))


def refused(code: str, act: Callable[[], Any]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act()
    assert caught.value.code == code
    return caught.value


def nothing_moved(order: Order) -> bool:
    untouched = not LineItem.objects.filter(order=order, cancelled_quantity__gt=0).exists()
    return untouched and not Refund.objects.exists() and cast.payment(order).refunded_amount == 0


def test_the_case_is_cancelled_and_230_are_on_their_way_to_the_card() -> None:
    quote = quote_of_the_case()
    redeemed = redeem(quote_id=quote.pk, actor=cast.shopper())
    assert redeemed.created
    assert redeemed.refund is not None
    assert (redeemed.refund.amount, redeemed.refund.state) == (230, RefundState.PENDING)
    allocation = RefundAllocation.objects.get()
    assert (allocation.amount, allocation.payment) == (230, cast.payment(quote.order))
    assert cast.line(quote.order, 2).cancelled_quantity == 1
    assert cast.payment(quote.order).refunded_amount == 230


def test_a_second_press_gets_the_same_refund_and_moves_nothing() -> None:
    quote = quote_of_the_case()
    first, second = (redeem(quote_id=quote.pk, actor=cast.shopper()) for _ in range(2))
    assert (second.refund, second.created) == (first.refund, False)
    assert cast.payment(quote.order).refunded_amount == 230


def test_staff_who_press_after_the_customer_get_the_customers_refund() -> None:
    quote = quote_of_the_case()
    first = redeem(quote_id=quote.pk, actor=cast.shopper())
    again = redeem(quote_id=quote.pk, actor=cast.staff(), note="客人來電")
    assert (again.refund, again.created) == (first.refund, False)


def test_money_goes_to_the_card_first_and_to_store_credit_last() -> None:
    payments = [
        payment_body(30, external_id="p1", method="store_credit", last4=""),
        payment_body(50, external_id="p2"),
    ]
    order = cast.place("6101", lines=[("杯", 40, 2)], payments=payments)
    redeem(quote_id=ask(order, (1, 2, "changed_mind")).pk, actor=cast.shopper())
    assert [(part.payment.method, part.amount) for part in RefundAllocation.objects.order_by("position")] == [
        ("card", 50),
        ("store_credit", 30),
    ]


def test_a_refund_of_nothing_succeeds_at_once_and_sends_nothing() -> None:
    order = cast.place(
        "6102",
        lines=[("小", 100, 1), ("大", 1500, 1)],
        discounts=[{"kind": "fixed", "amount": 150, "min_spend": 1600, "label": "滿 1,600 折 150"}],
    )
    refund = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper()).refund
    assert refund is not None
    assert (refund.amount, refund.state) == (0, RefundState.SUCCEEDED)
    assert not RefundAllocation.objects.exists()
    rest = ask(order, (2, 1, "changed_mind"))
    assert rest.amount == 1450


def test_a_quote_to_return_opens_a_return_and_moves_no_money() -> None:
    order = cast.order_5531()
    redeemed = redeem(quote_id=ask(order, (1, 1, "changed_mind")).pk, actor=cast.shopper())
    assert redeemed.refund is None
    assert redeemed.return_request == Return.objects.get()
    assert cast.shipment_line(order, 1).returning_quantity == 1
    assert cast.payment(order).refunded_amount == 0


def test_a_quote_that_has_run_out_refunds_nothing_and_stays_expired() -> None:
    quote = quote_of_the_case()
    RefundQuote.objects.filter(pk=quote.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    refusal = refused("quote_expired", lambda: redeem(quote_id=quote.pk, actor=cast.shopper()))
    assert refusal.status == 409
    assert refusal.hint
    quote.refresh_from_db()
    assert quote.state == QuoteState.EXPIRED
    assert nothing_moved(quote.order)


def test_a_case_that_was_packed_meanwhile_is_not_refunded_and_the_refusal_says_what_to_do() -> None:
    quote = quote_of_the_case()
    pack_order(order=quote.order, actor=cast.staff("warehouse"))
    refusal = refused("order_changed", lambda: redeem(quote_id=quote.pk, actor=cast.shopper()))
    assert "耳機殼" in refusal.message
    assert refusal.details["because"] == "line_in_fulfilment"
    assert "7" in refusal.hint
    quote.refresh_from_db()
    assert (quote.state, quote.ended_because) == (QuoteState.SUPERSEDED, "order_changed")
    assert nothing_moved(quote.order)
    again = refused("order_changed", lambda: redeem(quote_id=quote.pk, actor=cast.shopper()))
    assert again.message == refusal.message


def test_lost_goods_that_arrive_before_the_press_are_said_to_have_arrived() -> None:
    order = lost_earphones(1)
    quote = ask(order, (1, 1, "lost"))
    parcel_is(order, order.shipments.get().external_id, "delivered")
    with translation.override("en"):
        refusal = refused("order_changed", lambda: redeem(quote_id=quote.pk, actor=cast.shopper()))
    assert "“藍牙耳機” has been reported as delivered meanwhile" in refusal.message
    assert "Other goods" not in refusal.message
    assert "returned or exchanged until" in refusal.hint
    assert refusal.details == {"line_item_id": "li_1", "state": "delivered"}
    assert not Refund.objects.exists()


def test_lost_goods_that_turn_up_on_their_way_are_said_to_be_on_their_way() -> None:
    order = cast.place("7804", shipments=[shipment_body({1: 1}, state="lost")])
    quote = ask(order, (1, 1, "lost"))
    Shipment.objects.update(state="shipped", shipped_at=timezone.now() - timedelta(days=1))
    with translation.override("en"):
        refusal = refused("order_changed", lambda: redeem(quote_id=quote.pk, actor=cast.shopper()))
    assert "on its way after all" in refusal.message


def test_an_exchange_opened_beside_the_quote_does_not_spoil_it() -> None:
    quote = quote_of_the_case()
    request_exchange(order=quote.order, lines=choices((1, 1, "defective")), actor=cast.shopper(), request_ref="card_1")
    assert redeem(quote_id=quote.pk, actor=cast.shopper()).created


def test_another_refund_of_the_order_spoils_a_quote_because_the_amount_may_differ() -> None:
    order = cast.order_5531()
    of_customer, of_staff = ask(order, (2, 1, "other")), ask(order, (1, 1, "changed_mind"), actor=cast.staff())
    redeem(quote_id=of_customer.pk, actor=cast.shopper())
    refusal = refused("order_changed", lambda: redeem(quote_id=of_staff.pk, actor=cast.staff(), note="來電"))
    assert "because" not in refusal.details


def test_units_of_the_line_that_are_packed_do_not_spoil_a_quote_for_those_that_are_not() -> None:
    order = cast.place("6103", lines=[("襪", 100, 3)])
    quote = ask(order, (1, 1, "other"))
    pack_order(order=order, actor=cast.staff("warehouse"), lines=[{"line_item_id": "li_1", "quantity": 1}])
    assert redeem(quote_id=quote.pk, actor=cast.shopper()).created


def test_a_return_asked_for_on_the_last_day_holds_after_midnight() -> None:
    order = cast.order_5531()
    quote = ask(order, (1, 1, "changed_mind"))
    cast.delivered_days_ago(order, 7)
    RefundQuote.objects.filter(pk=quote.pk).update(created_at=timezone.now() - timedelta(days=1))
    assert redeem(quote_id=quote.pk, actor=cast.shopper()).created


def test_a_declined_quote_cannot_be_redeemed() -> None:
    quote = quote_of_the_case()
    assert decline(quote_id=quote.pk, actor=cast.shopper())
    refused("quote_declined", lambda: redeem(quote_id=quote.pk, actor=cast.shopper()))
    assert nothing_moved(quote.order)


def test_declining_what_was_redeemed_changes_nothing() -> None:
    quote = quote_of_the_case()
    redeem(quote_id=quote.pk, actor=cast.shopper())
    assert not decline(quote_id=quote.pk, actor=cast.shopper())
    quote.refresh_from_db()
    assert quote.state == QuoteState.REDEEMED


def test_a_quote_that_a_newer_one_replaced_cannot_be_redeemed() -> None:
    order = cast.order_5531()
    old = ask(order, (2, 1, "other"))
    ask(order, (2, 1, "changed_mind"))
    refused("quote_superseded", lambda: redeem(quote_id=old.pk, actor=cast.shopper()))


def test_another_customers_quote_does_not_exist() -> None:
    quote = quote_of_the_case()
    of_another = refused("not_found", lambda: redeem(quote_id=quote.pk, actor=cast.shopper("ming2")))
    missing = refused("not_found", lambda: redeem(quote_id="rq_00000000000000000000", actor=cast.shopper("ming2")))
    assert of_another.as_dict() == missing.as_dict()
    with pytest.raises(NotFound):
        decline(quote_id=quote.pk, actor=cast.shopper("ming2"))


@pytest.mark.parametrize("kind", ["agent", "system"])
def test_neither_the_agent_nor_a_machine_can_redeem(kind: str) -> None:
    quote = quote_of_the_case()
    actor = agent_actor(quote.customer) if kind == "agent" else system_actor("cron")
    with pytest.raises(NotAllowed):
        redeem(quote_id=quote.pk, actor=actor)
    assert nothing_moved(quote.order)


def test_staff_need_the_permission_and_a_reason() -> None:
    quote = quote_of_the_case()
    with pytest.raises(NotAllowed):
        redeem(quote_id=quote.pk, actor=cast.staff("auditor"), note="看看")
    with pytest.raises(InvalidInput) as caught:
        redeem(quote_id=quote.pk, actor=cast.staff(), note="  ")
    assert caught.value.field == "note"
    assert redeem(quote_id=quote.pk, actor=cast.staff(), note="客人來電").created


@pytest.mark.parametrize("quote_id", ["", "rq_", "rq_\x00", "rq_" + "0" * 5000, "'; drop table"])
def test_what_is_no_id_is_a_quote_that_does_not_exist(quote_id: str) -> None:
    refused("not_found", lambda: redeem(quote_id=quote_id, actor=cast.shopper()))


def test_goods_lost_on_the_way_are_refunded_at_once_and_marked_in_their_parcel() -> None:
    order = cast.order_5531(shipments=[shipment_body({1: 1}), shipment_body({2: 1}, external_id="s2", state="lost")])
    refund = redeem(quote_id=ask(order, (2, 1, "lost")).pk, actor=cast.shopper()).refund
    assert refund is not None
    assert refund.amount == 380
    assert cast.shipment_line(order, 2, "s2").refunded_quantity == 1


def test_the_audit_tells_who_confirmed_and_what_was_computed() -> None:
    quote = quote_of_the_case()
    redeem(quote_id=quote.pk, actor=cast.staff(), note="客人來電")
    event = AuditEvent.objects.get(action="quote.redeemed")
    assert (event.actor_user, event.chosen["note"], event.computed["amount"]) == (cast.staff_user(), "客人來電", 230)
    assert AuditEvent.objects.get(action="refund.pending").correlation["quote_id"] == quote.pk
