"""Goods in the place of others: reserved, then sent or released; every move once, by whom it may, and written down."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from orders import goods
from orders.actors import NotAllowed, agent_actor
from orders.errors import InvalidInput, NotFound, Refusal
from orders.goods import GoodsMoved
from orders.models import AuditEvent, OrderAnnouncement, Product, ShipmentLine
from orders.tests import cast
from refunds import replacement_states, replacements, returns, selectors
from refunds.models import Replacement
from refunds.outcome import WrongMove
from refunds.present import replacement_as_dict
from refunds.signals import replacement_moved
from refunds.states import REPLACEMENT_MOVES, ReplacementState
from refunds.tests.going_back import (
    accepted_exchange,
    earphones,
    exchange,
    leaves,
    lost_earphones,
    own_stock,
    product,
    sent_again,
    states_of,
    stock_of,
    warehouse,
)

pytestmark = pytest.mark.django_db
LOST = (1, 1, "lost")


def of_exchange() -> Replacement:
    accepted_exchange(earphones())
    return Replacement.objects.get()


NOWHERE = [(state, to) for state in ReplacementState for to in ReplacementState if to not in REPLACEMENT_MOVES[state]]


@pytest.mark.parametrize(("state", "to"), NOWHERE)
def test_a_replacement_moves_along_its_list_and_nowhere_else(state: str, to: ReplacementState) -> None:
    replacement = sent_again(lost_earphones(), LOST)
    if state == ReplacementState.SENT:
        replacement = leaves(replacement)
    elif state == ReplacementState.RELEASED:
        replacement = replacements.release(replacement_id=replacement.pk, actor=warehouse(), note="缺貨")
    with pytest.raises(WrongMove):
        replacement_states.move(replacement=replacement, to=to, actor=warehouse())


def test_a_move_that_somebody_else_has_made_in_the_meantime_is_not_made_again() -> None:
    replacement = sent_again(lost_earphones(), LOST)
    as_it_was = Replacement.objects.get(pk=replacement.pk)
    replacements.release(replacement_id=replacement.pk, actor=warehouse(), note="缺貨")
    with pytest.raises(WrongMove):
        replacement_states.move(replacement=as_it_was, to=ReplacementState.RELEASED, actor=warehouse())


def test_every_move_writes_one_line_of_history() -> None:
    order = lost_earphones()
    leaves(sent_again(order, LOST))
    replacements.release(replacement_id=sent_again(order, LOST, ref="card_10").pk, actor=cast.staff(), note="改退款")
    actions = AuditEvent.objects.filter(subject_type="replacement").order_by("pk").values_list("action", flat=True)
    assert list(actions) == [
        "replacement.reserved",
        "replacement.sent",
        "replacement.reserved",
        "replacement.released",
    ]


def released(replacement: Replacement) -> None:
    replacements.release(replacement_id=replacement.pk, actor=warehouse(), note="缺貨")


@pytest.mark.parametrize(("first", "then"), [(leaves, released), (released, leaves)])
def test_what_has_ended_ends_no_other_way(first: Callable[[Any], Any], then: Callable[[Any], Any]) -> None:
    replacement = sent_again(lost_earphones(), LOST)
    first(replacement)
    with pytest.raises(Refusal) as caught:
        then(replacement)
    assert caught.value.code == "wrong_state"


def test_an_exchange_is_not_sent_before_its_goods_are_accepted() -> None:
    order = earphones()
    request = exchange(order)
    replacement = Replacement.objects.get()
    for step in (lambda: None, lambda: returns.receive(return_id=request.pk, actor=warehouse())):
        step()
        with pytest.raises(Refusal) as caught:
            leaves(replacement)
        assert caught.value.code == "goods_not_accepted"
    assert order.shipments.count() == 1


def test_the_replacement_of_an_exchange_ends_with_its_return_and_not_by_hand() -> None:
    with pytest.raises(Refusal) as caught:
        released(of_exchange())
    assert caught.value.code == "follows_its_return"


def test_only_staff_who_handle_goods_send() -> None:
    replacement = of_exchange()
    for actor in (cast.shopper(), cast.staff(), cast.staff("auditor"), agent_actor(cast.customer())):
        with pytest.raises(NotAllowed):
            replacements.send(replacement_id=replacement.pk, actor=actor)


def test_only_staff_who_handle_goods_or_confirm_for_customers_release() -> None:
    replacement = sent_again(lost_earphones(), LOST)
    for actor in (cast.shopper(), cast.staff("auditor"), agent_actor(cast.customer())):
        with pytest.raises(NotAllowed):
            replacements.release(replacement_id=replacement.pk, actor=actor, note="缺貨")


def test_one_that_does_not_exist_is_not_found() -> None:
    for number in ("rp_000000000000", "rp_', --", "nonsense"):
        with pytest.raises(NotFound):
            replacements.send(replacement_id=number, actor=warehouse())


def test_a_carriers_name_that_is_too_long_is_refused_by_name_and_nothing_is_sent() -> None:
    replacement = of_exchange()
    with pytest.raises(InvalidInput) as caught:
        replacements.send(replacement_id=replacement.pk, actor=warehouse(), carrier="x" * 81)
    assert caught.value.field == "carrier"
    assert replacement.order.shipments.count() == 1


def test_the_shop_hears_what_to_send_and_that_it_was_sent(settings: Any) -> None:
    settings.ORDER_WEBHOOK_URL = "https://shop.example/hook"
    product()
    request = accepted_exchange(earphones(), product_id="EAR-RED")
    returns.complete_exchange(return_id=request.pk, actor=warehouse())
    told = OrderAnnouncement.objects.filter(event__startswith="replacement.").order_by("pk")
    assert [announced.event for announced in told] == ["replacement.reserved", "replacement.sent"]
    assert told[0].payload["lines"] == [{"line_item_id": "li_1", "external_id": "1", "sku": "EAR-RED", "quantity": 1}]
    assert told[1].payload["shipment_id"] == Replacement.objects.get().shipment_id


@pytest.mark.django_db(transaction=True)
def test_listeners_hear_of_every_move_after_commit() -> None:
    heard: list[str] = []

    def listen(replacement_id: str, **said: Any) -> None:
        assert not transaction.get_connection().in_atomic_block
        heard.append(replacement_id)

    replacement_moved.connect(listen)
    try:
        replacement = leaves(sent_again(lost_earphones(), LOST))
    finally:
        replacement_moved.disconnect(listen)
    assert heard == [replacement.pk, replacement.pk]


def test_it_is_shown_with_its_parcel_once_it_has_left() -> None:
    replacement = sent_again(lost_earphones(), LOST)
    shown = replacement_as_dict(replacement)
    assert (shown["state"], shown["shipment_id"], shown["return_id"]) == ("reserved", None, None)
    assert shown["lines"] == [{"line_item_id": "li_1", "name": "藍牙耳機", "quantity": 1}]
    shown = replacement_as_dict(leaves(replacement))
    assert (shown["state"], shown["carrier"]) == ("sent", "黑貓宅急便")
    assert shown["shipment_id"].startswith("sh_")


def test_what_can_leave_now_is_listed_oldest_first() -> None:
    order = earphones(3)
    exchange(order, ref="card_1")
    ready = accepted_exchange(order, ref="card_2")
    assert [each.return_request for each in selectors.replacements_to_send()] == [ready]


class TestCounters:
    """No counter of held units or pieces falls below 0 or holds more than there are: by condition and constraint."""

    @pytest.mark.parametrize("hold", ["returning", "exchanging", "resending", "replaced", "refunded"])
    def test_units_that_are_not_held_cannot_be_let_go(self, hold: Any) -> None:
        shipment_line = cast.shipment_line(earphones(), 1)
        with pytest.raises(GoodsMoved):
            goods.release_units(shipment_line=shipment_line, quantity=1, hold=hold)
        with pytest.raises(IntegrityError), transaction.atomic():
            ShipmentLine.objects.filter(pk=shipment_line.pk).update(**{f"{hold}_quantity": -1})

    def test_more_units_than_there_are_cannot_be_held(self) -> None:
        shipment_line = cast.shipment_line(earphones(2), 1)
        goods.hold_units(shipment_line=shipment_line, quantity=1, hold="replaced")
        with pytest.raises(GoodsMoved):
            goods.hold_units(shipment_line=shipment_line, quantity=2, hold="resending")
        with pytest.raises(IntegrityError), transaction.atomic():
            ShipmentLine.objects.filter(pk=shipment_line.pk).update(resending_quantity=2)

    def test_reserved_pieces_never_fall_below_nothing(self) -> None:
        earphones()
        with pytest.raises(IntegrityError), transaction.atomic():
            Product.objects.filter(sku="EAR").update(reserved=-1)

    def test_every_reservation_is_gone_when_everything_has_ended(self) -> None:
        order = lost_earphones()
        own_stock(5)
        leaves(sent_again(order, LOST))
        released(sent_again(order, LOST, ref="card_10"))
        assert (stock_of(), states_of(order)) == ((4, 0), {"lost": 1, "shipped": 1})
