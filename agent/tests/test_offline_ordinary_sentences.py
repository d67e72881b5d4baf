"""Sentences that customers in Taiwan write about their orders, and what the stand-in makes of each."""

import re
from typing import Any

import pytest

from agent.offline.addresses import named_in_words
from agent.tests.offline_shop import Shop, Talk, line, product, units

HOME = {
    "recipient": "王小明",
    "phone": "0912345678",
    "postal_code": "220",
    "city": "新北市",
    "district": "板橋區",
    "street": "中山路一段 1 號",
}
XINYI = {"postal_code": "110", "city": "台北市", "district": "信義區", "street": "市府路 45 號 5 樓"}
BLACK, WHITE = "藍牙耳機 黑", "藍牙耳機 白"
ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
Data = dict[str, Any]


def shop(state: str, **more: Any) -> Shop:
    """White earphones and their case, both in one state, to be delivered at home."""
    lines = [line("li_1", WHITE, units(state)), line("li_2", "耳機殼", units(state), price=380)]
    products = [product(BLACK), product(WHITE), product("藍牙喇叭", 1990)]
    return Shop(lines=lines, address=dict(HOME), products=products, **more)


def lost_parcel() -> Shop:
    parcel = {"state": "shipped", "carrier": "", "tracking_number": "", "shipped_at": "2026-11-14T09:00+08:00"}
    inside = [{"line_item_id": "li_1", "quantity": 1}, {"line_item_id": "li_2", "quantity": 1}]
    return shop("lost", shipments=[{**parcel, "lines": inside}])


def quoted(talk: Talk) -> set[tuple[str, str]]:
    """Line and action of what was quoted."""
    return {(one["line_item_id"], one["action"]) for call in talk.called("quote_refund") for one in call["lines"]}


BOTH_CANCELLED = {("li_1", "cancel"), ("li_2", "cancel")}


# --- the address ---
@pytest.mark.parametrize(
    "sentence",
    [
        "請把地址改成 110 台北市信義區市府路 45 號 5 樓",
        "再改成 110 台北市信義區市府路 45 號 5 樓",
        "我填錯地址了，是110 台北市信義區市府路 45 號 5 樓",
        "可以改成寄到公司嗎？台北市信義區市府路 45 號 5 樓 110",
        "請改寄台北市信義區市府路 45 號 5 樓 郵遞區號110",
        "寄錯地方了，我住110台北市信義區市府路 45 號 5 樓",
        "我搬家了，新地址：110台北市信義區市府路 45 號 5 樓",
        "Could you update the shipping address to 110 台北市信義區市府路 45 號 5 樓?",
    ],
)
def test_a_new_place_is_put_on_a_card_and_is_no_exchange(sentence: str) -> None:
    talk = Talk(shop("unfulfilled"))
    talk.say(sentence)
    assert talk.called("update_shipping_address") == [{**HOME, **XINYI}]
    assert "search_products" not in talk.calls


@pytest.mark.parametrize("asking", ["我要改地址", "收件地址可以換嗎", "Please deliver to a different place"])
def test_the_answer_to_the_question_for_the_address_is_one_even_with_a_telephone_number(asking: str) -> None:
    talk = Talk(shop("unfulfilled"))
    talk.say(asking)
    talk.say("地址：110 台北市信義區市府路 45 號 5 樓，收件人 王小明，電話 0912345678")
    assert talk.called("update_shipping_address") == [{**HOME, **XINYI}]


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("收件人要改成陳小美", {"recipient": "陳小美"}),
        ("電話打錯了，應該是 0987654321", {"phone": "0987654321"}),
    ],
)
def test_another_person_at_the_same_place(sentence: str, changed: Data) -> None:
    talk = Talk(shop("unfulfilled"))
    talk.say(sentence)
    assert talk.called("update_shipping_address") == [{**HOME, **changed}]


