"""Lost goods are sent again: held and reserved at once, then a new parcel stands for them, or they are free again."""

import pytest
from django.utils import translation

from orders.actors import NotAllowed, agent_actor
from orders.errors import InvalidInput, NotFound, Refusal
from orders.models import AuditEvent
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds import replacements
from refunds.models import Refund, Replacement
from refunds.redeem import redeem
from refunds.resend import resend
from refunds.resend_check import check_resend, parse_resend
from refunds.states import ReplacementState
from refunds.tests.ask import ask, choices
from refunds.tests.going_back import (
    arrives,
    earphones,
    exchanged,
    leaves,
    lost_earphones,
    names_of,
    own_stock,
    parcel_is,
    product,
    returned,
    sent_again,
    states_of,
    stock_of,
    warehouse,
)

pytestmark = pytest.mark.django_db
LOST = (1, 1, "lost")


def test_lost_units_are_held_and_stock_is_reserved() -> None:
    order = lost_earphones()
    own_stock(3)
    replacement = sent_again(order, LOST)
    assert (replacement.kind, replacement.state) == ("lost", ReplacementState.RESERVED)
    assert (states_of(order), stock_of()) == ({"lost": 1, "resending": 1}, (3, 1))


def test_the_new_parcel_stands_for_them_and_can_be_returned() -> None:
    order = lost_earphones()
    own_stock(3)
    replacement = leaves(sent_again(order, LOST))
    assert (states_of(order), stock_of()) == ({"lost": 1, "shipped": 1}, (2, 0))
    arrives(replacement)
    assert states_of(order) == {"lost": 1, "delivered": 1}
    returned(order, (1, 1, "changed_mind", "return"))
    redeem(quote_id=ask(order, (1, 1, "lost", "lost")).pk, actor=cast.shopper())
    assert states_of(order) == {"refunded": 2}
    assert cast.payment(order).refunded_amount == 2400


def test_a_parcel_that_is_lost_once_more_is_sent_once_more_and_comes_to_the_same_in_the_end() -> None:
    order = lost_earphones(1)
    first = leaves(sent_again(order, LOST))
    parcel_is(order, first.pk, "lost")
    second = leaves(sent_again(order, LOST, ref="card_10"))
    arrives(second)
    assert ask(order, (1, 1, "changed_mind")).amount == 1200


def test_a_lost_replacement_of_another_product_is_sent_again_as_that_product() -> None:
    order = earphones(1)
    product(pieces=3)
    replacement = exchanged(order, product_id="EAR-RED")
    order.shipments.filter(external_id=replacement.pk).update(state="lost", delivered_at=None)
    leaves(sent_again(order, LOST))
    assert (names_of(order), stock_of("EAR-RED")) == (["藍牙耳機 紅"], (1, 0))


def test_the_same_request_again_is_the_same_replacement() -> None:
    order = lost_earphones()
    own_stock(3)
    assert sent_again(order, LOST) == sent_again(order, LOST)
    assert (Replacement.objects.count(), stock_of()) == (1, (3, 1))


def test_on_another_order_the_same_reference_is_another_replacement() -> None:
    first = sent_again(lost_earphones(1), LOST)
    other = cast.place("7802", lines=[("殼", 300, 1)], shipments=[shipment_body({1: 1}, state="lost")])
    assert sent_again(other, LOST).pk != first.pk
    assert sent_again(first.order, LOST) == first


def test_the_same_reference_for_other_goods_is_refused() -> None:
    order = lost_earphones()
    sent_again(order, LOST)
    with pytest.raises(Refusal) as caught:
        sent_again(order, (1, 2, "lost"))
    assert caught.value.code == "reference_reused"
    assert states_of(order) == {"lost": 1, "resending": 1}


def test_the_same_reference_for_all_of_another_line_is_refused() -> None:
    order = cast.place("7803", shipments=[shipment_body({1: 1, 2: 1}, state="lost")])
    sent_again(order, LOST)
    with pytest.raises(Refusal) as caught:
        sent_again(order, (2, None, "lost"))
    assert caught.value.code == "reference_reused"
    assert sent_again(order, (1, None, "lost")) == Replacement.objects.get()


def test_units_that_are_being_sent_again_are_refused_with_the_number() -> None:
    order = lost_earphones(1)
    replacement = sent_again(order, LOST)
    for act in (lambda: ask(order, LOST), lambda: check_resend(order, choices(LOST))):
        with pytest.raises(Refusal) as caught:
            act()
        assert caught.value.code == "already_resending"
        assert replacement.pk in caught.value.message


def test_a_quote_for_lost_goods_ends_when_they_are_sent_again_instead() -> None:
    order = lost_earphones(1)
    quote = ask(order, LOST)
    sent_again(order, LOST)
    with pytest.raises(Refusal) as caught:
        redeem(quote_id=quote.pk, actor=cast.shopper())
    assert (caught.value.code, caught.value.details["because"]) == ("order_changed", "already_resending")
    assert not Refund.objects.exists()


