"""The numbers of a run: how sure they are, what is compared with what, and what is not told of held-out tasks."""

import json
from typing import Any

import pytest

from agent.models import EvalCase, EvalRun
from backoffice.evals import report
from backoffice.evals.statistics import difference_interval, drawn, share_interval, wilson
from backoffice.evals.summary import compared, rights_per_task, row, summarise
from backoffice.evals.tasks import ACT, REFRAIN
from backoffice.screens import eval_tables

TOOLSETS = ["task", "raw"]


def case(task: str, toolset: str = "task", *, right: bool = True, repetition: int = 1, **more: Any) -> EvalCase:
    facts = {"language": "en", "tags": ["unshipped", ACT], "held_out": False, "model": "claude", "detail": {}}
    outcome = "right" if right else "stuck"
    return EvalCase(task=task, toolset=toolset, repetition=repetition, outcome=outcome, **(facts | more))


def ten(toolset: str = "task", *, rights: int = 5, suffix: str = "", times: int = 3) -> list[EvalCase]:
    """Ten tasks, of which some always come out right and the others never do."""
    return [
        case(f"t{number}{suffix}", toolset, right=number < rights, repetition=repetition)
        for number in range(10)
        for repetition in range(times)
    ]


def a_run(**more: Any) -> EvalRun:
    facts = {
        "model": "claude",
        "is_stand_in": False,
        "seed": 1,
        "repetitions": 1,
        "toolsets": TOOLSETS,
        "state": "done",
    }
    return EvalRun(**(facts | {"tasks_digest": "t", "wording": "w", "plays_planned": 6} | more))


def test_plays_and_twins_of_a_case_make_a_share_no_surer() -> None:
    once, often, twice = row("", ten(times=1)), row("", ten(times=30)), row("", [*ten(), *ten(suffix="_en")])
    assert (once.low, once.high) == (often.low, often.high) == (twice.low, twice.high)
    assert once.high - once.low > 0.5 > wilson(150, 300)[1] - wilson(150, 300)[0]


def test_an_interval_is_the_same_each_time_and_holds_its_share() -> None:
    cases = tuple((float(number % 4), 3) for number in range(20))
    low, high = share_interval(cases)
    drawn.cache_clear()
    assert (low, high) == share_interval(cases)
    assert low < sum(total for total, _ in cases) / 60 < high


def test_where_nothing_varies_the_number_of_cases_says_how_sure_it_is() -> None:
    """Drawn anew, 46 of 46 would always be 46 of 46: that does not make it certain."""
    assert share_interval(((3.0, 3),) * 10) == wilson(10, 10)
    assert difference_interval(((0.0, 1),) * 10) == (-wilson(0, 10)[1], wilson(0, 10)[1])
    assert share_interval(()) == (0.0, 1.0)


def test_two_cases_make_no_difference_sure_however_often_they_are_played() -> None:
    ours, raws = ([case for case in cases if case.task in {"t0", "t1"}] for cases in (ten(), ten("raw", rights=1)))
    pair = compared("task", rights_per_task(ours), "raw", rights_per_task(raws))
    assert pair.low < 0 < pair.difference < pair.high
    low, high = share_interval(((30, 30), (20, 30)))
    assert (low, high) == wilson(2 * 5 / 6, 2)


def test_toolsets_are_compared_over_cases_and_not_over_twins() -> None:
    """A difference that only twins repeat is no surer for it."""
    alone = compared("a", rights_per_task(ten(rights=6)), "b", rights_per_task(ten(rights=0)))
    ours = [*ten(rights=6), *ten(rights=6, suffix="_en")]
    raws = [*ten(rights=0), *ten(rights=0, suffix="_en")]
    both = compared("a", rights_per_task(ours), "b", rights_per_task(raws))
    assert (alone.one_better, alone.equal, alone.p) == (both.one_better, both.equal, both.p) == (6, 4, 0.03125)
    assert (alone.difference, alone.low, alone.high) == (both.difference, both.low, both.high)
    assert alone.low < 0.6 < alone.high
    assert both.tasks == 20


def test_doing_nothing_is_told_beside_what_was_done() -> None:
    cases = [
        case(name, toolset, right=toolset == "task" or REFRAIN in tags, tags=tags)
        for toolset in TOOLSETS
        for name, tags in (("one", [ACT]), ("two", [ACT]), ("three", [REFRAIN]))
    ]
    summary = summarise(cases, TOOLSETS)
    assert [
        (each["name"], each["nothing"]["right"], each["nothing"]["plays"]) for each in summary["open"]["to_do"]
    ] == [
        (ACT, 0, 2),
        (REFRAIN, 1, 1),
    ]
    told = report.markdown(a_run(), summary)
    assert [line.split() for line in told.splitlines() if line.startswith("| all  ")] == [
        ["|", "all", "|", "3/3", "(100", "%)", "|", "1/3", "(33", "%)", "|", "1/3", "(33", "%)", "|"]
    ]
    assert "6 of 6 plays" in told
    assert {"act", "refrain"}.isdisjoint(each["name"] for each in summary["by_situation"])


