"""Asking what goods come to: the amount and its reasons, who may ask, and what a new quote does to older ones."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from orders.actors import NotAllowed, agent_actor, customer_actor
from orders.errors import NotFound
from orders.models import AuditEvent, LineItem, Payment, ShipmentLine
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, ago, fixed_discount, payment_body, shipment_body
from refunds import elsewhere, overrides
from refunds.models import RefundQuote
from refunds.quotes import asker_ref
from refunds.redeem import redeem
from refunds.states import Asker, QuoteState
from refunds.tests.ask import ask, choices
from refunds.tests.browser import post_json, signed_in
from refunds.tests.going_back import earphones, returned

pytestmark = pytest.mark.django_db


def test_the_case_of_order_5531_comes_to_230_because_the_coupon_is_lost() -> None:
    quote = ask(cast.order_5531(), (2, 1, "late_delivery"))
    assert (quote.action, quote.amount, quote.currency, quote.state) == ("cancel", 230, "TWD", "open")
    assert [(step["code"], step["amount"]) for step in quote.steps] == [("returned_goods", 380), ("coupon_lost", -150)]
    assert quote.policy.version == 1
    assert timedelta(minutes=14) < quote.expires_at - timezone.now() <= timedelta(minutes=15)


def test_a_quote_moves_neither_goods_nor_money() -> None:
    order = cast.order_5531()
    before = [list(model.objects.order_by("pk").values()) for model in (LineItem, ShipmentLine, Payment)]
    ask(order, (2, 1, "changed_mind"))
    assert before == [list(model.objects.order_by("pk").values()) for model in (LineItem, ShipmentLine, Payment)]


def test_the_same_question_gives_the_same_amount_steps_and_fingerprint() -> None:
    order = cast.order_5531()
    first, second = ask(order, (2, 1, "other")), ask(order, (2, 1, "other"))
    assert first.pk != second.pk
    assert (first.amount, first.steps, first.fingerprint) == (second.amount, second.steps, second.fingerprint)


def test_defective_earphones_come_to_their_full_price_because_the_fault_is_the_shops() -> None:
    quote = ask(cast.order_5531(), (1, 1, "defective"))
    assert (quote.action, quote.amount) == ("return", 1200)
    assert quote.lines.get().shop_fault


def test_a_cancellation_is_never_the_shops_fault_whatever_the_customer_calls_it() -> None:
    quote = ask(cast.order_5531(), (2, 1, "defective"))
    assert quote.amount == 230
    assert not quote.lines.get().shop_fault


def test_staff_can_say_that_the_shop_cancelled_and_then_the_coupon_stays() -> None:
    quote = ask(cast.order_5531(), (2, 1, "shop_cancelled"), actor=cast.staff())
    assert quote.amount == 380


def test_lost_goods_are_the_shops_fault_and_get_the_reason_of_their_parcel() -> None:
    order = cast.order_5531(shipments=[shipment_body({1: 1}), shipment_body({2: 1}, external_id="s2", state="lost")])
    quote = ask(order, (2, 1, "late_delivery"))
    assert (quote.action, quote.amount) == ("lost", 380)
    assert quote.lines.get().reason == "lost"


def test_a_second_return_pays_the_fee_while_the_first_is_still_open() -> None:
    """990 + 790 + 590, coupon 100 from 1,000, delivery free by threshold: the worked example of docs/money.md."""
    order = cast.place(
        "6001",
        lines=[("甲", 990, 1), ("乙", 790, 1), ("丙", 590, 1)],
        discounts=[fixed_discount(100, 1000)],
        shipping={**FREE_DELIVERY, "free_from": 1000},
        shipments=[shipment_body({1: 1, 2: 1, 3: 1})],
    )
    first = ask(order, (2, 1, "changed_mind"))
    assert first.amount == 790
    redeem(quote_id=first.pk, actor=cast.shopper())
    second = ask(order, (3, 1, "changed_mind"))
    assert (second.amount, second.fee) == (330, 80)


def test_units_of_several_parcels_are_taken_from_the_oldest_first() -> None:
    order = cast.place(
        "6002",
        lines=[("襪", 100, 4)],
        shipments=[shipment_body({1: 2}, external_id="late"), shipment_body({1: 2}, external_id="early")],
    )
    cast.delivered_days_ago(order, 1, "late")
    cast.delivered_days_ago(order, 5, "early")
    quote = ask(order, (1, 3, "changed_mind"))
    taken = [
        (line.shipment_line.shipment.external_id, line.quantity) for line in quote.lines.all() if line.shipment_line
    ]
    assert taken == [("early", 2), ("late", 1)]


def test_without_a_quantity_everything_of_the_line_that_can_go_is_meant() -> None:
    order = cast.place(
        "6004",
        lines=[("襪", 100, 5)],
        shipments=[shipment_body({1: 2}), shipment_body({1: 1}, external_id="s2", state="packed")],
    )
    assert ask(order, (1, None, "other", "cancel")).amount == 200
    assert ask(order, (1, None, "other", "return")).amount == 200


def test_a_new_quote_of_the_same_asker_supersedes_the_old_one_and_only_that() -> None:
    order = cast.order_5531()
    mine, of_staff = ask(order, (2, 1, "other")), ask(order, (2, 1, "other"), actor=cast.staff())
    newer = ask(order, (2, 1, "changed_mind"))
    states = dict(RefundQuote.objects.values_list("pk", "state"))
    assert states == {mine.pk: QuoteState.SUPERSEDED, of_staff.pk: QuoteState.OPEN, newer.pk: QuoteState.OPEN}


def test_the_same_tool_call_again_gets_the_same_quote() -> None:
    order = cast.order_5531()
    agent = agent_actor(cast.customer())
    options: dict[str, Any] = {"actor": agent, "asker": Asker.AGENT, "asker_ref": "1", "tool_call_ref": "1:toolu_1"}
    first, second = ask(order, (2, 1, "other"), **options), ask(order, (2, 1, "other"), **options)
    assert first == second
    assert RefundQuote.objects.count() == 1


def test_another_customer_cannot_ask_about_the_order() -> None:
    with pytest.raises(NotFound):
        ask(cast.order_5531(), (2, 1, "other"), actor=cast.shopper("ming2"))


def test_staff_need_the_permission_to_ask() -> None:
    with pytest.raises(NotAllowed):
        ask(cast.order_5531(), (2, 1, "other"), actor=cast.staff("warehouse"))


def test_the_audit_keeps_what_was_chosen_and_what_was_computed() -> None:
    quote = ask(cast.order_5531(), (2, 1, "late_delivery"))
    event = AuditEvent.objects.get(action="quote.opened")
    assert event.subject_id == quote.pk
    assert event.chosen["lines"][0]["line_item_id"] == "li_2"
    assert event.computed["amount"] == 230
    assert event.computed["policy_version"] == 1


def test_whoever_writes_a_quote_writes_its_line_in_the_history_with_it() -> None:
    """Asked for, worked out anew on acceptance, made for an exception, made for what was refunded elsewhere."""
    returned(earphones(2), (1, 1, "changed_mind"))
    days = {"packed_at": ago(days=12).isoformat(), "shipped_at": ago(days=11).isoformat()}
    parcel = shipment_body({1: 1}, **days, delivered_at=ago(days=9).isoformat())
    late = cast.place("6005", shipments=[parcel], placed_at=ago(days=13).isoformat())
    overrides.ask(order=late, choices=choices((1, 1, "changed_mind")), reason="老客人", actor=cast.staff())
    order = cast.order_5531()
    body = {"payment_id": order.payments.get().pk, "amount": 380, "external_ref": "t1", "note": "匯款"}
    lines = [{"line_item_id": "li_2", "quantity": 1}]
    elsewhere.record(order=order, body={**body, "lines": lines}, actor=cast.staff("supervisor"))
    told = AuditEvent.objects.filter(action="quote.opened")
    quotes = RefundQuote.objects.values_list("pk", "amount")
    assert {(event.subject_id, event.computed["amount"]) for event in told} == set(quotes)
    assert (told.count(), len(quotes)) == (4, 4)


def test_goods_are_split_over_two_payments_without_changing_the_amount() -> None:
    order = cast.place(
        "6003",
        lines=[("杯", 40, 2)],
        payments=[payment_body(50), payment_body(30, external_id="p2", method="store_credit", last4="")],
    )
    assert ask(order, (1, 2, "changed_mind")).amount == 80


def test_a_member_of_staff_is_the_same_asker_on_the_page_and_at_the_api() -> None:
    order, browser = cast.order_5531(), signed_in("staff")
    browser.post(
        "/staff/orders/5531/quote/", {"pick": "li_2.cancel", "quantity.li_2.cancel": "1", "reason.li_2.cancel": "other"}
    )
    of_page = RefundQuote.objects.get()
    body = {"lines": [{"line_item_id": "li_2", "quantity": 1, "reason": "other"}]}
    assert post_json(browser, f"/api/v1/orders/{order.number}/refund-quotes/", body).status_code == 201
    of_page.refresh_from_db()
    assert of_page.state == QuoteState.SUPERSEDED
    assert RefundQuote.objects.filter(state=QuoteState.OPEN).count() == 1


def test_the_agent_its_customer_and_staff_are_different_askers() -> None:
    customer = cast.customer()
    refs = [
        asker_ref(customer_actor(customer)),
        asker_ref(agent_actor(customer), conversation=customer.pk),
        asker_ref(cast.staff()),
    ]
    assert len(set(refs)) == 3