@pytest.mark.parametrize(
    ("asking", "asked", "answer", "changed"),
    [
        ("改收件人", "收件人姓名", "李大華", {"recipient": "李大華"}),
        ("我要改電話", "電話", "0987654321", {"phone": "0987654321"}),
    ],
)
def test_only_what_is_to_change_is_asked_for(asking: str, asked: str, answer: str, changed: Data) -> None:
    talk = Talk(shop("unfulfilled"))
    assert talk.say(asking).endswith(f"：{asked}。")
    talk.say(answer)
    assert talk.called("update_shipping_address") == [{**HOME, **changed}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("收件人寫錯了", {}),
        ("把收件人換成我媽 林秀英", {"recipient": "林秀英"}),
        (
            "11008 臺北市信義區市府路45號5樓 王大明 0911222333",
            {
                "recipient": "王大明",
                "phone": "0911222333",
                "postal_code": "11008",
                "city": "臺北市",
                "district": "信義區",
                "street": "市府路45號5樓",
            },
        ),
        ("高雄市前鎮區成功二路 88 號謝謝", {"city": "高雄市", "district": "前鎮區", "street": "成功二路 88 號"}),
        (
            "No. 45, Shifu Rd., Xinyi Dist., Taipei City 110",
            {"postal_code": "110", "city": "Taipei City", "district": "Xinyi Dist.", "street": "No. 45, Shifu Rd."},
        ),
    ],
)
def test_the_parts_of_an_address_as_it_is_written(text: str, expected: dict[str, str]) -> None:
    assert named_in_words(text) == expected


@pytest.mark.parametrize("sentence", ["我要改地址", "已經寄出了還能改地址嗎？"])
def test_nobody_is_asked_for_an_address_that_nothing_can_be_sent_to(sentence: str) -> None:
    said = Talk(shop("shipped")).say(sentence)
    assert "地址沒辦法再更改" in said
    assert "轉接真人客服" in said
    assert "郵遞區號" not in said


def test_an_address_that_is_to_stay_is_left_alone() -> None:
    talk = Talk(shop("unfulfilled"))
    assert "都沒有變動" in talk.say("地址沒錯，不用改地址了")
    assert talk.calls == []


def test_goods_first_and_then_the_address_is_asked_for() -> None:
    talk = Talk(shop("unfulfilled"))
    said = talk.say("我要改地址，順便取消耳機殼")
    assert quoted(talk) == {("li_2", "cancel")}
    assert said.endswith("路名和門牌。")
    talk.say("110 台北市信義區市府路 45 號 5 樓")
    assert talk.called("update_shipping_address") == [{**HOME, **XINYI}]


# --- lost ---
@pytest.mark.parametrize(
    "sentence",
    [
        "我的包裹一直沒到，是不是寄丟了？",
        "東西呢？等了半個月了",
        "我的貨到底在哪裡？",
        "什麼時候會到？",
        "物流說找不到我的包裹",
        "15天了都沒消息",
        "可以查一下我的包裹嗎",
        "Where is my parcel? It's been two weeks",
        "Is it lost?",
        "包裹不見了，賠我",
    ],
)
def test_of_a_lost_parcel_the_choice_is_told_once_and_never_that_it_is_on_its_way(sentence: str) -> None:
    talk = Talk(lost_parcel())
    said = talk.say(sentence)
    assert said.count("退款，還是重新寄") + said.count("money back, or shall we send it again") == 1
    assert "途中" not in said
    assert "on its way" not in said
    assert "（）" not in said
    assert not ISO_DAY.search(said)


@pytest.mark.parametrize(
    ("answer", "tool"),
    [
        ("那退錢好了", "refund_items"),
        ("我要退款", "refund_items"),
        ("再寄一次", "resend_items"),
        ("我不想等了，退錢", "refund_items"),
    ],
)
def test_the_choice_is_understood_for_everything_that_was_lost(answer: str, tool: str) -> None:
    talk = Talk(lost_parcel())
    talk.say("包裹是不是弄丟了")
    talk.say(answer)
    assert tool in talk.calls
    lines = (talk.called("resend_items") or talk.called("quote_refund"))[0]["lines"]
    assert {one["line_item_id"] for one in lines} == {"li_1", "li_2"}


def test_a_parcel_without_carrier_and_number_has_no_empty_brackets() -> None:
    parcel = {"state": "shipped", "carrier": "", "tracking_number": "", "shipped_at": "2026-11-27T09:00+08:00"}
    inside = [{"line_item_id": "li_1", "quantity": 1}, {"line_item_id": "li_2", "quantity": 1}]
    said = Talk(shop("shipped", shipments=[{**parcel, "lines": inside}])).say("包裹到哪了")
    assert "「藍牙耳機 白」、「耳機殼」已於 11月27日寄出，正在運送途中" in said


