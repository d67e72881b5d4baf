"""Cards that cost nothing: exchange for another product, sending again, another address; from the press to the end."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from agent import cards, events, intake, sweep
from agent.models import Card, Conversation, ToolCall
from agent.states import CardState
from agent.tests.helpers import asked, at_once, call, hear, hold, meanwhile, talk
from agent.tools import executor
from backoffice.screens.cards import carry_out, decline_card
from orders.actors import customer_actor
from orders.address import change_address
from orders.errors import Refusal
from orders.models import AuditEvent, Order, Product
from orders.products import take_in_product
from orders.shipments import upsert_shipment
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, ago, shipment_body
from orders.tests.race import wait_until_blocked
from refunds.models import Replacement, Return
from tests.pages.visiting import JSON, signed_in, text_of

pytestmark = pytest.mark.django_db
HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "220",
    "city": "新北市",
    "district": "板橋區",
    "street": "中山路一段 1 號",
}
OFFICE = {**HOME, "postal_code": "106", "city": "台北市", "district": "大安區", "street": "和平東路一段 1 號 3 樓"}
THIRD = {**HOME, "street": "文化路二段 8 號"}


@pytest.fixture
def order() -> Order:
    order = cast.order_5531(shipping=FREE_DELIVERY, shipping_address=HOME)
    take_in_product(
        body={"sku": "EAR-B", "name": "藍牙耳機 黑色", "price": 1200, "currency": "TWD", "stock": 1}, actor=cast.SHOP
    )
    hear(order)
    return order


def card_of(order: Order, name: str, **arguments: Any) -> Card:
    """The card that a tool of the agent puts on the page."""
    (made,) = asked(order, call(name, **arguments))
    executor.run_call(hold(order), made.pk)
    return Card.objects.select_related("conversation__order", "conversation__customer").get(tool_call=made)


def exchange(order: Order) -> Card:
    line = {"line_item_id": "li_1", "quantity": 1, "reason": "other", "product_id": "EAR-B"}
    return card_of(order, "create_return", quote_id=None, exchange_lines=[line])


def address(order: Order) -> Card:
    return card_of(order, "update_shipping_address", **OFFICE)


def resend(order: Order) -> Card:
    body = shipment_body(
        {2: 1},
        state="shipped",
        external_id="s2",
        packed_at=ago(days=21).isoformat(),
        shipped_at=ago(days=20).isoformat(),
    )
    upsert_shipment(order=order, body=body, actor=cast.SHOP)
    return card_of(order, "resend_items", lines=[{"line_item_id": "li_2", "quantity": 1}])


def pack(order: Order) -> None:
    upsert_shipment(order=order, body=shipment_body({2: 1}, state="packed", external_id="s2"), actor=cast.SHOP)


def sell_out(order: Order) -> None:
    Product.objects.filter(sku="EAR-B").update(stock=0)


def arrive(order: Order) -> None:
    body = shipment_body({2: 1}, external_id="s2")
    upsert_shipment(order=order, body={**body, "packed_at": ago(days=21).isoformat()}, actor=cast.SHOP)


def picture(order: Order) -> list[Any]:
    """All that a press can have changed."""
    order.refresh_from_db()
    return [
        order.shipping_address,
        list(Return.objects.values_list("state", flat=True)),
        list(Replacement.objects.values_list("kind", "state")),
        list(Product.objects.order_by("sku").values_list("sku", "reserved")),
    ]


def press(card: Card, button: str = "confirm", *, who: str = "ming", **options: Any) -> Any:
    return signed_in(who).post(f"/orders/5531/chat/cards/{card.pk}/{button}/", **{"headers": JSON, **options})


Kind = Callable[[Order], Card]
EACH = pytest.mark.parametrize("kind", [exchange, resend, address], ids=lambda kind: str(kind.__name__))


@EACH
def test_pressing_does_it_once_however_often_and_the_model_hears_it(order: Order, kind: Kind) -> None:
    card = kind(order)
    before = picture(order)
    first = press(card)
    assert first.status_code == 200, first.content
    once = picture(order)
    second = press(card)
    assert once != before
    assert (picture(order), second.json()) == (once, first.json())
    assert first.json()["said"]
    card.refresh_from_db()
    call_made = ToolCall.objects.get()
    assert (card.state, call_made.is_error) == (CardState.CONFIRMED, False)
    assert (call_made.result or {})["status"] == "confirmed"


def test_each_press_is_the_customers_own_in_the_history(order: Order) -> None:
    press(address(order))
    moved = AuditEvent.objects.get(action="order.address_changed")
    assert (moved.actor_kind, moved.outcome["before"], moved.outcome["after"]) == ("customer", HOME, OFFICE)


def test_an_exchange_for_another_product_reserves_it(order: Order) -> None:
    press(exchange(order))
    assert Product.objects.get(sku="EAR-B").reserved == 1
    assert Replacement.objects.get().lines.get().product == Product.objects.get(sku="EAR-B")


def test_an_address_that_was_changed_again_since_is_not_set_back_by_a_second_press(order: Order) -> None:
    card = address(order)
    press(card)
    change_address(order=order, body=THIRD, actor=cast.shopper())
    assert press(card).status_code == 200
    order.refresh_from_db()
    assert order.shipping_address == THIRD


@pytest.mark.parametrize(
    ("kind", "meanwhile", "code"),
    [
        (address, pack, "already_shipped"),
        (exchange, sell_out, "out_of_stock"),
        (resend, arrive, ""),
    ],
    ids=["packed", "sold out", "arrived after all"],
)
def test_what_changed_meanwhile_is_refused_kindly_and_ends_the_card(
    order: Order, kind: Kind, meanwhile: Callable[[Order], None], code: str
) -> None:
    card = kind(order)
    meanwhile(order)
    before = picture(order)
    answer = press(card)
    assert answer.status_code in {400, 409}
    assert answer.json()["code"] == code or not code
    assert answer.json()["message"]
    assert picture(order) == before
    card.refresh_from_db()
    assert card.state == CardState.WITHDRAWN
    heard = ToolCall.objects.get()
    assert (heard.is_error, (heard.result or {})["code"]) == (True, answer.json()["code"])
    assert press(card).json()["code"] == "card_closed"


@EACH
def test_declining_changes_nothing_and_is_final(order: Order, kind: Kind) -> None:
    card = kind(order)
    before = picture(order)
    assert press(card, "decline").status_code == 200
    assert press(card, "decline").status_code == 200
    assert press(card).json()["code"] == "card_closed"
    assert picture(order) == before
    assert (ToolCall.objects.get().result or {})["status"] == "declined"


@EACH
def test_a_card_whose_time_is_over_is_refused_and_expires(order: Order, kind: Kind) -> None:
    card = kind(order)
    before = picture(order)
    Card.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert press(card).json()["code"] == "card_closed"
    sweep.sweep()
    card.refresh_from_db()
    assert (card.state, picture(order)) == (CardState.EXPIRED, before)


@EACH
def test_writing_something_else_declines_it(order: Order, kind: Kind) -> None:
    card = kind(order)
    hear(order, "wait, something else")
    card.refresh_from_db()
    assert card.state == CardState.DECLINED


@EACH
@pytest.mark.parametrize("button", ["confirm", "decline"])
def test_another_customers_card_does_not_exist(order: Order, kind: Kind, button: str) -> None:
    card = kind(order)
    before = picture(order)
    assert press(card, button, who="ming2").status_code == 404
    card.refresh_from_db()
    assert (card.state, picture(order)) == (CardState.OPEN, before)


@EACH
def test_without_a_script_the_press_says_what_became_of_it(order: Order, kind: Kind) -> None:
    card = kind(order)
    answer = press(card, headers={"Accept": "text/html", "Accept-Language": "en"}, follow=True)
    page = text_of(answer)
    assert answer.status_code == 200
    assert [word for word in ("arranged", "sent again", "new address") if word in page]


def test_the_page_draws_both_addresses_and_both_products(order: Order) -> None:
    exchange(order)
    page = text_of(signed_in("ming").get("/orders/5531/"))
    assert "藍牙耳機 黑色" in page
    Conversation.objects.update(state="closed")
    intake.say(order=order, customer=order.customer, text="地址", language="zh-hant")
    card = address(order)
    page = text_of(signed_in("ming").get("/orders/5531/"))
    drawn = page[page.index(f'data-card="{card.pk}"') :].split("</article>")[0]
    assert "新北市板橋區中山路一段 1 號" in drawn
    assert "台北市大安區和平東路一段 1 號 3 樓" in drawn
    assert "card-icon-address" in drawn


@pytest.mark.django_db(transaction=True)
def test_press_and_packing_at_once_agree_on_where_the_goods_go(order: Order) -> None:
    card = address(order)

    def try_to_press() -> str:
        try:
            carry_out(
                Card.objects.select_related("conversation__order").get(pk=card.pk), customer_actor(order.customer)
            )
        except Refusal as refusal:
            return refusal.code
        return "confirmed"

    outcome, _ = at_once(try_to_press, lambda: pack(order))
    order.refresh_from_db()
    assert (outcome, order.shipping_address) in [("confirmed", OFFICE), ("already_shipped", HOME)]


@pytest.mark.django_db(transaction=True)
def test_two_presses_at_once_send_the_goods_again_once(order: Order) -> None:
    card = resend(order)

    def again() -> str:
        seen = Card.objects.select_related("conversation__order").get(pk=card.pk)
        return str(carry_out(seen, customer_actor(order.customer)).result["replacement"]["replacement_id"])

    assert len(set(at_once(again, again))) == 1
    assert Replacement.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_press_that_comes_a_moment_after_the_refusal_does_nothing(order: Order) -> None:
    card, seen = resend(order), Card.objects.select_related("conversation__order").get()
    customer = customer_actor(order.customer)
    with meanwhile(lambda: carry_out(seen, customer)) as press, transaction.atomic():
        decline_card(card, customer)
        press.begin()
        wait_until_blocked(1)
    with pytest.raises(Refusal) as refused:
        press.result()
    assert refused.value.code == "card_closed"
    assert not Replacement.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_refusal_that_comes_a_moment_after_the_press_is_not_taken_for_one(order: Order) -> None:
    card, seen = resend(order), Card.objects.select_related("conversation__order").get()
    customer = customer_actor(order.customer)
    with meanwhile(lambda: decline_card(seen, customer)) as refusal, transaction.atomic():
        carry_out(card, customer)
        refusal.begin()
        wait_until_blocked(1)
    with pytest.raises(Refusal) as refused:
        refusal.result()
    assert refused.value.code == "card_closed"
    assert Card.objects.get().state == CardState.CONFIRMED


def test_staff_may_close_the_talk_and_nothing_can_be_pressed_any_more(order: Order) -> None:
    card = address(order)
    with events.writing(talk(order).pk) as conversation:
        cards.withdraw_open(conversation, actor=cast.staff())
    assert press(card).json()["code"] == "card_closed"


@pytest.mark.parametrize(
    ("card", "shown"),
    [(exchange, "藍牙耳機 × 1 → 藍牙耳機 黑色"), (address, "和平東路一段 1 號 3 樓")],
)
def test_staff_see_on_the_card_what_the_customer_sees(order: Order, card: Callable[[Order], Card], shown: str) -> None:
    card(order)
    page = " ".join(text_of(signed_in("staff").get(f"/staff/conversations/{talk(order).pk}/")).split())
    assert shown in page
    assert "等顧客確認" in page


def test_a_card_is_silent_about_a_reason_that_is_none(order: Order) -> None:
    exchange(order)
    page = text_of(signed_in("ming").get("/orders/5531/"))
    assert '<span class="meta" data-slot="reason"></span>' in page[: page.index("blank-card")]
    assert '"other": ""' in page
