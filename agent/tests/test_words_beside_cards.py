"""Words about what is to come, a person, money by a day, a press: they stand where something will see to it."""

from typing import Any

import pytest

from agent.claims import claims_in, unfounded
from agent.models import Conversation, ModelCall
from agent.offline.control import Control
from agent.states import CardState, ConversationState, TurnState
from agent.tests.helpers import SAME_AGAIN, call, hear, quoted, reply, talk, texts, work
from orders.models import Order
from orders.tests import cast
from refunds import redeem
from refunds.models import Refund
from refunds.states import RefundState

pytestmark = pytest.mark.django_db(transaction=True)
SOON = "Your NT$230 will be back on your card within five days."
ASK = call("hand_off_to_human", reason="cannot_help", summary="Money.")
EXCHANGE = call("create_return", quote_id=None, exchange_lines=[SAME_AGAIN])


@pytest.fixture
def order(model: Control) -> Order:
    order = cast.order_5531()
    hear(order, "Where is my money?")
    return order


def taken_back(order: Order) -> bool:
    return ModelCall.objects.filter(conversation__order=order, ending="false_claim").exists()


def kinds(text: str) -> list[str]:
    return [claim.kind for claim in claims_in(text)]


@pytest.mark.parametrize(
    "said",
    [
        "稍後會有專人與您聯繫。",
        "稍後將有客服人員與您聯絡。",
        "我幫您轉真人客服，請稍候。",
        "Connecting you to a live agent now...",
        "I'll have someone call you back.",
        "Let me transfer you to a colleague.",
        "I've flagged this for review.",
    ],
)
@pytest.mark.parametrize("called", [False, True])
def test_a_person_who_is_promised_in_any_words_has_to_be_called(
    model: Control, order: Order, said: str, called: bool
) -> None:
    model.script([reply(said, *([ASK] if called else [])), reply("Nobody was asked.")])
    work(order)
    assert taken_back(order) is not called
    assert (said in texts(order)) is called
    assert talk(order).needs_person is called


@pytest.mark.parametrize(
    "said",
    [
        "我已經在頁面上放了退款按鈕，請您確認。",
        "我已將退款與換貨的確認按鈕放在頁面上。",
        "已為您產生退款報價 NT$230，請確認。",
        "退款卡片已送出，請查看頁面上的按鈕。",
        "I've set up the refund for you to confirm below.",
        "I have registered your request for a refund; please confirm it with the button.",
    ],
)
def test_true_words_about_the_buttons_beside_them_stand_and_the_cards_come(
    model: Control, order: Order, said: str
) -> None:
    model.script([reply(said, call("refund_items", quote_id=quoted(order).pk), EXCHANGE)])
    assert work(order).state == TurnState.WAITING
    assert texts(order) == [said]
    assert talk(order).cards.count() == 2


@pytest.mark.parametrize(
    "said",
    [
        "退款按鈕我已經替您按了。",
        "退款卡片不用按，NT$230 已退回您的信用卡。",
        "The refund button is not needed, NT$230 has been refunded.",
        "I have pressed the refund button for you.",
        "Your refund of NT$230 was submitted. Please confirm that you got my message.",
    ],
)
def test_a_button_in_the_sentence_does_not_excuse_a_claim(said: str) -> None:
    assert "refund" in kinds(said)


@pytest.mark.parametrize(
    ("state", "stands"),
    [
        (None, False),
        (RefundState.PENDING, True),
        (RefundState.SUCCEEDED, True),
        (RefundState.UNKNOWN, True),
        (RefundState.FAILED, False),
        (RefundState.REJECTED, False),
    ],
)
def test_money_that_will_come_by_a_day_needs_a_refund_that_is_not_stuck(
    model: Control, order: Order, state: RefundState | None, stands: bool
) -> None:
    if state is not None:
        redeem.redeem(quote_id=quoted(order).pk, actor=cast.shopper())
        Refund.objects.update(state=state)
    model.script([reply(SOON), reply("Sorry.")])
    work(order)
    assert taken_back(order) is not stands


def test_another_amount_than_the_refunds_is_not_promised(model: Control, order: Order) -> None:
    redeem.redeem(quote_id=quoted(order).pk, actor=cast.shopper())
    model.script([reply("Your NT$1,430 will be back on your card within five days."), reply("Sorry.")])
    work(order)
    assert taken_back(order)