def test_goods_that_are_not_lost_are_not_sent_again() -> None:
    with pytest.raises(InvalidInput) as caught:
        check_resend(earphones(), choices(LOST))
    assert caught.value.field == "lines[0].line_item_id"


def test_what_is_on_its_way_is_waited_for() -> None:
    order = earphones(1, shipments=[shipment_body({1: 1}, state="shipped")])
    with pytest.raises(Refusal) as caught:
        check_resend(order, choices(LOST))
    assert caught.value.code == "line_in_transit"


def test_out_of_stock_says_so_and_lost_goods_can_still_be_refunded() -> None:
    order = lost_earphones()
    own_stock(1)
    with pytest.raises(Refusal) as caught:
        sent_again(order, (1, 2, "lost"))
    assert (caught.value.code, caught.value.details["available"]) == ("out_of_stock", 1)
    assert (states_of(order), stock_of()) == ({"lost": 2}, (1, 0))
    assert ask(order, (1, 2, "lost")).amount == 2400


def test_checking_changes_nothing() -> None:
    order = lost_earphones()
    (unit,) = check_resend(order, choices((1, 2, "other")))
    assert (unit.quantity, unit.reason, unit.replaced_by.sku) == (2, "lost", "EAR")
    assert (states_of(order), Replacement.objects.count()) == ({"lost": 2}, 0)


def test_a_body_needs_no_reason() -> None:
    assert parse_resend({"lines": [{"line_item_id": "li_1", "quantity": 1}]})[0].reason == "lost"
    with pytest.raises(InvalidInput):
        parse_resend({"lines": [{"line_item_id": "li_1", "quantity": 1, "amount": 5}]})


def test_only_the_customer_and_staff_who_confirm_for_customers_have_goods_sent_again() -> None:
    order = lost_earphones()
    for actor in (cast.staff("warehouse"), cast.staff("auditor"), agent_actor(cast.customer())):
        with pytest.raises(NotAllowed):
            resend(order=order, lines=choices(LOST), actor=actor, request_ref="x")
    with pytest.raises(NotFound):
        resend(order=order, lines=choices(LOST), actor=cast.shopper("ming2"), request_ref="x")
    assert resend(order=order, lines=choices(LOST), actor=cast.staff(), request_ref="x", note="客人來電")


class TestArrivedAfterAll:
    def test_while_the_next_parcel_is_being_packed_it_is_not_sent_and_is_released_by_hand(self) -> None:
        order = lost_earphones(1)
        own_stock(2)
        replacement = sent_again(order, LOST)
        parcel_is(order, "s1", "delivered")
        assert states_of(order) == {"resending": 1}
        with translation.override("en"), pytest.raises(Refusal) as caught:
            leaves(replacement)
        assert caught.value.code == "arrived_after_all"
        assert "Release" in caught.value.hint
        replacements.release(replacement_id=replacement.pk, actor=warehouse(), note="原包裹送到了")
        assert (states_of(order), stock_of()) == ({"delivered": 1}, (2, 0))
        assert ask(order, (1, 1, "changed_mind")).amount == 1200

    def test_after_the_next_parcel_has_left_every_unit_still_counts_once(self) -> None:
        order = lost_earphones(1)
        replacement = leaves(sent_again(order, LOST))
        parcel_is(order, "s1", "delivered")
        assert states_of(order) == {"shipped": 1}
        arrives(replacement)
        returned(order, (1, 1, "changed_mind"))
        assert (states_of(order), cast.payment(order).refunded_amount) == ({"refunded": 1}, 1200)
        with pytest.raises(Refusal) as caught:
            ask(order, (1, 1, "changed_mind"))
        assert caught.value.code == "already_refunded"

    def test_what_was_released_is_lost_again_where_its_parcel_still_is(self) -> None:
        order = lost_earphones(1)
        replacement = sent_again(order, LOST)
        released = replacements.release(replacement_id=replacement.pk, actor=cast.staff(), note="客人改要退款")
        assert (released.state, states_of(order)) == (ReplacementState.RELEASED, {"lost": 1})
        assert ask(order, LOST).amount == 1200


def test_releasing_needs_a_reason_and_happens_once() -> None:
    order = lost_earphones()
    own_stock(3)
    replacement, other = sent_again(order, LOST), sent_again(order, LOST, ref="card_10")
    with pytest.raises(InvalidInput):
        replacements.release(replacement_id=replacement.pk, actor=warehouse(), note=" ")
    for _ in range(2):
        replacements.release(replacement_id=replacement.pk, actor=warehouse(), note="缺貨")
    assert (states_of(order), stock_of()) == ({"lost": 1, "resending": 1}, (3, 1))
    assert AuditEvent.objects.filter(action="replacement.released").count() == 1
    other.refresh_from_db()
    assert other.state == ReplacementState.RESERVED
