"""What the agent has promised is known after a fold, too."""

import pytest

from agent import promises
from agent.promises import promises_in


@pytest.mark.parametrize(
    "sentence",
    [
        "我會在一週內請倉庫再寄一次。",
        "我們會在 12/5 前退到您的卡片。",
        "同事明天會跟您聯絡。",
        "退款三個工作天內入帳。",
        "這副耳機我幫您保留到星期五。",
        "我們保證原價換新。",
        "I'll look into it again tomorrow.",
        "We will send the new one by Friday.",
        "A colleague will call you.",
        "Your refund arrives within 14 working days.",
        "I promise that nothing is charged.",
        "We hold the blue one for you.",
    ],
)
def test_what_somebody_will_do_or_by_when_is_a_promise(sentence: str) -> None:
    assert promises_in(f"好的\n{sentence} OK?") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "耳機已經送達。",
        "訂單有兩件商品。",
        "您是會員嗎？",
        "要我明天再幫您看看嗎？",
        "They are on their way.",
        "Shall I work it out for you?",
        "Shall I send it tomorrow, or on Friday?",
        "Will we refund it by Friday?",
        "It was sent on Monday.",
        "The case was cancelled.",
    ],
)
def test_what_is_so_and_what_is_asked_are_none(sentence: str) -> None:
    assert promises_in(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "明天會有專人與您聯絡。",
        "我會在明天下午三點前回電給您，可以嗎？",
        "I will call you tomorrow, okay?",
        "We will refund it by Friday, is that right?",
        "When it comes in, we'll pay, okay?",
        "Your new case ships Monday.",
    ],
)
def test_a_bare_day_and_a_question_that_follows_leave_it_a_promise(sentence: str) -> None:
    assert promises_in(sentence) == [sentence]


def test_a_promise_said_twice_is_told_once() -> None:
    assert promises.within_budget([["I will look."], ["I will look.", "We will pay."]]) == [
        ["I will look."],
        ["We will pay."],
    ]


def test_the_more_is_promised_the_shorter_it_is_told() -> None:
    one, many = "I will " + "x" * 500, [f"We will {number} " + "y" * 500 for number in range(30)]
    assert promises.within_budget([[one]]) == [[f"{one[: promises.LENGTHS[0]]}…"]]
    told = promises.within_budget([many])
    assert [len(each) for each in told[0]] == [promises.LENGTHS[1] + 1] * 30


def test_what_names_no_time_and_no_number_goes_first_then_the_oldest() -> None:
    oldest = "We will pay NT$80 by Friday. "
    plain = [f"I will look {chr(0x4E00 + number)}" + "z" * 60 for number in range(100)]
    exact = [f"We will send {number} of them" + "z" * 60 for number in range(promises.MOST_CHARACTERS // 60 - 1)]
    (kept,) = promises.within_budget([[oldest, *plain, *exact]])
    assert kept[0] == oldest.strip()
    assert sum(each.startswith("I will") for each in kept) <= 1
    (kept,) = promises.within_budget([[oldest, *exact, *[f"{each} more" for each in exact]]])
    assert oldest.strip() not in kept
    assert len(kept) == promises.MOST_CHARACTERS // 60
