"""Which plays there are, in which order, and who plays them. All of it follows from the seed."""

import hashlib
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.offline.eval_parts import MODEL, PARTS
from agent.prompts import read_prompt
from agent.tools import registry
from backoffice.evals.tasks import Task, original


@dataclass(frozen=True, slots=True)
class Job:
    """`number` is the order's: no two plays of a run share one."""

    task: Task
    toolset: str
    repetition: int
    model: str
    number: str

    def as_dict(self) -> dict[str, Any]:
        return {"task": self.task.id, "toolset": self.toolset, "number": self.number, "model": self.model}


def plan(
    tasks: Sequence[Task], *, toolsets: Sequence[str], repetitions: int, seed: int, model: str | None
) -> list[Job]:
    """`model` None: the stand-in, which plays its parts in turn, the same part for every toolset of a repetition.

    All toolsets of a task come one after the other: a run that stops early still has its pairs.
    """
    rounds = [(task, repetition) for repetition in range(repetitions) for task in tasks]
    random.Random(seed).shuffle(rounds)
    return [
        Job(
            task=task,
            toolset=toolset,
            repetition=repetition + 1,
            model=model or part_of(task, repetition, seed),
            number=f"E{place * len(toolsets) + at:05d}",
        )
        for place, (task, repetition) in enumerate(rounds)
        for at, toolset in enumerate(toolsets)
    ]


def part_of(task: Task, repetition: int, seed: int) -> str:
    """The model's name under which the stand-in plays this part. A twin is played by the same as its original."""
    first = zlib.crc32(f"{seed}:{original(task.id)}".encode())
    return MODEL + PARTS[(first + repetition) % len(PARTS)]


def wording() -> str:
    """Changes with what a model reads of the desk's own tools and prompt."""
    text = read_prompt("order_page") + repr(registry.definitions())
    return hashlib.sha256(text.encode()).hexdigest()[:12]
