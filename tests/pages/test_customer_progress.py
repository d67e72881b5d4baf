"""How far goods and money are on their way, what has been refunded of all orders, and the slip for the parcel."""

from collections.abc import Callable
from typing import Any

import pytest

from backoffice.screens import progress
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import shipment_body
from refunds.models import Refund
from refunds.redeem import redeem
from refunds.tests.ask import ask
from refunds.tests.going_back import lost_earphones, sent_again
from tests.pages.coming_back import return_of
from tests.pages.visiting import signed_in, text_of

pytestmark = pytest.mark.django_db


def refunded(number: str, state: str = "succeeded") -> Refund:
    """The case of an order like that of the story, refunded to the card."""
    redeem(quote_id=ask(cast.place(number), (2, 1, "changed_mind")).pk, actor=cast.shopper())
    refund = Refund.objects.get(order__number=number)
    Refund.objects.filter(pk=refund.pk).update(state=state)
    return refund


@pytest.mark.parametrize(
    ("parcels", "states"),
    [
        ([], ["done", "ahead", "ahead", "ahead"]),
        ([({1: 1, 2: 1}, "packed")], ["done", "done", "ahead", "ahead"]),
        ([({1: 1, 2: 1}, "shipped")], ["done", "done", "done", "ahead"]),
        ([({1: 1}, "delivered")], ["done", "partly", "partly", "partly"]),
        ([({1: 1}, "delivered"), ({2: 1}, "shipped")], ["done", "done", "done", "partly"]),
    ],
)
def test_an_order_is_as_far_as_the_last_of_its_goods(parcels: Any, states: list[str]) -> None:
    shipments = [shipment_body(goods, state=state, external_id=f"s{state}") for goods, state in parcels]
    order = cast.place("9801", shipments=shipments)
    assert [stage.state for stage in stages_of(order)] == states


def test_of_an_order_that_was_cancelled_nothing_is_on_its_way() -> None:
    order = cast.place("9802")
    redeem(quote_id=ask(order, (1, 1, "changed_mind"), (2, 1, "changed_mind")).pk, actor=cast.shopper())
    assert stages_of(order) == []
    assert 'class="track"' not in text_of(signed_in("ming").get("/orders/9802/")).split("退款與退換貨紀錄")[0]


def give_back(order: Order) -> None:
    redeem(quote_id=ask(order, (1, 1, "lost", "lost")).pk, actor=cast.shopper())


def send_again(order: Order) -> None:
    sent_again(order, (1, 1, "lost"))


@pytest.mark.parametrize(
    ("pieces", "settle", "states"),
    [
        (1, give_back, []),
        (2, give_back, ["done", "done", "done", "ahead"]),
        (1, send_again, ["done", "ahead", "ahead", "ahead"]),
    ],
)
def test_what_was_lost_is_never_said_to_have_arrived(
    pieces: int, settle: Callable[[Order], None], states: list[str]
) -> None:
    order = lost_earphones(pieces)
    settle(order)
    assert [stage.state for stage in stages_of(order)] == states


def stages_of(order: Order) -> list[progress.Stage]:
    return list(signed_in("ming").get(f"/orders/{order.number}/").context["stages"])


@pytest.mark.parametrize(
    ("state", "stages", "says"),
    [
        ("pending", ["done", "done", "ahead"], "退款處理中，通常 7–14 個工作天入帳"),
        ("succeeded", ["done", "done", "done"], "實際日期依發卡銀行而定"),
        ("unknown", ["done", "done", "ahead"], "不會重複付款"),
        ("failed", [], "真人客服會處理"),
        ("pending_approval", ["done", "ahead", "ahead"], ""),
        ("rejected", [], ""),
    ],
)
def test_a_refund_says_how_far_it_is_and_when_to_expect_the_money(state: str, stages: list[str], says: str) -> None:
    refunded("9803", state)
    answer = signed_in("ming").get("/refunds/")
    shown = answer.context["refunds"][0]
    assert [stage.state for stage in shown["stages"]] == stages
    assert says in shown["hint"]
    assert bool(says) == bool(shown["hint"])
    assert shown["hint"] in text_of(answer)


def test_my_refunds_are_those_of_all_my_orders_and_of_nobody_else() -> None:
    mine = [refunded("9804"), refunded("9805")]
    shown = text_of(signed_in("ming").get("/refunds/"))
    assert all(refund.pk in shown for refund in mine)
    others = text_of(signed_in("ming2").get("/refunds/"))
    assert not any(refund.pk in others for refund in mine)
    assert "還沒有退款" in others


def test_the_slip_has_the_number_for_the_parcel_and_only_for_its_customer() -> None:
    order = cast.place("9806", shipments=[shipment_body({1: 1})])
    back = return_of(order)
    address = f"/orders/9806/returns/{back.pk}/slip/"
    slip = text_of(signed_in("ming").get(address))
    assert f"<code>{back.pk}</code>" in slip
    assert "王小明" in slip
    assert address in text_of(signed_in("ming").get("/orders/9806/"))
    assert signed_in("ming2").get(address).status_code == 404


def test_what_has_arrived_needs_no_slip() -> None:
    order = cast.place("9807", shipments=[shipment_body({1: 1})])
    back = return_of(order)
    signed_in("warehouse").post(f"/staff/returns/{back.pk}/receive/")
    address = f"/orders/9807/returns/{back.pk}/slip/"
    assert signed_in("ming").get(address).status_code == 404
    assert address not in text_of(signed_in("ming").get("/orders/9807/"))
