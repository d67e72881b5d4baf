"""Plays tasks in a scratch database: one job per line on standard input, one result per line on standard output.

    python -m backoffice.evals.worker

A process of its own, whose DATABASE_URL and REDIS_URL are those of scratch servers (`servers`). It ends with its input.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.offline.app import StandIn


def main() -> None:
    answers = _own_output()
    import django

    django.setup()
    from backoffice.evals import scratch
    from backoffice.evals.tasks import all_tasks

    scratch.prepare()
    tasks = {task.id: task for task in all_tasks()}
    with _model() as stand_in:
        for line in sys.stdin:
            if stand_in is not None:
                # What was asked before must neither make a play cheaper nor fill the memory.
                stand_in.cache.entries.clear()
                stand_in.control.reset()
            result = _result(json.loads(line), tasks)
            print(json.dumps(result, ensure_ascii=False), file=answers, flush=True)


def _own_output() -> IO[str]:
    """Whatever else writes to standard output must not stand between the results."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


@contextmanager
def _model() -> "Iterator[StandIn | None]":
    """The stand-in in this process, unless a real model is to be measured."""
    from django.conf import settings
    from django.test.utils import override_settings

    if not settings.AGENT_IS_STAND_IN:
        yield None
        return
    from agent.offline.server import OfflineModel

    with OfflineModel() as running, override_settings(ANTHROPIC_BASE_URL=running.url):
        yield running.stand_in


def _result(job: Mapping[str, Any], tasks: Mapping[str, Any]) -> dict[str, Any]:
    """The play, or why there was none and what that has cost: what breaks is a fault of the evaluation, no verdict."""
    from backoffice.evals.playing import NotPlayed, play

    try:
        return play(tasks[job["task"]], job["toolset"], number=job["number"], model=job["model"], cents=job["cents"])
    except NotPlayed as reason:
        return {"fault": str(reason), "cost_micro": reason.cost_micro}


if __name__ == "__main__":
    main()
