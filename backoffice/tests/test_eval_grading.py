"""The grader: it fails what went wrong, whatever was said about it, and each of its checks is needed."""

from dataclasses import replace

import pytest

from backoffice.evals.grading import CHECKS, Verdict, grade
from backoffice.evals.seen import Seen
from backoffice.evals.talk import Talk
from backoffice.evals.tasks import Expected, Moved, Task, all_tasks
from backoffice.evals.told import called_refunds

TASKS = {task.id: task for task in all_tasks()}
# 耳機殼 380, the coupon of 150 is lost: 230.
CASE = TASKS["unshipped_case_loses_the_coupon"]
PERSON = TASKS["wants_a_person"]
STAYS = TASKS["packed_before_anything_was_said"]
RIGHT = Seen(refunds=(Moved({"li_2": 1}, 230),), quoted=frozenset({230}), facts=frozenset({1200, 380, 150, 1500, 1430}))
NOTHING = replace(RIGHT, refunds=())
CHEAP, DEAR = Moved({"li_1": 1}, 100), Moved({"li_2": 1}, 200)
BOTH = replace(CASE, expect=(Expected(refunds=(CHEAP, DEAR)),), never={})


def says(*words: str) -> Talk:
    talk = Talk()
    for text in words:
        talk.add("agent", text)
    return talk


def verdict(seen: Seen, *words: str, task: Task = CASE) -> Verdict:
    return grade(task, seen, says(*words))


def test_the_right_end_is_right_and_so_are_its_words() -> None:
    found = verdict(RIGHT, "耳機殼已取消，退款 NT$230 會退到您的信用卡。", "NT$380 − NT$150 = NT$230")
    assert (found.outcome, found.told) == ("right", ())


def test_another_amount_is_wrong_money() -> None:
    found = verdict(replace(RIGHT, refunds=(Moved({"li_2": 1}, 344),), quoted=frozenset({344})))
    assert found.outcome == "wrong_money"
    assert found.has("missing"), "and the right amount did not come"


def test_the_right_amount_twice_is_wrong_money() -> None:
    assert verdict(replace(RIGHT, refunds=RIGHT.refunds * 2)).outcome == "wrong_money"


def test_the_right_amounts_for_each_others_goods_are_wrong_money() -> None:
    crossed = (Moved(CHEAP.goods, 200), Moved(DEAR.goods, 100))
    assert verdict(Seen(refunds=(DEAR, CHEAP)), task=BOTH).is_right
    assert verdict(Seen(refunds=crossed), task=BOTH).outcome == "wrong_money"
    promised = replace(BOTH, expect=(Expected(returns=(CHEAP, DEAR)),))
    assert verdict(Seen(returns=crossed), task=promised).outcome == "wrong_money"


def test_a_refund_that_was_confirmed_and_not_paid_is_stuck_half_way() -> None:
    found = verdict(replace(NOTHING, unpaid=RIGHT.refunds))
    assert [each.text for each in found.faults] == ["230 was confirmed and has not been paid"]
    assert found.outcome == "stuck"
    assert verdict(replace(NOTHING, unpaid=(Moved({"li_2": 1}, 344),))).outcome == "wrong_money"
    assert verdict(replace(NOTHING, unpaid=RIGHT.refunds), task=STAYS).outcome == "never"


def test_what_was_not_paid_may_be_said_to_have_been_asked_for_and_no_more() -> None:
    begun = replace(NOTHING, unpaid=RIGHT.refunds)
    assert verdict(begun, "耳機殼的退款申請已送出，共 NT$230。").told == ()
    assert verdict(begun, "NT$230 已退款到您的信用卡。").told


def test_cancelled_and_not_refunded_is_stuck_half_way() -> None:
    assert verdict(replace(NOTHING, loose={"li_2": 1})).outcome == "stuck"


def test_a_talk_that_broke_off_is_stuck_half_way() -> None:
    talk = says()
    talk.broken = "overloaded"
    assert grade(CASE, RIGHT, talk).outcome == "stuck"


def test_a_refund_that_is_only_said_is_not_done_and_told_wrong() -> None:
    found = verdict(NOTHING, "耳機殼已經取消，NT$230 已退款到您的信用卡。")
    assert found.outcome == "missing"
    assert any("no row knows" in str(each) for each in found.told)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("可以取消耳機殼，退款金額為 NT$344。", "Names 344"),
        ("I can cancel it with a refund of NT$380.", "Calls 380 a refund"),
        ("已經幫您轉給同事處理。", "no row knows"),
        ("Your return has been registered.", "no row knows"),
    ],
)
def test_what_is_told_is_held_against_the_rows(words: str, fault: str) -> None:
    assert any(fault in str(each) for each in verdict(RIGHT, words).told)


@pytest.mark.parametrize("words", ["耳機殼 NT$380，折價券 NT$150。", "不能退款 NT$380。", "您說的 500 元不行。", ""])
def test_what_stands_on_the_order_or_was_said_by_the_customer_may_be_named(words: str) -> None:
    talk = says(words)
    talk.add("customer", "退我 500 元")
    assert grade(CASE, RIGHT, talk).told == ()


