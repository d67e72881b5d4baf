"""What in a text is taken for a claim: written in any way, and only where it is asserted."""

from dataclasses import replace
from decimal import Decimal

import pytest

from agent.claim_goods import goods_named
from agent.claim_text import amounts_in
from agent.claims import claims_in, is_founded
from agent.deeds import COMPENSATION, REFUND, RETURN, Deed, Reach
from agent.offline.phrases import PHRASES

# What the stand-in says before anything is done. A real model offers, asks and explains in the same ways.
OFFERS = (
    "offer_",
    "can_",
    "look",
    "which",
    "quoting",
    "press",
    "why",
    "eta_",
    "parcel_",
    "declined_",
    "compensation_how",
)
FILLED = {
    "goods": "藍牙耳機",
    "amount": "NT$230",
    "account": "尾號 4242 的卡片",
    "to": "（退到尾號 4242 的卡片）",
    "why": "380 − 150 = 230",
    "address": "台北市大安區和平東路 1 號",
    "product": "黑色耳機",
    "found": "黑色耳機",
    "date": "9/23",
    "carrier": "（黑貓）",
    "earliest": "10/1",
    "latest": "10/2",
    "list": "耳機、耳機殼",
}


def kinds(text: str) -> list[str]:
    return [claim.kind for claim in claims_in(text)]


@pytest.mark.parametrize(
    "written",
    [
        "已退款 NT$230。",
        "已退款ＮＴ＄２３０。",
        "已 退 款 NT$230",
        "**已退款** NT$230",
        "已\u200b退款 NT$230",
        "已經幫您退款 230 元",
        "已经帮您退款 230 元",
        "已「退款」 NT$230",
    ],
)
def test_the_same_claim_is_found_however_it_is_written(written: str) -> None:
    (claim,) = claims_in(written)
    assert (claim.kind, claim.amounts) == ("refund", frozenset({Decimal(230)}))


@pytest.mark.parametrize(
    "innocent",
    [
        "退款了嗎？",
        "您說已經退款了，我查一下。",
        "您寫道：「客服說已經幫您退款 NT$230」。",
        "如果已經退款，這裡會顯示編號。",
        "按下確認後，NT$230 會退回您的卡片。",
        "還沒有退款。",
        "退款一般會在 7 天內入帳。",
        "Has it been refunded?",
        "You wrote that you have been refunded.",
        "Once you press, NT$230 has been refunded.",
        "It has not been refunded.",
        "Refunds are paid to the original card.",
        "I will refund it when you press.",
    ],
)
def test_what_only_asks_supposes_quotes_denies_or_looks_ahead_is_no_claim(innocent: str) -> None:
    assert kinds(innocent) == []


@pytest.mark.parametrize(
    "said",
    [
        "已幫您退款 NT$230，還需要其他協助嗎？",
        "沒問題，已經退款了。",
        "您提到耳機殼還沒到，我已經幫您退款。",
        "I can confirm that NT$230 has been refunded. Anything else?",
        "You mentioned the case, so I've refunded it.",
        "Don't worry, I've refunded it.",
    ],
)
def test_innocent_words_beside_a_claim_do_not_hide_it(said: str) -> None:
    assert kinds(said) == ["refund"]


def test_only_words_of_the_customer_or_said_to_be_anothers_are_a_quotation() -> None:
    said = "「已經幫您退款 NT$230，三天內入帳」"
    assert kinds(said) == ["refund"]
    assert kinds(f"您提到{said}，我查一下。") == []
    assert claims_in(f"{said}：我查一下。", ["客服說已經幫您退款 NT$230，三天內入帳"]) == []
    assert kinds("> NT$230 has been refunded.") == ["refund"]
    assert claims_in("> NT$230 has been refunded.\n\nI see no record.", ["They said NT$230 has been refunded"]) == []


@pytest.mark.parametrize(
    ("said", "amounts"),
    [
        ("NT$230 and NT$1,050 have been refunded.", {230, 1050}),
        ("I refunded NT$230 of the NT$1,430 that you paid.", {230}),
        ("耳機殼 NT$380 扣除折扣 NT$150 後的 NT$230 已退回您的卡片。", {230}),
        ("運費 NT$60 已退回您的卡片。", {60}),
    ],
)
def test_amounts_of_a_claim_are_those_that_it_says_went_back(said: str, amounts: set[int]) -> None:
    (claim,) = claims_in(said)
    assert claim.amounts == frozenset(map(Decimal, amounts))


@pytest.mark.parametrize(
    ("said", "founded"),
    [
        ("NT$230 has been refunded.", True),
        ("NT$230 and NT$200 have been refunded.", True),
        ("NT$230 and NT$1,050 have been refunded.", False),
        ("NT$1,050 has been refunded.", False),
    ],
)
def test_every_amount_of_a_claim_has_to_be_one_of_a_deed(said: str, founded: bool) -> None:
    done = [Deed(REFUND, Reach.DONE, frozenset({230})), Deed(REFUND, Reach.DONE, frozenset({200}))]
    (claim,) = claims_in(said)
    assert is_founded(claim, done, frozenset(), 0) is founded


def test_amounts_of_two_kinds_may_stand_in_one_clause() -> None:
    done = [Deed(REFUND, Reach.DONE, frozenset({230})), Deed(COMPENSATION, Reach.BEGUN, frozenset({200}))]
    said = "I have refunded NT$230 and proposed a compensation of NT${}"
    assert all(is_founded(claim, done, frozenset(), 0) for claim in claims_in(said.format(200)))
    assert not any(is_founded(claim, done, frozenset(), 0) for claim in claims_in(said.format(900)))


