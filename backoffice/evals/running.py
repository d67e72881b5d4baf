"""Hands jobs to workers and collects what they play, under a spending limit: passed by one request of each at most."""

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final

from backoffice.evals.plan import Job
from backoffice.evals.servers import Scratch
from backoffice.local.processes import last_lines
from backoffice.local.stack import ROOT

MICRO_IN_A_CENT: Final = 10_000
# What one talk with a real model may cost at most, whatever is left.
MOST_CENTS: Final = 100
NO_LIMIT_CENTS: Final = 10**6
PATIENCE_SECONDS: Final = 10
# After so many plays that came to no verdict, the rest would not either.
MOST_FAULTS: Final = 5
Result = dict[str, Any]
Told = Callable[[Job, Result], None]


class Budget:
    """What may still be spent, in millionths of a US dollar; None: no limit. Shared by the workers' threads.

    Each worker is given a share of what is left, so that together they cannot pass the limit.
    """

    def __init__(self, limit_micro: int | None, *, workers: int) -> None:
        self.limit, self.workers = limit_micro, workers
        self.spent = self.promised = 0
        self._lock = threading.Lock()

    def take(self) -> int | None:
        """Cents for one play; None when nothing is left that a play could be begun with."""
        if self.limit is None:
            return NO_LIMIT_CENTS
        with self._lock:
            left = (self.limit - self.spent - self.promised) // MICRO_IN_A_CENT
            cents = min(MOST_CENTS, max(left // self.workers, min(left, 1)))
            if cents < 1:
                return None
            self.promised += cents * MICRO_IN_A_CENT
            return cents

    def give_back(self, cents: int, spent_micro: int | None) -> None:
        """`spent_micro` None: nobody knows, and all that was promised counts as spent."""
        with self._lock:
            if self.limit is not None:
                spent_micro = cents * MICRO_IN_A_CENT if spent_micro is None else spent_micro
                self.promised -= cents * MICRO_IN_A_CENT
            self.spent += spent_micro or 0


class Runner:
    """Plays jobs on the scratch servers. `told` is called with each result, in the thread that called `run`."""

    def __init__(self, scratch: Scratch, jobs: Sequence[Job], budget: Budget, told: Told) -> None:
        self.scratch, self.budget, self.told = scratch, budget, told
        self.faults: list[str] = []
        self.is_out_of_money = False
        self._jobs = iter(jobs)
        self._next = threading.Lock()
        self._stop = threading.Event()
        # None: a worker has ended.
        self._results: queue.Queue[tuple[Job, Result] | None] = queue.Queue()

    def run(self) -> None:
        """Until every job is played or the money is spent. Whatever breaks this off lets the plays at work end."""
        workers = range(self.scratch.workers)
        threads = [threading.Thread(target=self._work, args=(worker,), name=f"eval-{worker}") for worker in workers]
        for thread in threads:
            thread.start()
        try:
            for _ in workers:
                while (found := self._results.get()) is not None:
                    self._take_in(*found)
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def _take_in(self, job: Job, result: Result) -> None:
        if "fault" in result:
            self.faults.append(f"{job.task.id} ({job.toolset}): {result['fault']}")
            if len(self.faults) >= MOST_FAULTS:
                self._stop.set()
        else:
            self.told(job, result)

    def _work(self, worker: int) -> None:
        try:
            with _process(self.scratch, worker) as process:
                while not self._stop.is_set() and (job := self._take()) is not None:
                    result = self.play(process, job)
                    if result is not None:
                        self._results.put((job, result))
        except (OSError, ValueError) as error:
            log = last_lines(self.scratch.folder / "logs" / f"worker_{worker}.log")
            self.faults.append(f"worker {worker}: {error}\n{log}")
        finally:
            self._results.put(None)

    def _take(self) -> Job | None:
        with self._next:
            return next(self._jobs, None)

    def play(self, process: "subprocess.Popen[str]", job: Job) -> Result | None:
        """None: there was not enough money for it, and nothing more is begun. Raises ValueError without a worker."""
        cents = self.budget.take()
        if cents is None:
            self._end_for_money()
            return None
        spent: int | None = None
        try:
            result = _asked(process, {**job.as_dict(), "cents": cents})
            spent = result.get("cost_micro")
        finally:
            self.budget.give_back(cents, spent)
        if self.budget.limit is not None and _was_cut_off(result, cents):
            self._end_for_money()
            return None
        return result

    def _end_for_money(self) -> None:
        self.is_out_of_money = True
        self._stop.set()


def _was_cut_off(result: Result, cents: int) -> bool:
    """By what was left to spend, which says nothing about the model. Who spends all that a talk may cost is stuck."""
    return cents < MOST_CENTS and "conversation_spend" in str(result.get("faults", ""))


def _asked(process: "subprocess.Popen[str]", job: Mapping[str, Any]) -> Result:
    """Raises ValueError when the worker is gone."""
    given, taken = _pipes(process)
    given.write(json.dumps(job, ensure_ascii=False) + "\n")
    given.flush()
    line = taken.readline()
    if not line:
        raise ValueError("it answers no more")
    result: Result = json.loads(line)
    return result


def _pipes(process: "subprocess.Popen[str]") -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


@contextmanager
def _process(scratch: Scratch, worker: int) -> "Iterator[subprocess.Popen[str]]":
    """It ends when its input does: also when this process is killed."""
    log = (scratch.folder / "logs" / f"worker_{worker}.log").open("ab")
    with log:
        process = subprocess.Popen(
            [sys.executable, "-m", "backoffice.evals.worker"],
            env=scratch.environment(worker),
            cwd=ROOT,
            text=True,
            encoding="utf-8",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C is this process's to hear
        )
    try:
        yield process
    finally:
        _pipes(process)[0].close()
        try:
            process.wait(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
