"""What customers write next to a card, after it, or of money: the stand-in keeps to what was meant."""

from typing import Any

import pytest

from agent.tests.offline_shop import Shop, Talk, line, product, units
from agent.tests.test_offline_ordinary_sentences import HOME, XINYI

RED, BLUE, BLUETOOTH = "無線喇叭 紅色", "無線喇叭 藍色", "藍牙喇叭"
DECLINED = {"status": "declined"}
BOOKED, PAID = "2026-11-30T10:00+08:00", "2026-11-26T10:00+08:00"
CARD = {"method": "card", "last4": "1111", "by": "machine", "label": "信用卡（末四碼 1111）", "state": "succeeded"}
CREDIT = {"method": "store_credit", "last4": "", "by": "machine", "label": "購物金", "state": "succeeded"}
BY_HAND = {**CARD, "by": "hand", "label": "由人工退款，編號 TR 0412"}
Data = dict[str, Any]


def speaker(state: str = "delivered", **more: Any) -> Shop:
    """A red speaker for NT$700, in a shop that sells a blue one for as much, and other things for more."""
    bought = {**line("li_1", RED, units(state), price=700), "product_id": f"SKU-{RED}"}
    sold = [product(RED, 700), product(BLUE, 700), product(BLUETOOTH, 1690), product("耳機殼", 380)]
    return Shop(lines=[bought], products=[*sold, product("藍牙耳機")], address=dict(HOME), **more)


def refund(*to: tuple[Data, str], **more: Any) -> Data:
    return {
        "refund_id": "rf_1",
        "kind": "goods",
        "state": "succeeded",
        "state_text": "已退款",
        "display": "NT$1,500",
        "to": [{**share, "display": amount} for share, amount in to],
        "created_at": BOOKED,
        **more,
    }


# --- where money went ---
@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("錢退了嗎", "NT$300 已於 11月30日由人工退款，編號 TR 0412"),
        ("Where is my refund?", "NT$300 was paid by hand, number TR 0412, on 30 November"),
    ],
)
def test_what_a_person_has_paid_is_not_said_to_be_on_the_card(sentence: str, told: str) -> None:
    said = Talk(speaker("refunded", refunds=[refund((BY_HAND, "NT$300"))])).say(sentence)
    assert told in said
    assert "1111" not in said


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (
            "我的退款呢",
            [
                "NT$1,000 已於 11月30日退回尾號 1111 的卡片",
                "NT$200 已於 11月30日退回購物金",
                "NT$300 已於 11月30日由人工退款，編號 TR 0412",
            ],
        ),
        (
            "Where is my refund?",
            [
                "NT$1,000 was refunded to your card ending 1111 on 30 November",
                "NT$200 was refunded to your store credit on 30 November",
                "NT$300 was paid by hand, number TR 0412, on 30 November",
            ],
        ),
    ],
)
def test_several_payments_have_a_sentence_each(sentence: str, told: list[str]) -> None:
    paid = refund((CARD, "NT$1,000"), (CREDIT, "NT$200"), (BY_HAND, "NT$300"))
    said = Talk(speaker("refunded", refunds=[paid])).say(sentence)
    assert [each for each in told if each not in said] == []


def test_a_part_that_was_refused_is_not_told_with_those_that_were_paid() -> None:
    partly = refund((CREDIT, "NT$200"), ({**CARD, "state": "failed"}, "NT$1,000"), state="failed")
    said = Talk(speaker("refunded", refunds=[partly])).say("我的退款呢")
    assert "NT$200 已於" in said
    assert "NT$1,000 的退款沒有成功" in said


@pytest.mark.parametrize(
    "more", [{"to": [CARD | {"display": "NT$1,500"}]}, {"to": [BY_HAND | {"display": "NT$1,500"}]}]
)
def test_what_was_refunded_elsewhere_is_told_with_the_day_on_which_it_was(more: Data) -> None:
    elsewhere = refund(**{"kind": "elsewhere", "paid_at": PAID, **more})
    said = Talk(speaker("refunded", refunds=[elsewhere])).say("錢退了嗎")
    assert "11月26日" in said
    assert "11月30日" not in said


@pytest.mark.parametrize(
    ("sentence", "offered", "done"),
    [
        (
            "取消",
            "（NT$1,000 退到尾號 1111 的卡片、NT$200 退到購物金）",
            "NT$1,000 正在退回尾號 1111 的卡片。NT$200 正在退回購物金。",
        ),
        (
            "Please cancel it",
            "(NT$1,000 to your card ending 1111, NT$200 to your store credit)",
            "NT$1,000 is on its way to your card ending 1111. NT$200 is on its way to your store credit.",
        ),
    ],
)
def test_an_offer_and_its_end_name_each_payment_with_its_amount(sentence: str, offered: str, done: str) -> None:
    shares = [{**CARD, "display": "NT$1,000", "state": "pending"}, {**CREDIT, "display": "NT$200", "state": "pending"}]
    said = Talk(speaker("unfulfilled", to=shares)).say(sentence)
    assert offered in said
    assert done in said


