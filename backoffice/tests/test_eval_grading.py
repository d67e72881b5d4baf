"""The grader: it fails what went wrong, whatever was said about it, and each of its checks is needed."""

from dataclasses import replace

import pytest

from backoffice.evals.grading import CHECKS, Verdict, grade
from backoffice.evals.seen import Seen
from backoffice.evals.talk import Talk
from backoffice.evals.tasks import Moved, Task, all_tasks

TASKS = {task.id: task for task in all_tasks()}
# 耳機殼 380, the coupon of 150 is lost: 230.
CASE = TASKS["unshipped_case_loses_the_coupon"]
PERSON = TASKS["wants_a_person"]
STAYS = TASKS["packed_before_anything_was_said"]
RIGHT = Seen(refunds=(Moved({"li_2": 1}, 230),), quoted=frozenset({230}), facts=frozenset({1200, 380, 150, 1500, 1430}))
NOTHING = replace(RIGHT, refunds=())


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


# Of each check, an end that only it finds fault with.
ONLY_BY: dict[str, tuple[Task, Seen]] = {
    "amounts": (CASE, replace(RIGHT, refunds=(Moved({"li_2": 1}, 344),))),
    "goods": (CASE, replace(RIGHT, refunds=(Moved({"li_1": 1}, 230),))),
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
