"""Verdicts are kept as what they say and of what, and read in the language of whoever looks."""

import ast
import inspect
import json
from dataclasses import replace
from types import ModuleType

import pytest
from django.utils import translation

from backoffice.evals import grading, told, verdict_words
from backoffice.evals.grading import CHECKS, grade
from backoffice.evals.talk import Talk
from backoffice.evals.tasks import Moved
from backoffice.evals.verdict_words import SENTENCES, read, sentence
from backoffice.tests.test_eval_grading import CASE, ONLY_BY, RIGHT, says

OF = {"amount": "344", "amounts": "230, 344", "most": 230, "goods": "li_2 × 1", "line": "li_2", "count": 1}
OF |= {"why": "steps", "number": "5602", "words": "已退款"}


@pytest.mark.parametrize("says", SENTENCES)
def test_every_sentence_is_said_in_both_languages_with_all_it_is_of(says: str) -> None:
    kept = json.loads(json.dumps(sentence(says, **OF).as_dict()))
    with translation.override("zh-hant"):
        chinese, language = read(kept)
    assert (kept["text"] != chinese, language) == (True, "")
    places = [name for name in OF if f"%({name})s" in str(SENTENCES[says])]
    assert all(str(OF[name]) in chinese and str(OF[name]) in kept["text"] for name in places)
    assert "%" not in chinese


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_says_what_it_found_in_both_languages(check: str) -> None:
    task, seen = ONLY_BY[check]
    for fault in grade(task, seen, Talk()).as_dict()["faults"]:
        with translation.override("zh-hant"):
            words, language = read(json.loads(json.dumps(fault)))
        assert words != fault["text"]
        assert language == ""


def test_what_was_told_wrong_is_kept_in_plain_values_and_each_only_once() -> None:
    talk = says("退款金額為 NT$344。", "退款金額為 NT$344。", "已經幫您轉給同事處理。")
    kept = grade(CASE, RIGHT, talk).as_dict()["told"]
    assert [each["says"] for each in kept] == ["names_amount", "calls_it_a_refund", "claims"]
    assert json.loads(json.dumps(kept)) == kept


def test_goods_and_a_return_without_an_amount_are_told_for_people() -> None:
    seen = replace(RIGHT, returns=(Moved({"li_1": 2}, None),))
    texts = [fault.text for fault in grade(CASE, seen, Talk()).faults]
    assert texts == [
        "– was promised for a return, which was not to be",
        "Goods to be sent back that were not to be: li_1 × 2",
    ]


@pytest.mark.parametrize(
    "kept",
    [
        "names 344, which stands nowhere",
        {"kind": "stuck", "text": "names 344, which stands nowhere"},
        {"text": "names 344, which stands nowhere", "says": "of_another_version", "of": {}},
        {"text": "names 344, which stands nowhere", "says": "names_amount", "of": {}},
    ],
)
def test_what_was_kept_in_another_way_is_read_as_it_stands(kept: object) -> None:
    with translation.override("zh-hant"):
        assert read(kept) == ("names 344, which stands nowhere", "en")


def named(module: ModuleType, *functions: str) -> set[str]:
    """The sentences that are named where they are said, or begun there."""
    tree = ast.walk(ast.parse(inspect.getsource(module)))
    calls = [node for node in tree if isinstance(node, ast.Call) and getattr(node.func, "id", "") in functions]
    texts = [str(node.value) for call in calls for node in ast.walk(call) if isinstance(node, ast.Constant)]
    return {*texts} & {*SENTENCES}


def test_no_sentence_is_left_over() -> None:
    made = {f"{how}_too_{much}" for how in ("refunded", "promised") for much in ("much", "little")}
    made |= {f"{name}_{end}" for name in ("refunds", "returns", "exchanges", "resent") for end in ("extra", "missing")}
    made |= {"cancelled_not_refunded", "refunded_still_sent"}
    assert made | named(grading, "fault") | named(told, "sentence") == set(verdict_words.SENTENCES)
