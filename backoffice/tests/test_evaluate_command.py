"""`manage.py evaluate` from end to end, and the limit under which a real model is measured."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from agent.models import EvalRun
from agent.models_evals import EvalState
from backoffice.evals.running import MICRO_IN_A_CENT, MOST_CENTS, NO_LIMIT_CENTS, Budget
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
