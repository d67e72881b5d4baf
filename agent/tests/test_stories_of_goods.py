"""Whole talks with the stand-in and the real tools: another product, a lost parcel, an address, a date, a complaint."""

import pytest
from django.utils import timezone

from agent.models import Card
from agent.offline.control import Control
from agent.states import CardKind, CardState, TurnState
from agent.tests.helpers import hear, press, refused_requests, talk, texts, work
from agent.tools import executor
from orders.models import CarrierFault, Order, Product
from orders.products import take_in_product
from orders.states import CarrierFaultKind
from orders.tests import cast
from orders.tests.factories import FREE_DELIVERY, ago, line_body, shipment_body
from refunds.models import Approval, Refund, Replacement, Return
from refunds.states import ApprovalState, ReplacementKind

pytestmark = pytest.mark.django_db(transaction=True)
HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "220",
    "city": "新北市",
    "district": "板橋區",
    "street": "中山路一段 1 號",
}


@pytest.fixture
def order() -> Order:
    """Earphones that have arrived, a case that is not packed, a stand that was lost."""
    lost = {"packed_at": ago(days=21).isoformat(), "shipped_at": ago(days=20).isoformat()}
    take_in_product(
        body={
            "sku": "EAR-WHITE",
            "name": "藍牙耳機 白",
            "price": 1200,
            "currency": "TWD",
            "stock": 2,
            "category": "audio",
        },
        actor=cast.SHOP,
    )
    return cast.place(
        "5531",
        lines=[
            line_body(1, "藍牙耳機", 1200, sku="EAR", category="audio"),
            line_body(2, "耳機殼", 380, sku="CASE"),
            line_body(3, "手機支架", 450, sku="HOLDER"),
        ],
        shipping=FREE_DELIVERY,
        shipments=[shipment_body({1: 1}), shipment_body({3: 1}, state="shipped", external_id="s3", **lost)],
        placed_at=ago(days=25).isoformat(),
        shipping_address=HOME,
    )


def say(order: Order, sentence: str) -> str:
    """The customer says it, the agent works; what the agent said last."""
    hear(order, sentence, language="zh-hant")
    assert work(order).state in {TurnState.DONE, TurnState.WAITING}
    return texts(order)[-1]


def press_the_card(order: Order, kind: CardKind) -> str:
    card = Card.objects.select_related("conversation__order", "conversation__customer").get(
        conversation=talk(order), state=CardState.OPEN
    )
    assert card.kind == kind
    press(card)
    work(order)
    return texts(order)[-1]


@pytest.mark.parametrize("sentence", ["耳機想換成白色的", "I want to exchange the earphones for the white ones"])
def test_an_exchange_for_another_colour(order: Order, model: Control, sentence: str) -> None:
    assert "藍牙耳機 白" in say(order, sentence)
    told = press_the_card(order, CardKind.EXCHANGE)
    assert Return.objects.get().pk in told
    assert Product.objects.get(sku="EAR-WHITE").reserved == 1
    assert refused_requests(model) == []


@pytest.mark.parametrize("sentence", ["包裹一直沒到，請重新寄", "My parcel never arrived, just send it again"])
def test_a_lost_parcel_is_sent_again(order: Order, model: Control, sentence: str) -> None:
    say(order, sentence)
    told = press_the_card(order, CardKind.RESEND)
    made = Replacement.objects.get()
    assert (made.kind, made.pk in told) == (ReplacementKind.LOST, True)
    assert not Refund.objects.exists()


def test_an_address_is_changed_once_it_is_complete_and_confirmed(order: Order, model: Control) -> None:
    assert "郵遞區號" in say(order, "請改寄到台北市大安區和平東路一段1號3樓")
    assert not Card.objects.exists()
    say(order, "106")
    press_the_card(order, CardKind.ADDRESS)
    order.refresh_from_db()
    assert order.shipping_address == {
        **HOME,
        "postal_code": "106",
        "city": "台北市",
        "district": "大安區",
        "street": "和平東路一段1號3樓",
    }


def test_a_date_is_the_carriers_or_there_is_none(order: Order, model: Control, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "PAUSE_SECONDS", 0)
    year = str(timezone.localdate().year)
    assert "預估" in say(order, "耳機殼什麼時候會到？")
    CarrierFault.objects.create(kind=CarrierFaultKind.DOWN, remaining=executor.TRIES, seconds=0)
    told = say(order, "那現在呢，耳機殼什麼時候會到？")
    assert "沒有回應" in told
    assert year not in told


def test_a_complaint_becomes_a_question_to_a_colleague(order: Order, model: Control) -> None:
    told = say(order, "服務很差，要補償 100 元")
    approval = Approval.objects.get()
    assert (approval.state, approval.amount, approval.pk in told) == (ApprovalState.WAITING, 100, True)
    assert "沒辦法保證" in told
    assert not Card.objects.exists()


def test_a_compensation_above_the_limit_is_told_and_leaves_nothing(order: Order, model: Control) -> None:
    assert "沒辦法轉達" in say(order, "服務很差，要補償 2,000 元")
    assert not Approval.objects.exists()
