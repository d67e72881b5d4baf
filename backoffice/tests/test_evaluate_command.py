"""`manage.py evaluate` from end to end, and the limit under which a real model is measured."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from agent.models import EvalRun
from agent.models_evals import EvalState
from backoffice.evals import keeping
from backoffice.evals.plan import Job, plan
from backoffice.evals.running import MICRO_IN_A_CENT, MOST_CENTS, NO_LIMIT_CENTS, Budget, Runner
from backoffice.evals.tasks import all_tasks
from orders.models import Order

CENT = MICRO_IN_A_CENT


@pytest.mark.django_db(transaction=True)
def test_it_prints_the_table_keeps_the_run_and_leaves_the_desk_alone(tmp_path: Path) -> None:
    out = StringIO()
    task = ("--task", "unshipped_case_loses_the_coupon", "--times", "3", "--workers", "1", "--model", "stand-in")
    call_command("evaluate", *task, "--out", str(tmp_path), stdout=out, stderr=StringIO())

    run = EvalRun.objects.get()
    assert (run.state, run.is_stand_in, run.cases.count()) == (EvalState.DONE, True, 9)
    right = {name: run.cases.filter(toolset=name, outcome="right").count() for name in run.toolsets}
    assert right == {"task": 3, "raw_with_rule": 2, "raw": 0}
    assert "Played by the stand-in, a script: no model is measured." in out.getvalue()
    assert "| raw_with_rule | 3     | 2     | 67 %" in out.getvalue()
    assert not Order.objects.exists(), "plays have a database of their own"
    plays = json.loads((tmp_path / f"evaluation-{run.pk}.json").read_text())["plays"]
    assert {play["outcome"] for play in plays if play["toolset"] == "raw"} == {"wrong_money", "stuck", "missing"}
    assert (tmp_path / f"evaluation-{run.pk}.md").read_text().startswith("# Evaluation")


@pytest.mark.django_db(transaction=True)
def test_a_run_that_ends_for_want_of_money_is_not_complete_and_says_so(settings: Settings) -> None:
    """With a limit of nothing no play begins, and no model is asked."""
    settings.ANTHROPIC_API_KEY, settings.AGENT_IS_STAND_IN = "no-key-at-all", False
    out = StringIO()
    task = ("--task", "unshipped_case_loses_the_coupon", "--times", "1", "--workers", "1", "--limit-usd", "0")
    call_command("evaluate", *task, "--model", "claude-sonnet-5-5", stdout=out, stderr=StringIO())

    run = EvalRun.objects.get()
    assert (run.state, run.cases.count()) == (EvalState.STOPPED, 0)
    assert run.stopped_because == "the spending limit was reached: 3 of 3 plays are missing"
    for told in (
        "Spending limit: US$0.0000",
        "Spent: US$0.0000 at most",
        "0 of 3 plays",
        "**Stopped before its end:**",
    ):
        assert told in out.getvalue()


@pytest.mark.django_db
def test_a_model_is_not_measured_without_a_key(settings: Settings) -> None:
    settings.ANTHROPIC_API_KEY = ""
    with pytest.raises(CommandError, match="ANTHROPIC_API_KEY"):
        call_command("evaluate", "--model", "claude-sonnet-5-5")
    assert not EvalRun.objects.exists()


def test_plays_at_once_can_together_not_pass_the_limit() -> None:
    budget = Budget(10 * CENT, workers=2)
    first, second = budget.take(), budget.take()
    assert first is not None
    assert second is not None
    assert (first, first + second) == (5, 7)
    budget.give_back(first, 5 * CENT)
    budget.give_back(second, 0)
    assert budget.take() == 2


def test_a_spent_budget_begins_no_play() -> None:
    budget = Budget(3 * CENT, workers=1)
    cents = budget.take()
    assert cents == 3
    budget.give_back(3, 3 * CENT + 1)
    assert budget.take() is None


def test_no_play_takes_everything_and_without_a_limit_none_is_held_back() -> None:
    assert Budget(10_000 * CENT, workers=1).take() == MOST_CENTS
    assert Budget(None, workers=1).take() == NO_LIMIT_CENTS


JOB: Job = plan(all_tasks(), toolsets=["task"], repetitions=1, seed=1, model="claude")[0]
# A worker that answers its first job with this line.
ANSWERS = "import sys; sys.stdin.readline(); print(sys.argv[1], flush=True)"
CUT = {"faults": [{"kind": "stuck", "text": "The agent's side broke off: conversation_spend"}]}


@contextmanager
def a_worker(code: str, *arguments: str) -> "Iterator[subprocess.Popen[str]]":
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


def a_runner(cents: int) -> Runner:
    def told(job: Job, result: dict[str, Any]) -> None:
        """Nothing is collected here: each play is looked at by itself."""

    return Runner(None, [], Budget(cents * CENT, workers=1), told)  # type: ignore[arg-type]


def played(runner: Runner, **result: Any) -> dict[str, Any] | None:
    with a_worker(ANSWERS, json.dumps(result)) as process:
        return runner.play(process, JOB)


@pytest.mark.parametrize(("cost", "spent"), [({"cost_micro": 3 * CENT}, 3), ({"cost_micro": None}, 40), ({}, 40)])
def test_a_play_that_came_to_nothing_is_paid_for_all_the_same(cost: dict[str, Any], spent: int) -> None:
    """Where nobody knows what it has cost, it counts with all that it was allowed."""
    runner = a_runner(40)
    assert played(runner, fault="the model could not be had", **cost)
    assert (runner.budget.spent, runner.budget.promised) == (spent * CENT, 0)


def test_a_worker_that_dies_may_have_spent_all_that_it_was_allowed() -> None:
    runner = a_runner(500)
    with a_worker("pass") as process, pytest.raises((ValueError, OSError)):
        runner.play(process, JOB)
    assert (runner.budget.spent, runner.budget.promised) == (MOST_CENTS * CENT, 0)


def test_a_play_that_was_cut_off_by_what_was_left_is_no_verdict_and_ends_the_run() -> None:
    runner = a_runner(MOST_CENTS - 1)
    assert played(runner, **CUT, cost_micro=1) is None
    assert runner.is_out_of_money


def test_a_play_that_spends_all_that_a_talk_may_cost_is_the_models_own_fault() -> None:
    runner = a_runner(5 * MOST_CENTS)
    assert played(runner, **CUT, cost_micro=MOST_CENTS * CENT) is not None
    assert not runner.is_out_of_money


@pytest.mark.django_db
def test_what_not_every_toolset_has_played_is_left_out(make_run: Callable[..., EvalRun]) -> None:
    run = make_run(("one", "task", 1), ("one", "raw", 1), ("one", "task", 2), ("two", "raw", 1))
    cases = list(run.cases.all())
    whole = keeping.whole_rounds(cases, run.toolsets)
    keeping.leave_out_the_rest(cases, whole)
    assert {(case.task, case.repetition) for case in run.cases.all()} == {("one", 1)}
    assert run.cases.count() == len(whole) == 2


@pytest.fixture
def make_run() -> Callable[..., EvalRun]:
    def made(*plays: tuple[str, str, int]) -> EvalRun:
        facts = {"model": "claude", "is_stand_in": False, "seed": 1, "repetitions": 2, "toolsets": ["task", "raw"]}
        run = EvalRun.objects.create(**facts, tasks_digest="", wording="", plays_planned=8)
        for task, toolset, repetition in plays:
            place = {"task": task, "toolset": toolset, "repetition": repetition}
            facts = {"language": "en", "tags": [], "held_out": False, "model": "claude", "outcome": "right"}
            run.cases.create(**place, **facts, detail={})
        return run

    return made
