"""Exchanges: for the same again or for another product of the same price, with stock reserved from the first moment."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.utils import translation

from orders.errors import InvalidInput, Refusal
from orders.models import AuditEvent, Product
from orders.tests import cast
from orders.tests.factories import fixed_discount, line_body, shipment_body
from refunds import returns
from refunds.acceptance import accept
from refunds.exchange_check import check_exchange, parse_exchange
from refunds.models import Refund, Replacement, ReplacementLine, Return
from refunds.present import quote_as_dict, return_as_dict
from refunds.quotes import LineChoice
from refunds.states import ReplacementState, ReturnState
from refunds.tests.ask import ask, choices
from refunds.tests.going_back import (
    accepted_exchange,
    arrives,
    earphones,
    exchange,
    exchanged,
    names_of,
    own_stock,
    parcel_is,
    product,
    returned,
    states_of,
    stock_of,
    warehouse,
)

pytestmark = pytest.mark.django_db


def wants(product_id: str | None, quantity: int = 1, line: str = "li_1") -> LineChoice:
    return LineChoice(line, quantity, "defective", None, product_id)


def refused(code: str, *wanted: LineChoice, order: Any = None) -> Refusal:
    with translation.override("en"), pytest.raises(Refusal) as caught:
        check_exchange(order or earphones(), list(wanted))
    assert caught.value.code == code
    assert caught.value.hint
    return caught.value


class TestWhatMayBeHadInstead:
    def test_the_same_again_needs_no_product(self) -> None:
        (unit,) = check_exchange(earphones(), choices((1, 2, "defective")))
        assert (unit.product, unit.quantity, unit.replaced_by.sku) == (None, 2, "EAR")

    def test_another_product_of_the_same_price(self) -> None:
        red = product()
        (unit,) = check_exchange(earphones(), [wants("EAR-RED")])
        assert unit.product == unit.replaced_by == red

    def test_the_product_that_is_there_by_its_own_name_is_the_same_again_whatever_it_costs_today(self) -> None:
        order = earphones()
        Product.objects.filter(sku="EAR").update(price=1500)
        (unit,) = check_exchange(order, [wants("EAR")])
        assert unit.product is None

    def test_so_it_is_where_that_product_came_in_exchange_itself(self) -> None:
        order, red = earphones(2), product()
        exchanged(order, product_id="EAR-RED")
        Product.objects.filter(sku="EAR-RED").update(price=1500)
        exchanged(order, ref="card_2")  # the earlier parcel first: a piece of the line's own
        (unit,) = check_exchange(order, [wants("EAR-RED")])
        assert (unit.product, unit.replaced_by) == (None, red)
        refused("price_differs", wants("EAR-RED", 2), order=order)

    def test_a_product_that_does_not_exist_is_named_by_its_field(self) -> None:
        refusal = refused("unknown_product", wants("NOPE"))
        assert (refusal.field, refusal.status) == ("lines[0].product_id", 400)

    def test_another_price_goes_to_a_person(self) -> None:
        product(price=1300)
        refusal = refused("price_differs", wants("EAR-RED"))
        assert "NT$1,300" in refusal.message
        assert "NT$1,200" in refusal.message
        assert "person" in refusal.hint
        assert (refusal.details["price"], refusal.details["paid"]) == (1300, 1200)

    def test_another_currency_goes_to_a_person(self) -> None:
        product(currency="USD")
        assert "person" in refused("currency_differs", wants("EAR-RED")).hint

    def test_what_is_out_of_stock_says_how_many_there_are(self) -> None:
        product(pieces=1)
        refusal = refused("out_of_stock", wants("EAR-RED", 2))
        assert refusal.details == {"product_id": "EAR-RED", "available": 1}

    def test_the_same_products_own_stock_is_looked_at_too(self) -> None:
        order = earphones()
        own_stock(1)
        refused("out_of_stock", wants(None, 2), order=order)
        assert check_exchange(order, [wants(None, 1)])

    def test_two_lines_that_want_the_same_product_need_it_together(self) -> None:
        order = cast.place(
            "7803",
            lines=[line_body(1, "甲", 1200, sku="A"), line_body(2, "乙", 1200, sku="B")],
            shipments=[shipment_body({1: 1, 2: 1})],
        )
        product(pieces=1)
        wanted = [wants("EAR-RED"), wants("EAR-RED", line="li_2")]
        assert refused("out_of_stock", *wanted, order=order).details["available"] == 1

    def test_one_line_takes_one_product_at_a_time(self) -> None:
        product()
        with pytest.raises(InvalidInput) as caught:
            check_exchange(earphones(), [wants("EAR-RED"), wants(None)])
        assert caught.value.field == "lines[1].product_id"

    def test_checking_changes_nothing(self) -> None:
        order = earphones()
        check_exchange(order, choices((1, 1, "defective")))
        assert (states_of(order), Return.objects.count(), stock_of()) == ({"delivered": 3}, 0, (None, 0))

    def test_a_body_is_read_strictly(self) -> None:
        line = {"line_item_id": "li_1", "quantity": 1, "reason": "defective"}
        assert parse_exchange({"lines": [{**line, "product_id": "EAR-RED"}]})[0].product_id == "EAR-RED"
        for wrong in ({**line, "amount": 1}, {**line, "quantity": True}, {"line_item_id": "li_1", "quantity": 1}):
            with pytest.raises(InvalidInput):
                parse_exchange({"lines": [wrong]})


def test_a_reference_is_one_of_its_order_and_means_another_exchange_on_another() -> None:
    first = exchange(earphones(1), ref="card_1")
    second = exchange(cast.place("7802", lines=[("殼", 300, 1)], shipments=[shipment_body({1: 1})]), ref="card_1")
    assert first.pk != second.pk
    assert exchange(first.order, ref="card_1") == first


class TestStock:
    def test_it_is_reserved_when_the_exchange_is_asked_for_and_used_when_the_new_goods_leave(self) -> None:
        order = earphones()
        own_stock(2)
        request = exchange(order)
        assert stock_of() == (2, 1)
        returns.receive(return_id=request.pk, actor=warehouse())
        accept(return_id=request.pk, actor=warehouse())
        assert stock_of() == (2, 1)
        returns.complete_exchange(return_id=request.pk, actor=warehouse())
        assert stock_of() == (1, 0)

    def test_what_one_has_reserved_the_next_cannot_have(self) -> None:
        order = earphones()
        own_stock(1)
        exchange(order)
        with pytest.raises(Refusal) as caught:
            exchange(order, ref="card_2")
        assert caught.value.code == "out_of_stock"
        assert (Return.objects.count(), stock_of()) == (1, (1, 1))

    def test_it_is_free_again_when_the_exchange_is_withdrawn(self) -> None:
        order = earphones()
        own_stock(2)
        returns.withdraw(return_id=exchange(order).pk, actor=cast.shopper())
        assert (stock_of(), states_of(order)) == ((2, 0), {"delivered": 3})
        assert Replacement.objects.get().state == ReplacementState.RELEASED

    def test_or_rejected(self) -> None:
        order = earphones()
        own_stock(2)
        request = exchange(order)
        returns.receive(return_id=request.pk, actor=warehouse())
        returns.reject(return_id=request.pk, actor=warehouse(), note="不是本店商品")
        assert (stock_of(), states_of(order)) == ((2, 0), {"delivered": 3})

    def test_or_accepted_only_in_part(self) -> None:
        order = earphones()
        own_stock(3)
        request = exchange(order, (1, 3, "defective"))
        returns.receive(return_id=request.pk, actor=warehouse(), found={"li_1": {"accepted": 1, "damaged": 2}})
        accept(return_id=request.pk, actor=warehouse())
        assert (stock_of(), states_of(order)) == ((3, 1), {"delivered": 2, "exchanging": 1})
        assert list(ReplacementLine.objects.values_list("quantity", flat=True)) == [1]
        assert AuditEvent.objects.filter(action="replacement.reduced").count() == 1
        returns.complete_exchange(return_id=request.pk, actor=warehouse())
        assert (stock_of(), states_of(order)) == ((2, 0), {"delivered": 2, "shipped": 1})

    def test_withdrawing_twice_frees_it_once(self) -> None:
        order = earphones()
        own_stock(2)
        exchange(order, ref="card_2")
        request = exchange(order)
        for _ in range(2):
            returns.withdraw(return_id=request.pk, actor=cast.shopper())
        assert stock_of() == (2, 1)


class TestTheWay:
    def test_pressed_again_with_the_same_reference_it_is_the_same_exchange(self) -> None:
        order = earphones()
        own_stock(2)
        assert exchange(order) == exchange(order)
        assert (Return.objects.count(), Replacement.objects.count(), stock_of()) == (1, 1, (2, 1))

    def test_the_same_reference_for_other_goods_is_refused_and_changes_nothing(self) -> None:
        order = earphones()
        own_stock(3)
        exchange(order)
        with pytest.raises(Refusal) as caught:
            exchange(order, (1, 2, "defective"))
        assert (caught.value.code, caught.value.field) == ("reference_reused", "request_ref")
        assert (Return.objects.count(), stock_of()) == (1, (3, 1))

    def test_the_same_reference_for_another_product_or_line_is_refused_and_changes_nothing(self) -> None:
        order = cast.place("7803", shipments=[shipment_body({1: 1, 2: 1})])
        product()
        first = exchange(order)
        others: list[Any] = [
            ((1, 1, "defective"), "EAR-RED"),
            ((1, None, "defective"), "EAR-RED"),
            ((1, 1, "defective"), "unknown"),
            ((2, 1, "defective"), None),
            ((2, None, "defective"), None),
        ]
        for asked, product_id in others:
            with pytest.raises(Refusal) as caught:
                exchange(order, asked, product_id=product_id)
            assert (caught.value.code, caught.value.field) == ("reference_reused", "request_ref")
        assert exchange(order, (1, None, "defective")) == first
        assert (Return.objects.count(), stock_of("EAR-RED")) == (1, (5, 0))

    def test_the_same_product_under_the_same_reference_is_the_same_exchange_however_it_is_named(self) -> None:
        order = earphones()
        own_stock(3)
        product()
        red, same = exchange(order, product_id="EAR-RED"), exchange(order, ref="card_2")
        assert exchange(order, product_id="EAR-RED") == red
        assert exchange(order, ref="card_2", product_id="EAR") == same
        with pytest.raises(Refusal):
            exchange(order)

    def test_its_goods_stand_where_they_are_until_the_new_ones_have_left(self) -> None:
        order = earphones(1)
        request = accepted_exchange(order)
        assert states_of(order) == {"exchanging": 1}
        returns.complete_exchange(return_id=request.pk, actor=warehouse(), carrier="黑貓宅急便", tracking_number="T1")
        replacement = Replacement.objects.get()
        assert states_of(order) == {"shipped": 1}
        old, new = cast.shipment_line(order, 1), cast.shipment_line(order, 1, replacement.pk)
        assert (old.replaced_quantity, old.exchanging_quantity, new.untouched_quantity) == (1, 0, 1)
        request.refresh_from_db()
        shown = return_as_dict(request)["replacement"]
        assert (request.state, shown["state"], shown["carrier"]) == (ReturnState.EXCHANGED, "sent", "黑貓宅急便")
        assert (shown["shipment_id"], shown["tracking_number"]) == (replacement.shipment_id, "T1")

    def test_sending_the_replacement_again_is_the_same_parcel(self) -> None:
        order = earphones()
        request = accepted_exchange(order)
        for _ in range(2):
            returns.complete_exchange(return_id=request.pk, actor=warehouse())
        assert order.shipments.count() == 2
        assert AuditEvent.objects.filter(action="replacement.sent").count() == 1
        assert AuditEvent.objects.filter(action="return.exchanged").count() == 1

    def test_where_the_replacement_cannot_be_sent_an_accepted_exchange_can_still_be_rejected(self) -> None:
        order = earphones()
        own_stock(1)
        request = accepted_exchange(order)
        returns.reject(return_id=request.pk, actor=warehouse(), note="倉庫最後一副也壞了")
        assert (states_of(order), stock_of()) == ({"delivered": 3}, (1, 0))
        assert ask(order, (1, 1, "defective")).amount == 1200

    def test_no_money_moves(self) -> None:
        exchanged(earphones())
        assert not Refund.objects.exists()


class TestTheReplacementLater:
    """The units of its parcel are delivered goods: they come back, are exchanged again, or get lost."""

    def test_exchanged_then_returned_comes_to_what_the_goods_had_come_to(self) -> None:
        order = cast.order_5531()
        exchanged(order)
        assert ask(order, (1, 1, "changed_mind")).amount == ask_before()
        request = returned(order, (1, 1, "changed_mind"))
        assert (request.state, states_of(order)) == (ReturnState.REFUNDED, {"refunded": 1})

    def test_it_has_its_own_window(self) -> None:
        order = earphones(1)
        cast.delivered_days_ago(order, 6)
        replacement = exchanged(order)
        cast.delivered_days_ago(order, 20)
        assert states_of(order) == {"delivered": 1}
        cast.delivered_days_ago(order, 8, replacement.pk)
        assert states_of(order) == {"window_over": 1}

    def test_for_another_product_then_returned_comes_to_the_same_and_names_what_is_there(self) -> None:
        order = cast.order_5531()
        product()
        exchanged(order, product_id="EAR-RED")
        assert names_of(order) == ["藍牙耳機 紅"]
        quote = quote_as_dict(ask(order, (1, 1, "changed_mind")))
        assert quote["amount"] == ask_before()
        assert quote["lines"][0]["name"] == "藍牙耳機 紅"
        assert "藍牙耳機 紅" in quote["explanation"]
        request = returned(order, (1, 1, "changed_mind"))
        assert return_as_dict(request)["lines"][0]["name"] == "藍牙耳機 紅"
        assert Refund.objects.get().amount == ask_before()

    def test_exchanged_for_another_and_exchanged_again_gets_that_other_again(self) -> None:
        order = earphones(1)
        product(pieces=5)
        exchanged(order, product_id="EAR-RED")
        exchanged(order, ref="card_2")
        assert (names_of(order), stock_of("EAR-RED"), stock_of()) == (["藍牙耳機 紅"], (3, 0), (None, 0))

    def test_and_back_for_the_first_product(self) -> None:
        order = earphones(1)
        product()
        exchanged(order, product_id="EAR-RED")
        replacement = exchanged(order, ref="card_2", product_id="EAR")
        assert names_of(order) == ["藍牙耳機"]
        assert cast.shipment_line(order, 1, replacement.pk).product is None

    def test_units_of_two_products_beside_each_other_are_exchanged_one_after_the_other(self) -> None:
        order = earphones(2)
        product()
        exchanged(order, product_id="EAR-RED")
        with pytest.raises(InvalidInput) as caught:
            check_exchange(order, choices((1, 2, "defective")))
        assert caught.value.field == "lines[0].quantity"
        assert check_exchange(order, choices((1, 1, "defective")))

    def test_lost_on_its_way_it_is_refunded_as_lost(self) -> None:
        order = earphones(1)
        request = accepted_exchange(order)
        returns.complete_exchange(return_id=request.pk, actor=warehouse())
        parcel_is(order, Replacement.objects.get().pk, "lost")
        quote = ask(order, (1, 1, "lost"))
        assert (quote.action, quote.amount) == ("lost", 1200)

    def test_the_coupon_of_the_order_stays_through_every_exchange(self) -> None:
        order = earphones(2, discounts=[fixed_discount(150, 2000)])
        exchanged(order)
        exchanged(order, ref="card_2")
        assert ask(order, (1, 2, "changed_mind")).amount == 2400 - 150

    def test_everything_given_back_after_exchanges_comes_to_what_was_paid(self) -> None:
        order = earphones(3, discounts=[fixed_discount(150, 2000)])
        exchanged(order, (1, 2, "defective"))
        returned(order, (1, 3, "defective"))
        assert cast.payment(order).refunded_amount == 3450
        assert states_of(order) == {"refunded": 3}


def ask_before() -> int:
    """What returning the earphones of order 5531 comes to before anything was exchanged: 1,200 − 150."""
    return 1050


def test_an_exchange_from_before_there_were_replacements_gets_its_own() -> None:
    order = earphones()
    request = exchange(order, (1, 2, "defective"))
    ReplacementLine.objects.all().delete()
    Replacement.objects.all().delete()
    Product.objects.update(reserved=0)
    import_module("refunds.migrations.0012_open_exchanges_have_their_replacement").reserve(apps, connection)
    assert (states_of(order), stock_of()) == ({"delivered": 1, "exchanging": 2}, (None, 2))
    returns.receive(return_id=request.pk, actor=warehouse())
    accept(return_id=request.pk, actor=warehouse())
    assert returns.complete_exchange(return_id=request.pk, actor=warehouse()).state == ReturnState.EXCHANGED
    assert (states_of(order), stock_of()) == ({"delivered": 1, "shipped": 2}, (None, 0))


def test_a_replacement_that_is_on_its_way_is_not_delivered_yet() -> None:
    order = earphones(1)
    request = accepted_exchange(order)
    returns.complete_exchange(return_id=request.pk, actor=warehouse())
    with pytest.raises(Refusal) as caught:
        ask(order, (1, 1, "changed_mind"))
    assert caught.value.code == "line_in_transit"
    arrives(Replacement.objects.get())
    assert ask(order, (1, 1, "changed_mind")).amount == 1200