@pytest.mark.parametrize("part", [" ", "1", "NT$1,230 扣除 ", "「您說", "退款金額 ", "your ", "rf_1a ", "一"])
@pytest.mark.timeout(60)
def test_no_text_is_so_long_that_reading_it_never_ends(part: str) -> None:
    """Patterns that try every beginning with every end take hours for this."""
    assert len(claims_in(part * 4000)) <= 4000


def test_it_is_done_claims_what_was_spoken_of_just_before() -> None:
    assert kinds("關於退貨，已經幫您辦好了。") == ["return"]
    assert kinds("You asked about the exchange. It's done.") == ["exchange"]
    assert kinds("已經幫您辦好了。") == []


def test_naming_a_number_claims_that_there_is_such_a_record() -> None:
    (claim,) = claims_in("退款編號是 rf_7Kd2mQ。")
    assert (claim.kind, claim.number) == ("refund", "rf_7kd2mq")
    assert kinds("找不到 rf_7Kd2mQ。") == []


def test_passing_on_a_proposal_is_not_calling_a_colleague_into_the_chat() -> None:
    assert kinds("您的補償申請已經轉給同事。") == ["compensation"]


@pytest.mark.parametrize("name", sorted(name for name in PHRASES if name.startswith(OFFERS)))
def test_offers_questions_and_reasons_are_no_claims(name: str) -> None:
    for phrase in PHRASES[name]:
        assert kinds(phrase.format_map({**FILLED, "missing": "電話"})) == []


GOODS = {1: "藍牙耳機", 2: "耳機殼", 3: "Blue Cap", 4: "Bottle (500 ml)", 5: "", 6: "保溫瓶", 7: "水瓶"}


@pytest.mark.parametrize(
    ("clause", "named"),
    [
        ("藍牙耳機已退款", {1}),
        ("耳機已退款", {1}),
        ("耳機殼已退款", {2}),
        ("耳機和耳機殼都已退款", {1, 2}),
        ("the blue cap was refunded", {3}),
        ("your cap was refunded", {3}),
        ("your captain was refunded", set()),
        ("the bottle (500 ml) was refunded", {4}),
        ("瓶已退款", set()),
        ("溫瓶已退款", {6}),
        ("已退款", set()),
        ("已取消耳機殼並為藍牙耳機辦理退貨", {1, 2}),
        ("i have refunded nt$230 for the blue cap", {3}),
        ("the return of your blue cap is registered", {3}),
    ],
)
def test_goods_of_a_claim_are_named_by_their_whole_name_or_by_its_own_end(clause: str, named: set[int]) -> None:
    assert goods_named(clause, GOODS) == named


def test_an_end_that_two_names_have_means_neither_and_one_name_means_all_lines_of_it() -> None:
    assert goods_named("帽子已退款", {1: "紅色帽子", 2: "藍色帽子"}) == frozenset()
    assert goods_named("紅色帽子已退款", {1: "紅色帽子", 2: "紅色帽子"}) == {1, 2}
    assert goods_named("帽子已退款", {1: "紅色帽子", 2: "紅色帽子"}) == {1, 2}


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("Hat", "i have refunded that"),
        ("Mat", "refunded the mats automatically"),
        ("Gift card", "i have refunded your card"),
        ("卡片", "卡片已退款"),
        ("殼", "殼已退款"),
        ("A", "i have refunded a"),
    ],
)
def test_names_that_are_parts_of_words_or_words_of_this_subject_name_no_goods(name: str, clause: str) -> None:
    assert goods_named(clause, {1: name}) == frozenset()


def test_a_part_of_another_word_does_not_hide_the_goods() -> None:
    assert goods_named("i have refunded the hat to that card", {1: "Hat"}) == {1}


@pytest.mark.parametrize(
    "clause",
    [
        "您留下耳機後已退款耳機殼",
        "耳機殼已退款後",
        "you kept it and the blue cap was refunded",
        "已退款給耳機的買家",
        "耳機已寄出並且已退款",
        "耳機照常出貨而耳機殼已退款",
        "手機殼已退款",
        "i have refunded the caps of the blue cap",
        "the blue cap is on its way and nt$230 has been refunded",
        "since you keep it the blue cap was refunded",
        "refunded in return for the blue cap",
    ],
)
def test_goods_that_stand_anywhere_else_leave_open_what_the_claim_is_about(clause: str) -> None:
    assert goods_named(clause, GOODS) == frozenset()


def test_goods_of_two_deeds_may_stand_in_one_clause() -> None:
    of_case, of_earphones = (
        Deed(REFUND, Reach.DONE, goods=frozenset({2})),
        Deed(RETURN, Reach.BEGUN, goods=frozenset({1})),
    )
    claims = [replace(claim, goods=frozenset({2})) for claim in claims_in("耳機殼已退款而且已登記退貨")]
    assert {(claim.kind, claim.beside) for claim in claims} == {
        (REFUND, frozenset({RETURN})),
        (RETURN, frozenset({REFUND})),
    }
    assert all(is_founded(claim, [of_case, of_earphones], frozenset(), 0) for claim in claims)
    assert not all(is_founded(claim, [of_earphones], frozenset(), 0) for claim in claims)
    others = [Deed(REFUND, Reach.DONE, goods=frozenset({1})), of_earphones]
    assert not any(is_founded(claim, others, frozenset(), 0) for claim in claims)


@pytest.mark.parametrize("number", ["rf_7jvtwd83kge5", "rf_ab230twd9xyz", "rf_ntd500abcdef"])
def test_the_number_of_a_refund_names_no_amount(number: str) -> None:
    assert amounts_in(f"您的退款 {number} 已送出") == frozenset()
    assert amounts_in(f"refund {number} of nt$230, 12.50 dollars and twd 80") == {
        Decimal(230),
        Decimal("12.5"),
        Decimal(80),
    }
