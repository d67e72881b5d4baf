"""What the stand-in does besides refunds: products, exchanges for them, lost parcels, dates, address, compensation."""

import re
from typing import Any

import pytest

from agent.tests.offline_shop import Shop, Talk, line, product, story_lines, units

BLACK, WHITE = "藍牙耳機 黑色", "藍牙耳機 白色"
HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "220",
    "city": "新北市",
    "district": "板橋區",
    "street": "中山路一段 1 號",
}
DAY = re.compile(r"\d+月\d+日|\d+ December|\d{4}-\d{2}-\d{2}")


def lost_lines() -> list[dict[str, Any]]:
    return [line("li_1", "藍牙耳機", units("delivered")), line("li_2", "耳機殼", units("lost"), price=380)]


# --- exchanges for something else ---
@pytest.mark.parametrize(
    "sentence",
    [
        "耳機想換成黑色的",
        "想換成黑色的耳機",
        "可以把耳機改成黑色嗎",
        "I want to exchange the earphones for the black one",
        "Please swap the headphones for black ones",
    ],
)
def test_an_exchange_for_another_colour_looks_for_it_and_asks_for_the_press(sentence: str) -> None:
    talk = Talk(Shop(products=[product(BLACK), product(WHITE)]))
    said = talk.say(sentence)

    assert talk.calls[:2] == ["get_order", "search_products"]
    assert talk.called("create_return") == [
        {
            "quote_id": None,
            "exchange_lines": [
                {"line_item_id": "li_1", "quantity": 1, "reason": "other", "product_id": f"SKU-{BLACK}"}
            ],
        }
    ]
    assert BLACK in said
    assert "rt_9" in said


def test_one_item_for_something_else_and_another_for_the_same() -> None:
    lines = [*story_lines()[:1], line("li_2", "馬克杯", units("delivered"))]
    talk = Talk(Shop(lines=lines, products=[product(BLACK)]))
    talk.say("耳機想換成黑色的，馬克杯破了")

    (arguments,) = talk.called("create_return")
    wanted = {each["line_item_id"]: each["product_id"] for each in arguments["exchange_lines"]}
    assert wanted == {"li_1": f"SKU-{BLACK}", "li_2": None}


@pytest.mark.parametrize(
    "sentence", ["耳機右邊壞掉想換新的", "I'd like to exchange the earphones for a new one, they are broken"]
)
def test_a_new_one_of_the_same_needs_no_search(sentence: str) -> None:
    talk = Talk(Shop(products=[product(BLACK)]))
    talk.say(sentence)
    assert "search_products" not in talk.calls
    assert talk.called("create_return")[0]["exchange_lines"][0]["product_id"] is None


@pytest.mark.parametrize(
    ("products", "says"),
    [
        ([], "找不到"),
        ([product(BLACK, 1500)], "價格"),
        ([product(BLACK, in_stock=False)], "沒有現貨"),
    ],
)
def test_what_cannot_be_exchanged_is_said_and_no_card_appears(products: list[dict[str, Any]], says: str) -> None:
    talk = Talk(Shop(products=products))
    said = talk.say("耳機想換成黑色的")
    assert says in said
    assert "退貨" in said
    assert "create_return" not in talk.calls


def test_several_that_fit_are_asked_for_by_name_and_the_answer_is_understood() -> None:
    talk = Talk(Shop(products=[product(f"{BLACK} Pro"), product(f"{BLACK} Air")]))
    assert "請問要哪一個" in talk.say("耳機想換成黑色的")
    talk.say("Air 那個")
    assert talk.called("create_return")[0]["exchange_lines"][0]["product_id"] == f"SKU-{BLACK} Air"


def test_a_price_that_changed_meanwhile_is_told_once() -> None:
    error = {"code": "price_differs", "message": "價格不同。", "hint": "", "retryable": False}
    talk = Talk(Shop(products=[product(BLACK)], broken={"create_return": [error] * 5}))
    said = talk.say("耳機想換成黑色的")
    assert talk.calls.count("create_return") == 1
    assert "價格不同" in said


# --- lost parcels ---
@pytest.mark.parametrize(
    "sentence",
    [
        "包裹一直沒到，請重新寄",
        "耳機殼請補寄",
        "再寄一次耳機殼",
        "just send it again",
        "The case never arrived, please send another one",
    ],
)
def test_lost_goods_are_sent_again(sentence: str) -> None:
    talk = Talk(Shop(lines=lost_lines()))
    said = talk.say(sentence)
    assert talk.calls == ["get_order", "resend_items"]
    assert talk.called("resend_items") == [{"lines": [{"line_item_id": "li_2", "quantity": 1}]}]
    assert "rp_4" in said