@pytest.mark.parametrize(
    "sentence",
    [
        "我的退款到哪了",
        "錢退了嗎",
        "退到哪了",
        "退款到哪了",
        "退款完成了嗎",
        "你們有沒有退款",
        "Has my money been refunded?",
    ],
)
def test_a_question_about_money_asks_for_nothing(sentence: str) -> None:
    talk = Talk(speaker())
    said = talk.say(sentence)
    assert talk.calls == ["list_refunds"]
    assert "沒有退款" in said or "no refund" in said
    assert "哪一件" in said or "which item" in said


@pytest.mark.parametrize("sentence", ["錢退了嗎", "退到哪了", "我的退款到哪了"])
def test_and_of_a_refund_of_two_lines_it_is_told(sentence: str) -> None:
    shop = speaker("refunded", refunds=[refund((CARD, "NT$1,500"))])
    shop.lines.append(line("li_2", "耳機殼", units("refunded"), price=380))
    assert "NT$1,500 已於 11月30日退回尾號 1111 的卡片" in Talk(shop).say(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["可以退款嗎", "過期不能退了嗎", "是否可以退款", "可以幫我退款處理嗎", "退款會退到哪裡", "取消的話錢會退到哪"],
)
def test_and_a_wish_is_not_taken_for_a_question(sentence: str) -> None:
    talk = Talk(speaker())
    talk.say(sentence)
    assert "list_refunds" not in talk.calls


# --- goods that come back for some reasons only ---
@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("無線喇叭我不喜歡，想退貨", "只有商品有瑕疵或寄錯商品時才可以"),
        ("我想換貨", "只有商品有瑕疵或寄錯商品時才可以"),
        ("I do not like it, I want to return it", "can only come back if it is defective or not what was ordered"),
    ],
)
def test_what_comes_back_only_if_broken_or_wrong_is_told_so_before_anything_is_worked_out(
    sentence: str, told: str
) -> None:
    talk = Talk(kept_back())
    said = talk.say(sentence)
    assert told in said
    assert "可以退貨。" not in said
    assert talk.calls == ["get_order"]


def test_and_who_says_then_that_it_is_broken_gets_it_returned() -> None:
    talk = Talk(kept_back())
    talk.say("我不喜歡，想退貨")
    talk.say("其實是壞的")
    (asked,) = talk.called("quote_refund")
    assert (asked["lines"][0]["action"], asked["lines"][0]["reason"]) == ("return", "defective")


def kept_back() -> Shop:
    shop = speaker()
    shop.lines[0]["units"][0]["only_for"] = ["defective", "wrong_item"]
    return shop


# --- exchanges for something else ---
@pytest.mark.parametrize(
    "sentence",
    ["我想換成藍牙喇叭", "想換藍牙喇叭", "可以換成藍牙喇叭嗎？謝謝", "Can I swap it for a bluetooth speaker?"],
)
def test_another_product_that_was_asked_for_is_never_the_same_again(sentence: str) -> None:
    talk = Talk(speaker())
    said = talk.say(sentence)
    assert BLUETOOTH in said
    assert "NT$1,690" in said
    assert "create_return" not in talk.calls


def test_a_product_is_found_by_its_whole_name_before_one_that_only_contains_a_part_of_it() -> None:
    shop = speaker()
    shop.products = [product("藍牙耳機殼", 700), product("耳機殼", 700), product("藍牙耳機", 700)]
    talk = Talk(shop)
    talk.say("可以換成藍牙耳機嗎")
    (asked,) = talk.called("create_return")
    assert asked["exchange_lines"][0]["product_id"] == "SKU-藍牙耳機"


def test_and_one_that_only_contains_it_is_not_taken_because_its_price_fits() -> None:
    shop = speaker()
    shop.products = [product("藍牙耳機殼", 700), product("藍牙耳機", 1200)]
    talk = Talk(shop)
    assert "NT$1,200" in talk.say("可以換成藍牙耳機嗎")
    assert "create_return" not in talk.calls


def test_something_like_what_was_asked_for_is_asked_about_first() -> None:
    shop = speaker()
    shop.products = [product(RED, 700), product(BLUE, 700)]
    talk = Talk(shop)
    assert f"可以換成同價的：「{BLUE}」" in talk.say("我想換成防水喇叭")
    assert "create_return" not in talk.calls


def test_the_goods_that_go_back_stand_before_what_comes_instead() -> None:
    shop = speaker()
    shop.lines.append(line("li_2", BLUETOOTH, units("delivered"), price=1690))
    talk = Talk(shop)
    said = talk.say("無線喇叭換成藍牙喇叭")
    assert "NT$1,690" in said
    assert "create_return" not in talk.calls


