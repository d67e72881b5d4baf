"""Plays the evaluation's tasks with each toolset and prints how often the refund was right (docs/evaluation.md)."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agent.models import EvalCase, EvalRun
from agent.usage import dollars
from backoffice.evals import keeping, plan, report
from backoffice.evals.running import Budget, Runner
from backoffice.evals.servers import Scratch
from backoffice.evals.summary import summarise
from backoffice.evals.tasks import BadTask, all_tasks, chosen, digest
from backoffice.evals.toolsets import TOOLSETS
from backoffice.local.processes import StartError

MICRO: Final = 1_000_000
STAND_IN: Final = "stand-in"
PROGRESS_SECONDS: Final = 10


class Command(BaseCommand):
    help = "Measure how often refunds come out right with our tools, and with calls made straight from the API."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--toolset", action="append", choices=TOOLSETS, help="only this one; may be repeated")
        parser.add_argument("--task", action="append", default=[], help="only this task or situation; `*` fits")
        parser.add_argument("--times", type=int, default=3, help="how often each task is played (3)")
        parser.add_argument("--seed", type=int, default=1, help="order of the plays, and who plays which (1)")
        parser.add_argument("--model", help="id of a model (AGENT_MODEL), or `stand-in`; without a key, the stand-in")
        parser.add_argument("--limit-usd", type=float, default=5.0, help="what a real model may cost at most (5)")
        parser.add_argument("--workers", type=int, default=2, help="plays at the same time (2)")
        parser.add_argument("--out", type=Path, help="folder for the report as Markdown and JSON")
        parser.add_argument("--note", default="", help="what was changed, to find it again")
        parser.add_argument("--show", type=int, metavar="RUN", help="print a run that was kept, and play nothing")
        parser.add_argument("--no-store", action="store_true", help="do not keep the run in the database")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["show"] is not None:
            self._show(options["show"], options["out"])
            return
        for name in ("times", "workers"):
            if options[name] < 1:
                raise CommandError(f"--{name} must be at least 1.")
        try:
            tasks = chosen(all_tasks(), options["task"])
        except BadTask as error:
            raise CommandError(str(error)) from error
        if not tasks:
            raise CommandError("No task has such an id or situation.")
        model = self._model(options["model"])
        toolsets = [name for name in TOOLSETS if name in (options["toolset"] or TOOLSETS)]
        jobs = plan.plan(tasks, toolsets=toolsets, repetitions=options["times"], seed=options["seed"], model=model)
        limit = None if model is None else round(options["limit_usd"] * MICRO)
        run = self._run_row(options, model, toolsets, len(jobs), limit)
        self._say_what_comes(run, len(tasks))
        cases = self._play(run, jobs, options["workers"], stored=not options["no_store"])
        self._tell(run, cases, options["out"])
        if run.stopped_because.startswith("a fault"):
            raise CommandError("Some plays could not be played; see above.")

    def _show(self, number: int, out: Path | None) -> None:
        run = EvalRun.objects.filter(pk=number).first()
        if run is None:
            raise CommandError("There is no such evaluation.")
        self._tell(run, list(run.cases.all()), out)

    def _model(self, asked: str | None) -> str | None:
        """None: the stand-in."""
        has_key = bool(settings.ANTHROPIC_API_KEY) and not settings.AGENT_IS_STAND_IN
        if asked == STAND_IN or (asked is None and not has_key):
            return None
        if not has_key:
            raise CommandError("To measure a model, set ANTHROPIC_API_KEY.")
        return asked or str(settings.AGENT_MODEL)

    def _run_row(
        self, options: dict[str, Any], model: str | None, toolsets: list[str], plays: int, limit: int | None
    ) -> EvalRun:
        run = EvalRun(
            model=model or STAND_IN,
            is_stand_in=model is None,
            seed=options["seed"],
            repetitions=options["times"],
            toolsets=toolsets,
            tasks_digest=digest(),
            wording=plan.wording(),
            note=options["note"][:200],
            plays_planned=plays,
            limit_micro=limit,
        )
        if not options["no_store"]:
            run.save()
        return run

    def _say_what_comes(self, run: EvalRun, tasks: int) -> None:
        who = "the stand-in, a script: no model is measured" if run.is_stand_in else run.model
        plays = f"{tasks} tasks, {run.repetitions} times, with {', '.join(run.toolsets)}: {run.plays_planned} plays."
        self.stdout.write(plays)
        self.stdout.write(f"Played by {who}.")
        if run.limit_micro is not None:
            self.stdout.write(f"Spending limit: {dollars(run.limit_micro)}. It stops when that is reached.")
        self.stdout.flush()

    def _play(self, run: EvalRun, jobs: list[plan.Job], workers: int, *, stored: bool) -> list[EvalCase]:
        cases: list[EvalCase] = []
        told = time.monotonic()

        def keep(job: plan.Job, result: dict[str, Any]) -> None:
            nonlocal told
            case = keeping.case_of(run, job, result)
            if stored:
                case.save(force_insert=True)
            cases.append(case)
            if time.monotonic() - told > PROGRESS_SECONDS:
                told = time.monotonic()
                self.stderr.write(f"  {len(cases)} of {len(jobs)} plays", ending="\n")

        budget = Budget(run.limit_micro, workers=workers)
        because = "interrupted"
        try:
            with _ends_cleanly(), Scratch(workers=workers, model=self._leads_to_the_model(run)) as scratch:
                runner = Runner(scratch, jobs, budget, keep)
                runner.run()
            because = _why_it_stopped(runner, len(keeping.whole_rounds(cases, run.toolsets)), len(jobs))
        except StartError as error:
            because = "the scratch servers did not start"
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError(f"Interrupted after {len(cases)} of {len(jobs)} plays.") from None
        finally:
            whole = keeping.whole_rounds(cases, run.toolsets)
            keeping.leave_out_the_rest(cases, whole)
            keeping.finish(run, because=because)
        for fault in runner.faults:
            self.stderr.write(fault)
        if run.limit_micro is not None:
            self.stdout.write(f"Spent: {dollars(budget.spent)} at most, of {dollars(run.limit_micro)}.")
        return whole

    def _leads_to_the_model(self, run: EvalRun) -> dict[str, str]:
        if run.is_stand_in:
            return {
                "AGENT_IS_STAND_IN": "true",
                "ANTHROPIC_API_KEY": STAND_IN,
                "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
            }
        return {
            "AGENT_IS_STAND_IN": "false",
            "ANTHROPIC_API_KEY": settings.ANTHROPIC_API_KEY,
            "ANTHROPIC_BASE_URL": settings.ANTHROPIC_BASE_URL,
            "AGENT_MODEL": run.model,
        }

    def _tell(self, run: EvalRun, cases: list[EvalCase], out: Path | None) -> None:
        summary = summarise(cases, run.toolsets)
        self.stdout.write(f"\n{report.markdown(run, summary, task_by_task=False)}")
        self.stdout.write(report.durations(summary, task_by_task=False))
        for path in report.write(out, run, cases) if out else ():
            self.stdout.write(f"Written: {path}")
        if run.pk is not None:
            site = os.environ.get("SITE_URL") or settings.SITE_URL
            self.stdout.write(f"Kept as run {run.pk}: {site}/staff/evals/{run.pk}/")


@contextmanager
def _ends_cleanly() -> Iterator[None]:
    """SIGTERM leaves by the way of every other ending, so that servers and folders go."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _why_it_stopped(runner: Runner, played: int, planned: int) -> str:
    if runner.is_out_of_money:
        return f"the spending limit was reached: {planned - played} of {planned} plays are missing"
    return f"a fault: {planned - played} plays are missing" if runner.faults else ""