@pytest.mark.parametrize("sentence", ["包裹一直沒到，我要退款", "耳機殼沒收到，退錢"])
def test_lost_goods_are_refunded_if_that_is_wanted(sentence: str) -> None:
    talk = Talk(Shop(lines=lost_lines()))
    talk.say(sentence)
    assert talk.called("quote_refund")[0]["lines"] == [
        {"line_item_id": "li_2", "quantity": 1, "reason": "lost", "action": "lost"}
    ]


@pytest.mark.parametrize(("answer", "tool"), [("重新寄一份", "resend_items"), ("退款好了", "refund_items")])
def test_who_only_misses_goods_is_asked_what_they_want(answer: str, tool: str) -> None:
    talk = Talk(Shop(lines=lost_lines()))
    assert "退款，還是重新寄" in talk.say("耳機殼一直沒收到")
    assert not {"quote_refund", "resend_items"} & set(talk.calls)
    talk.say(answer)
    assert tool in talk.calls


def test_what_is_still_on_its_way_is_not_sent_again() -> None:
    parcel = {"state": "shipped", "carrier": "黑貓", "tracking_number": "9", "shipped_at": "2026-11-27T09:00+08:00"}
    shipments = [{**parcel, "lines": [{"line_item_id": "li_1", "quantity": 1}]}]
    talk = Talk(Shop(lines=[line("li_1", "藍牙耳機", units("shipped"))], shipments=shipments))
    assert "運送途中" in talk.say("包裹一直沒到，請重新寄")
    assert "resend_items" not in talk.calls


def test_a_declined_resend_is_accepted() -> None:
    talk = Talk(Shop(lines=lost_lines(), presses=[{"status": "declined"}]))
    assert "沒有重新寄" in talk.say("耳機殼請補寄")


# --- dates ---
def estimate(**more: Any) -> dict[str, Any]:
    lines = [{"line_item_id": "li_2", "name": "耳機殼", "quantity": 1}]
    days = {"earliest": "2026-12-01", "latest": "2026-12-02", "carrier": "黑貓"}
    return {"state": "not_shipped", "lines": lines, **days, **more}


@pytest.mark.parametrize("sentence", ["耳機殼什麼時候會到？", "When will the case arrive?", "什麼時候會到"])
def test_when_will_it_arrive_is_answered_with_the_carriers_days_as_an_estimate(sentence: str) -> None:
    talk = Talk(Shop(estimates=[estimate()]))
    said = talk.say(sentence)
    assert "estimate_delivery" in talk.calls
    assert DAY.findall(said) in (["12月1日", "12月2日"], ["1 December", "2 December"])
    assert "預估" in said or "estimate" in said


def test_a_late_parcel_gets_no_new_day() -> None:
    said = Talk(Shop(estimates=[estimate(state="shipped", late=True)])).say("耳機殼什麼時候會到？")
    assert DAY.findall(said) == ["12月2日"]
    assert "不知道新的日期" in said


def test_a_carrier_that_does_not_answer_means_no_day_at_all() -> None:
    error = {"code": "carrier_unavailable", "message": "No answer.", "hint": "", "retryable": True}
    talk = Talk(Shop(broken={"estimate_delivery": [error]}))
    said = talk.say("耳機殼什麼時候會到？")
    assert talk.calls.count("estimate_delivery") == 1
    assert "沒有回應" in said
    assert not DAY.search(said)


# --- the address ---
@pytest.mark.parametrize(
    "sentence",
    [
        "請改寄到 106 台北市大安區和平東路一段1號3樓，收件人：陳小姐，電話 0987654321",
        "我想改地址：106台北市大安區和平東路一段1號3樓，收件人陳小姐，手機0987654321",
        "Please change the address. Recipient: 陳小姐, phone: 0987654321, postal code: 106, city: 台北市, "
        "district: 大安區, street: 和平東路一段1號3樓",
    ],
)
def test_a_complete_address_is_put_on_a_card(sentence: str) -> None:
    talk = Talk(Shop(address=HOME))
    said = talk.say(sentence)
    assert talk.called("update_shipping_address") == [
        {
            "recipient": "陳小姐",
            "phone": "0987654321",
            "postal_code": "106",
            "city": "台北市",
            "district": "大安區",
            "street": "和平東路一段1號3樓",
        }
    ]
    assert "和平東路一段1號3樓" in said