# --- cancelling ---
@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("這張單不要了", BOTH_CANCELLED),
        ("我下錯單了", BOTH_CANCELLED),
        ("I no longer need the order", BOTH_CANCELLED),
        ("只留耳機，其他取消", {("li_2", "cancel")}),
        ("Keep the earphones, cancel the rest", {("li_2", "cancel")}),
        ("耳機殼不要", {("li_2", "cancel")}),
        ("能不能不要耳機殼", {("li_2", "cancel")}),
        ("耳機殼我想拿掉", {("li_2", "cancel")}),
        ("Please remove the case from my order", {("li_2", "cancel")}),
        ("Can I cancel just the earphones?", {("li_1", "cancel")}),
    ],
)
def test_what_is_to_be_cancelled(sentence: str, expected: set[tuple[str, str]]) -> None:
    talk = Talk(shop("unfulfilled"))
    talk.say(sentence)
    assert quoted(talk) == expected


@pytest.mark.parametrize("sentence", ["可以幫我取消嗎", "我不想買了", "退訂", "我改變主意了", "Cancel it please"])
def test_only_what_is_open_is_asked(sentence: str) -> None:
    talk = Talk(shop("unfulfilled"))
    said = talk.say(sentence)
    assert "請問是哪一件呢" in said or "Which item is it about?" in said
    talk.say("兩個都要")
    assert quoted(talk) == BOTH_CANCELLED


# --- returns and exchanges ---
@pytest.mark.parametrize(
    "sentence",
    ["耳機戴起來不舒服", "耳機品質很差", "耳機不好用，可以退嗎", "Can I send the earphones back?", "想退耳機"],
)
def test_what_is_to_be_returned(sentence: str) -> None:
    talk = Talk(shop("delivered"))
    talk.say(sentence)
    assert quoted(talk) == {("li_1", "return")}


@pytest.mark.parametrize("sentence", ["少寄一個耳機殼", "耳機殼沒有附在裡面"])
def test_what_was_left_out_of_a_delivered_parcel_goes_to_a_person(sentence: str) -> None:
    assert "轉接真人客服" in Talk(shop("delivered")).say(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["白色耳機換黑色", "耳機有沒有黑色可以換", "耳機換黑的", "Can I swap the white earphones for black ones?"],
)
def test_another_colour_is_exchanged_and_never_the_same_again(sentence: str) -> None:
    talk = Talk(shop("delivered"))
    talk.say(sentence)
    (arguments,) = talk.called("create_return")
    assert arguments["exchange_lines"][0]["product_id"] == f"SKU-{BLACK}"


@pytest.mark.parametrize("sentence", ["耳機想換別的顏色", "耳機可以換顏色嗎", "我的耳機想換其他款"])
def test_which_other_one_is_asked_with_what_there_is(sentence: str) -> None:
    talk = Talk(shop("delivered"))
    talk.shop.products.append(product("藍牙耳機 藍"))
    talk.shop.lines[0]["product_id"] = f"SKU-{WHITE}"
    said = talk.say(sentence)
    assert BLACK in said
    assert "藍牙耳機 藍" in said
    assert "create_return" not in talk.calls


@pytest.mark.parametrize("answer", ["藍色", "藍的好了", "藍牙耳機 藍", "the blue one"])
def test_the_colour_that_is_named_then_is_taken(answer: str) -> None:
    talk = Talk(shop("delivered"))
    talk.shop.products.append(product("藍牙耳機 藍"))
    talk.shop.lines[0]["product_id"] = f"SKU-{WHITE}"
    talk.say("耳機想換別的顏色")
    talk.say(answer)
    (arguments,) = talk.called("create_return")
    assert arguments["exchange_lines"][0]["product_id"] == "SKU-藍牙耳機 藍"


def test_a_kind_that_no_list_knows_is_looked_for_and_the_same_is_not_sent_again() -> None:
    talk = Talk(shop("delivered"))
    said = talk.say("耳機想換降噪的那款")
    assert talk.called("search_products")[0]["words"] == "降噪"
    assert "找不到" in said
    assert "create_return" not in talk.calls