@pytest.mark.parametrize("brings_money", [True, False], ids=["refund", "exchange"])
def test_money_that_will_come_may_be_spoken_of_beside_a_card_and_while_it_waits(
    model: Control, order: Order, brings_money: bool
) -> None:
    card = call("refund_items", quote_id=quoted(order).pk) if brings_money else EXCHANGE
    model.script([reply(SOON, card), reply("Please confirm.", card)])
    assert work(order).state == TurnState.WAITING
    assert taken_back(order) is not brings_money
    assert bool(unfounded(talk(order), SOON)) is not brings_money


@pytest.mark.parametrize("state", [CardState.EXPIRED, CardState.DECLINED, CardState.WITHDRAWN])
def test_a_card_that_waits_no_more_is_no_ground(model: Control, order: Order, state: CardState) -> None:
    model.script([reply("Please confirm.", call("refund_items", quote_id=quoted(order).pk))])
    work(order)
    talk(order).cards.update(state=state)
    assert unfounded(talk(order), SOON)


def test_a_card_of_another_conversation_is_no_ground(model: Control, order: Order) -> None:
    model.script([reply("Please confirm.", call("refund_items", quote_id=quoted(order).pk))])
    work(order)
    Conversation.objects.update(state=ConversationState.CLOSED)
    hear(order, "And now?")
    assert unfounded(talk(order), SOON)


# --- what governs a sentence, and how far ---
@pytest.mark.parametrize(
    "said",
    [
        "您說左耳沒聲音，所以退款 NT$230 已經處理完成，耳機殼也取消了。",
        "您說得對，退款已經完成了。",
        "如果沒有其他問題的話，退款已經完成囉。",
        "當您看到這則訊息時，退款已經完成。",
        "由於政策關係，退款 NT$230 已完成。",
        "You mentioned the left ear is broken, so your NT$230 has been refunded.",
        "Before you go, your refund has been sent.",
        "According to our system, your refund has been issued.",
        "By our policy, NT$230 has been refunded.",
    ],
)
def test_a_courtesy_does_not_govern_what_is_then_said_to_be_done(said: str) -> None:
    assert "refund" in kinds(said)


@pytest.mark.parametrize(
    "said",
    [
        "如果您按下確認，退款已送出就不能再改。",
        "您提到客服已轉接、退款也已完成，但系統裡沒有紀錄。",
        "您提到客服回覆很快，退款也已經完成，但系統裡沒有這筆紀錄。",
        "您說，退款已經完成，耳機殼也已經取消。",
        "如果我們已經收到耳機，退款已經完成。",
        "Once you press, NT$230 has been refunded.",
        "You said your refund has arrived and the case was cancelled, but I can't find either.",
        "You said that, as you see it, the refund has been sent; I see no refund.",
        "To see it through, confirm with the button; then NT$230 is on its way to your card.",
    ],
)
def test_a_condition_of_this_trade_and_a_quotation_govern_the_sentence(said: str) -> None:
    assert kinds(said) == []


@pytest.mark.parametrize(
    ("innocent", "claim"),
    [
        ("款項已入帳，訂單已成立，現在等待出貨。", "退款款項已入帳，訂單已成立。"),
        ("You declined the refund, so it was cancelled.", "You declined the exchange, so I cancelled the case."),
        ("請向門市人員出示取貨碼，同事會協助您。", "我們同事會協助您。"),
        ("The courier will call you before delivery.", "A colleague will call you before delivery."),
        ("要不要我轉給客服同事？", "我這就轉給客服同事。"),
        ("退款需要 7 到 14 個工作天才會退到您的卡片。", "退款會在 7 到 14 天內退到您的卡片。"),
        ("按下確認之後，NT$230 會在三天內退到您的信用卡。", "不用按確認，NT$230 會在三天內退到您的信用卡。"),
        ("Press confirm, and NT$230 will arrive within five days.", "NT$230 will arrive within five days."),
    ],
)
def test_what_looks_alike_is_told_apart(innocent: str, claim: str) -> None:
    assert kinds(innocent) == []
    assert kinds(claim) != []


def answers(*said: str) -> list[dict[str, Any]]:
    return [reply(each) for each in said]


def test_an_opening_courtesy_does_not_keep_a_lie_on_the_page(model: Control, order: Order) -> None:
    lie = "您說左耳沒聲音，所以退款 NT$230 已經處理完成，耳機殼也取消了。"
    model.script(answers(lie, "還沒有退款。"))
    work(order)
    assert texts(order) == ["還沒有退款。"]