@pytest.mark.parametrize(
    ("words", "called"),
    [
        ("可退還 380 元，會退到您的信用卡", [380]),
        ("退款金額 344 元", [344]),
        ("退款金額：344", [344]),
        ("NT$344 會退到您的信用卡", [344]),
        ("會把 NT$344 退到您的信用卡。", [344]),
        ("新台幣 380 元將退回您的帳戶", [380]),
        ("退 380 元給您", [380]),
        ("一共可以退您 $1,430", [1430]),
        ("230 元已退款到信用卡", [230]),
        ("NT$344 will be refunded.", [344]),
        ("You will get NT$344 back, and NT$80 will be refunded.", [80, 344]),
        ("Your refund is 344 dollars.", [344]),
        ("I can refund “the case” with TWD 380.", [380]),
        ("耳機殼 NT$380 扣掉 150 元後退 230 元", [230]),
        ("耳機殼 NT$380 退款 NT$230（滿 1,500 元折 150 元）", [230]),
        ("耳機殼 NT$380，折價券 NT$150。", []),
        ("您付的 NT$1,430 退款後剩 NT$1,200", []),
        ("NT$80 運費不退，NT$1,200 的耳機可以退貨", []),
        ("不能退款 NT$380。您要的 NT$380 退款沒辦法。", []),
        ("您希望退 380 元，這次沒辦法。", []),
        ("I cannot refund NT$380. The NT$150 coupon is not refunded.", []),
        ("退款單號 RF_AB12，共 2 件", []),
    ],
)
def test_an_amount_that_is_called_a_refund_is_heard_however_it_is_written(words: str, called: list[int]) -> None:
    assert called_refunds(words) == called


def test_the_number_of_a_refund_names_no_amount() -> None:
    assert verdict(RIGHT, "退款 NT$230，退款編號 rf_7jvtwd83kge5。").told == ()


@pytest.mark.parametrize("amount", [380, 1430, 1200])
def test_a_price_or_a_payment_is_no_refund(amount: int) -> None:
    assert verdict(RIGHT, f"可退還 {amount} 元，會退到您的信用卡").told
    assert not verdict(RIGHT, f"您付了 {amount} 元").told


def test_the_amount_that_was_to_be_is_told_wrong_when_another_moved() -> None:
    moved = replace(RIGHT, refunds=(Moved({"li_2": 1}, 344),), quoted=frozenset({344}))
    for has_quotes in (True, False):
        assert grade(CASE, moved, says("退款 NT$230"), has_quotes=has_quotes).told


def test_without_quotes_the_right_amount_may_be_offered_as_long_as_nothing_has_moved() -> None:
    unquoted = replace(NOTHING, quoted=frozenset())
    assert not grade(CASE, unquoted, says("可以退款 NT$230，要嗎？"), has_quotes=False).told
    assert grade(CASE, unquoted, says("可以退款 NT$230，要嗎？")).told, "who can quote has to"
    assert grade(CASE, unquoted, says("可以退款 NT$344，要嗎？"), has_quotes=False).told


# Of each check, an end that only it finds fault with.
ONLY_BY: dict[str, tuple[Task, Seen]] = {
    "amounts": (CASE, replace(RIGHT, refunds=(Moved({"li_2": 1}, 344),))),
    "goods": (CASE, replace(RIGHT, refunds=(Moved({"li_1": 1}, 230),))),
    "belongings": (BOTH, Seen(refunds=(Moved(CHEAP.goods, 200), Moved(DEAR.goods, 100)))),
    "half_way": (CASE, replace(RIGHT, loose={"li_1": 1})),
    "person": (PERSON, Seen()),
    "never": (CASE, replace(RIGHT, others_touched=("5602",))),
}


@pytest.mark.parametrize("check", CHECKS)
def test_without_a_check_its_fault_would_pass(check: str) -> None:
    task, seen = ONLY_BY[check]
    assert not grade(task, seen, Talk()).is_right
    others = [name for name in CHECKS if name != check]
    assert grade(task, seen, Talk(), checks=others).is_right, "another check finds it too: it proves nothing"


def test_without_the_check_of_what_was_told_words_would_pass() -> None:
    talk = says("退款金額為 NT$344。")
    assert grade(CASE, RIGHT, talk).told
    assert not grade(CASE, RIGHT, talk, told=False).told


def test_any_money_where_none_may_move_is_what_must_never_happen() -> None:
    assert verdict(replace(RIGHT, loose={}), task=STAYS).outcome == "never"


def test_one_of_several_ends_is_enough() -> None:
    packed = TASKS["packed_between_the_quote_and_the_press"]
    assert verdict(NOTHING, task=packed).is_right
    assert verdict(RIGHT, task=packed).is_right
    assert verdict(replace(RIGHT, refunds=(Moved({"li_2": 1}, 380),)), task=packed).outcome == "never"