@pytest.mark.parametrize(
    "sentence", ["想換一個新的", "想換成好的", "壞了，想換一個沒壞的", "喇叭換成一樣的", "想換成同款"]
)
def test_the_same_again_is_no_search(sentence: str) -> None:
    talk = Talk(speaker())
    talk.say(sentence)
    (asked,) = talk.called("create_return")
    assert asked["exchange_lines"][0]["product_id"] is None


@pytest.mark.parametrize(
    ("asking", "answer"),
    [
        ("Can I exchange it for another colour?", "blue"),
        ("可以換別的顏色嗎", "藍色"),
        ("可以換別的顏色嗎", "好，換藍色"),
    ],
)
def test_an_answer_that_names_what_the_card_has_already_brings_that_card_again(asking: str, answer: str) -> None:
    talk = Talk(speaker(presses=[DECLINED]))
    talk.say(asking)
    talk.say(answer)
    asked = [call["exchange_lines"][0]["product_id"] for call in talk.called("create_return")]
    assert asked == [f"SKU-{BLUE}"] * 2


# --- right after a press, and addresses alone ---
def test_who_writes_on_right_after_a_press_is_understood_alone_and_still_told_what_the_press_has_done() -> None:
    talk = Talk(speaker("lost"))
    talk.until_a_card("包裹一直沒到，請重寄一份")
    talk.shop.lines[0]["units"] = [units("resending")]
    said = talk.say("收件人改成林美玲，電話 0911222333")
    assert talk.called("update_shipping_address") == [{**HOME, "recipient": "林美玲", "phone": "0911222333"}]
    assert said.count("會重新寄出，補寄編號 rp_4") == 1


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        (
            "包裹一直沒寄到，請重寄一份，收件人改成林美玲，電話 0911222333",
            {"recipient": "林美玲", "phone": "0911222333"},
        ),
        ("請重寄一份，改寄到 110 台北市信義區市府路 45 號 5 樓", XINYI),
    ],
)
def test_goods_and_an_address_in_one_message_are_done_one_after_the_other(sentence: str, changed: Data) -> None:
    talk = Talk(speaker("lost"))
    talk.until_a_card(sentence)
    talk.shop.lines[0]["units"] = [units("resending")]
    said = talk.go_on()
    assert talk.called("resend_items") == [{"lines": [{"line_item_id": "li_1", "quantity": 1}]}]
    assert talk.called("update_shipping_address") == [{**HOME, **changed}]
    assert said.count("會重新寄出") == 1
    assert said.endswith("）。")
    assert "不需要再申請" not in said


def test_and_after_a_new_address_too() -> None:
    talk = Talk(speaker("unfulfilled"))
    talk.until_a_card("請把地址改成 110 台北市信義區市府路 45 號 5 樓")
    said = talk.say("包裹到哪了")
    assert said.count("已經改好了") == 1
    assert "還沒包裝" in said


def test_what_is_said_of_the_same_goods_right_after_a_press_is_done_together_with_the_rest() -> None:
    shop = speaker("unfulfilled")
    shop.lines.append(line("li_2", "耳機殼", units("delivered"), price=380))
    talk = Talk(shop)
    talk.until_a_card("喇叭取消，耳機殼想退貨")
    talk.say("謝謝")
    assert [call["lines"][0]["line_item_id"] for call in talk.called("quote_refund")] == ["li_1", "li_2"]


@pytest.mark.parametrize(
    "sentence",
    [
        "地址：110 台北市信義區市府路 45 號 5 樓 收件人：王小明 電話：0912345678",
        "110 台北市信義區市府路 45 號 5 樓，謝謝",
    ],
)
def test_an_address_and_nothing_else_is_a_new_address(sentence: str) -> None:
    talk = Talk(speaker("unfulfilled"))
    talk.say(sentence)
    assert talk.called("update_shipping_address") == [{**HOME, **XINYI}]


@pytest.mark.parametrize(
    "sentence", ["I want to exchange the speaker for a new one", "I need a new one, a replacement"]
)
def test_an_exchange_is_no_change_of_address(sentence: str) -> None:
    assert "address" not in Talk(speaker()).say(sentence)


def test_an_address_in_a_question_about_the_parcel_changes_nothing() -> None:
    talk = Talk(speaker("shipped"))
    talk.say("寄到台北市信義區市府路 45 號 5 樓的包裹到哪了")
    assert "update_shipping_address" not in talk.calls


# --- parcels ---
def test_the_hour_of_arrival_is_a_question_for_the_carrier() -> None:
    talk = Talk(speaker("unfulfilled"))
    talk.say("請問幾點會到")
    assert "estimate_delivery" in talk.calls


def test_of_lost_goods_it_is_said_how_many() -> None:
    shop = speaker()
    shop.lines[0]["units"] = [units("lost", 2)]
    assert "「無線喇叭 紅色」 2 件寄出很久" in Talk(shop).say("包裹一直沒到")