def test_an_exchange_before_shipping_tells_what_can_be_done_instead() -> None:
    assert "可以先取消這一件，再重新下單" in Talk(shop("unfulfilled")).say("耳機想換成黑色")


# --- parcels and dates ---
@pytest.mark.parametrize("sentence", ["訂單進度", "今天會出貨嗎", "怎麼還沒出貨", "What's the status of my order?"])
def test_how_far_the_order_is_told_once_for_all_its_goods(sentence: str) -> None:
    said = Talk(shop("unfulfilled")).say(sentence)
    assert len(re.findall("還沒包裝|not been packed", said)) == 1


@pytest.mark.parametrize(
    "sentence", ["週五前到得了嗎", "明天可以到嗎", "預計到貨日？", "可以快一點嗎", "Will it be here by Friday?"]
)
def test_about_days_the_carrier_is_asked(sentence: str) -> None:
    talk = Talk(shop("unfulfilled"))
    talk.say(sentence)
    assert "estimate_delivery" in talk.calls


def test_of_goods_that_are_here_it_is_said_that_they_are() -> None:
    assert "已經送達" in Talk(shop("delivered")).say("什麼時候會到")


def test_goods_that_were_cancelled_are_not_said_to_be_waiting() -> None:
    said = Talk(shop("cancelled")).say("訂單進度")
    assert "已經取消" in said
    assert "還沒包裝" not in said


# --- compensation, money, persons ---
@pytest.mark.parametrize(("amount", "number"), [("五百元", 500), ("一千五", 1500), ("兩千三百", 2300), ("100", 100)])
def test_sums_are_also_understood_in_words(amount: str, number: int) -> None:
    talk = Talk()
    talk.say("我要補償")
    talk.say(amount)
    assert talk.called("propose_compensation")[0]["compensation_ntd"] == number


def test_who_names_no_amount_is_not_asked_again_and_again() -> None:
    talk = Talk()
    talk.say("我要補償")
    assert "轉接真人客服" in talk.say("不知道，你們看著辦")


@pytest.mark.parametrize(
    "sentence", ["退我運費", "差價可以退嗎", "想要折價券", "我要客訴", "你們的服務太爛了", "能指定到貨日嗎"]
)
def test_what_no_tool_does_is_offered_to_a_person(sentence: str) -> None:
    talk = Talk(shop("delivered"))
    assert "轉接真人客服" in talk.say(sentence)
    assert talk.calls == []


@pytest.mark.parametrize("sentence", ["人工客服", "可以跟你們主管講嗎", "不要機器人", "我要跟人講話", "Agent please"])
def test_a_person_is_asked_for_in_many_ways(sentence: str) -> None:
    talk = Talk()
    talk.say(sentence)
    assert talk.calls == ["hand_off_to_human"]


@pytest.mark.parametrize(("sentence", "says"), [("你是真人嗎", "不是真人"), ("Are you a bot?", "not a person")])
def test_it_does_not_pass_for_a_person(sentence: str, says: str) -> None:
    talk = Talk()
    assert says in talk.say(sentence)
    assert talk.calls == []


@pytest.mark.parametrize("sentence", ["我的退款呢", "錢還沒退", "退貨單號多少"])
def test_what_became_of_the_money_is_looked_up(sentence: str) -> None:
    talk = Talk()
    talk.say(sentence)
    assert talk.calls == ["list_refunds"]


# --- products ---
@pytest.mark.parametrize("sentence", ["有黑色的嗎", "推薦一個喇叭", "我想買喇叭", "喇叭防水嗎", "Any speakers?"])
def test_questions_about_products_are_looked_up(sentence: str) -> None:
    talk = Talk(shop("delivered"))
    said = talk.say(sentence)
    assert "get_product" in talk.calls
    assert "有的" not in said


def test_a_highest_price_is_part_of_the_search() -> None:
    talk = Talk(shop("delivered"))
    talk.say("2,000 元以下的喇叭有哪些")
    assert talk.called("search_products")[0] == {"words": "喇叭", "category": None, "price_max": 2000}