def test_missing_parts_are_asked_for_and_never_made_up() -> None:
    talk = Talk(Shop(address=HOME))
    assert "郵遞區號" in talk.say("請改寄到台北市大安區和平東路一段1號")
    assert "update_shipping_address" not in talk.calls
    talk.say("106")
    (arguments,) = talk.called("update_shipping_address")
    assert (arguments["postal_code"], arguments["street"]) == ("106", "和平東路一段1號")
    assert arguments["recipient"] == "王小明"


def test_without_a_known_address_everything_is_asked_for() -> None:
    said = Talk().say("我要改地址")
    for part in ("收件人姓名", "電話", "郵遞區號", "縣市", "鄉鎮市區", "門牌"):
        assert part in said


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ({"status": "declined"}, "地址沒有更改"),
        ({"status": "expired"}, "地址沒有更改"),
        ({"status": "unchanged", "shipping_address": HOME}, "本來就會寄到"),
    ],
)
def test_how_the_address_card_ended_is_told(result: dict[str, Any], says: str) -> None:
    talk = Talk(Shop(address=HOME, presses=[result]))
    assert says in talk.say("請改寄到106台北市大安區和平東路一段1號")


def test_goods_that_were_packed_meanwhile_stay_with_the_old_address() -> None:
    error = {"code": "already_shipped", "message": "都已經包裝了。", "hint": "", "retryable": False}
    said = Talk(Shop(address=HOME, broken={"update_shipping_address": [error]})).say(
        "請改寄到106台北市大安區和平東路一段1號"
    )
    assert "都已經包裝了" in said
    assert "轉接真人客服" in said


# --- compensation ---
@pytest.mark.parametrize(
    ("sentence", "amount"),
    [
        ("服務很差，要補償 100 元", 100),
        ("等了兩個禮拜，請賠償我NT$1,000", 1000),
        ("Your service is terrible, I want NT$200 compensation", 200),
    ],
)
def test_a_compensation_is_passed_on_with_the_customers_own_amount(sentence: str, amount: int) -> None:
    talk = Talk()
    said = talk.say(sentence)
    assert [each["compensation_ntd"] for each in talk.called("propose_compensation")] == [amount]
    assert sentence[:6] in talk.called("propose_compensation")[0]["reason"]
    assert "ap_5" in said
    assert "沒辦法保證" in said or "cannot promise" in said


def test_without_an_amount_the_customer_is_asked_and_none_is_suggested() -> None:
    talk = Talk()
    said = talk.say("服務很差，我要補償")
    assert talk.calls == []
    assert not re.search(r"\d", said)
    talk.say("300 元")
    assert talk.called("propose_compensation")[0]["compensation_ntd"] == 300


def test_a_compensation_beyond_the_limit_is_told_and_not_tried_with_less() -> None:
    error = {"code": "above_compensation_cap", "message": "這超過這裡可以提出的金額。", "hint": "", "retryable": False}
    talk = Talk(Shop(broken={"propose_compensation": [error]}))
    said = talk.say("要補償 9999 元")
    assert talk.calls.count("propose_compensation") == 1
    assert "超過這裡可以提出的金額" in said
    assert "轉接真人客服" in said


def test_compensation_is_never_brought_up_by_the_agent() -> None:
    said = Talk(Shop(lines=lost_lines())).say("耳機殼一直沒收到，太誇張了")
    assert "補償" not in said


# --- products ---
@pytest.mark.parametrize("sentence", ["你們有黑色的耳機嗎", "Do you have black earphones?"])
def test_a_question_about_products_is_answered_from_the_shop(sentence: str) -> None:
    talk = Talk(Shop(products=[product(BLACK), product(WHITE)]))
    said = talk.say(sentence)
    assert talk.calls[-1] == "get_product"
    assert BLACK in said
    assert "NT$1,200" in said
    assert WHITE not in said


def test_what_the_shop_does_not_have_is_not_made_up() -> None:
    talk = Talk()
    assert "找不到符合的商品" in talk.say("你們有黑色的喇叭嗎")
    assert talk.calls == ["search_products", "search_products"]


def test_several_products_are_listed_with_their_prices() -> None:
    said = Talk(Shop(products=[product(BLACK), product(WHITE, 990)])).say("你們有賣耳機嗎")
    assert BLACK in said
    assert "NT$990" in said