def test_a_report_says_in_words_whether_there_is_a_difference() -> None:
    sure = report.markdown(a_run(), summarise([*ten(rights=9), *ten("raw", rights=1)], TOOLSETS))
    assert "- Right with `task`: 27/30 (90 %); with `raw`: 3/30 (10 %). The difference is +80 points, most" in sure
    unsure = report.markdown(a_run(), summarise([*ten(rights=6), *ten("raw", rights=5)], TOOLSETS))
    assert "That is no sure difference: most likely between 0 and +30 points." in unsure


def test_held_out_tasks_are_a_total_and_nothing_else() -> None:
    cases = [case("seen", right=False), case("kept", held_out=True, model="held-out-model", tags=["rare", ACT])]
    summary = summarise(cases, ["task"])
    assert summary["held_out"]["toolsets"][0]["plays"] == 1
    for word in ("kept", "held-out-model", "rare"):
        assert word not in json.dumps(summary)


def test_each_task_has_all_the_numbers_of_each_toolset() -> None:
    effort: dict[str, Any] = {"tool_calls": 4, "errors": {"order_changed": 2}, "input_tokens": 900, "output_tokens": 70}
    cases = [
        case("one", right=False, handed_off=True, cost_micro=12_000, milliseconds=1500, **effort),
        case("one", "raw"),
    ]
    summary = summarise(cases, TOOLSETS)
    told = report.markdown(a_run(), summary)
    line = next(
        each for each in told.splitlines() if each.startswith("| one ") and "stuck 1" in each and "| task" in each
    )
    cells = [each.strip() for each in line.strip("|").split("|")]
    assert cells == ["one", "task", "0/1", "stuck 1", "0", "1", "4.0", "order_changed 2", "900", "70", "US$0.0120"]
    assert "one, task" not in report.markdown(a_run(), summary, task_by_task=False)
    assert "Open tasks, one by one" not in report.markdown(a_run(), summary, task_by_task=False)
    assert any(each.split()[1:6:2] == ["one", "task", "1.50"] for each in report.durations(summary).splitlines())


def test_two_runs_are_compared_over_the_tasks_of_both_alone() -> None:
    """Three tasks before, of which one is right, and that one now: nothing has become better."""
    before = [case("one"), case("two", right=False), case("three", right=False)]
    (table,) = eval_tables.comparisons(before, [case("one", repetition=2), case("one")], ["task"])
    assert list(table.rows[0])[1:5] == ["1", "100%", "100%", "0"]
    (table,) = eval_tables.comparisons([case("one")], before, ["task"])
    assert list(table.rows[0])[1:5] == ["1", "100%", "100%", "0"]


def test_the_held_out_are_compared_as_a_whole_after_the_open_ones() -> None:
    before = [case("one"), case("kept", held_out=True, right=False)]
    now = [case("one"), case("kept", held_out=True)]
    first, second = eval_tables.comparisons(before, now, ["task"])
    assert (list(first.rows[0])[2:4], list(second.rows[0])[2:4]) == (["100%", "100%"], ["0%", "100%"])
    assert eval_tables.differences(before, now) == []


@pytest.mark.parametrize(
    ("change", "caution"),
    [
        ({"seed": 2}, "The seeds are not the same"),
        ({"repetitions": 3}, "not played equally often"),
        ({"state": "stopped"}, "is not complete: stopped before its end"),
        ({"state": "running"}, "is not complete: being run"),
        ({"model": "other"}, "The models are not the same"),
        ({"tasks_digest": "x"}, "The tasks are not the same"),
    ],
)
def test_what_two_runs_do_not_have_in_common_is_told(change: dict[str, Any], caution: str, settings: Any) -> None:
    settings.LANGUAGE_CODE = "en"
    told = eval_tables.what_differs(a_run(), a_run(wording="new", **change))
    assert len(told) == 1
    assert caution in told[0]


def test_a_run_of_some_tasks_only_is_told_to_be_one() -> None:
    played = [case("one"), case("two")]
    assert eval_tables.what_differs(a_run(), a_run(wording="new"), played, played) == []
    (told,) = eval_tables.what_differs(a_run(), a_run(wording="new"), played, played[:1])
    assert "1" in told
