"""One play: a task with a toolset, from the order that comes in to the verdict. What is kept of it is plain JSON."""

import time
from collections import Counter
from typing import Any, Final

from django.test.utils import override_settings

from backoffice.evals import seen as rows
from backoffice.evals.grading import grade
from backoffice.evals.ours import OurDesk
from backoffice.evals.raw import RawDesk
from backoffice.evals.talk import Talk
from backoffice.evals.tasks import Task
from backoffice.evals.toolsets import OURS, RAW_WITH_RULE
from backoffice.evals.verdict_words import goods_of
from backoffice.evals.world import World

# How requests end that say nothing about an interface: the model was not there, or would not have us.
OUTSIDE: Final = frozenset(
    {
        "bad_request",
        "broken_frames",
        "connection_cut",
        "internal error",
        "no_credit",
        "not_admitted",
        "not_ours",
        "overloaded",
        "passing_fault",
        "rate_limited",
        "silence",
        "told_later",
        "unreachable",
        "wrong_settings",
    }
)


class NotPlayed(Exception):
    """The play came to no verdict, for a reason outside of what is measured."""


def play(task: Task, toolset: str, *, number: str, model: str, cents: int) -> dict[str, Any]:
    """Play it in a scratch database. `number` is the order's; `cents` what this play's model may cost at most.

    Raises `NotPlayed`.
    """
    began = time.monotonic()
    with override_settings(AGENT_MODEL=model, AGENT_MAX_CENTS_PER_CONVERSATION=cents):
        world, talk = World(task, number=number), Talk()
        was = rows.before(world.order, world.numbers)
        if toolset == OURS:
            _with_our_desk(task, world, talk)
        else:
            _with_raw_calls(task, world, talk, with_rule=toolset == RAW_WITH_RULE)
        world.pay()
        if talk.broken in OUTSIDE:
            raise NotPlayed(f"the model could not be had: {talk.broken}")
        seen = rows.after(world.order, world.others, was)
    verdict = grade(task, seen, talk, has_quotes=toolset == OURS)
    return {
        **verdict.as_dict(),
        **_counts(talk),
        "handed_off": seen.person,
        "seconds": round(time.monotonic() - began, 3),
        "model": model,
        "seen": seen.as_dict(),
        "talk": [entry.as_dict() for entry in talk.entries],
    }


def _with_our_desk(task: Task, world: World, talk: Talk) -> None:
    desk = OurDesk(world, talk)
    answer = ""
    for step in task.talk:
        if step.kind in {"presses", "declines"} and answer and not desk.has_card():
            desk.says(answer)
        answer = step.if_asked
        _beside_the_talk(step.kind, step.value, world, talk)
        desk.step(step)
    desk.close()


def _with_raw_calls(task: Task, world: World, talk: Talk, *, with_rule: bool) -> None:
    desk = RawDesk(world, talk, with_rule=with_rule)
    for step in task.talk:
        _beside_the_talk(step.kind, step.value, world, talk)
        desk.step(step)


def _beside_the_talk(kind: str, value: Any, world: World, talk: Talk) -> None:
    if kind == "warehouse":
        world.warehouse(value)
        goods = goods_of({f"li_{position}": count for position, count in value["packs"].items()})
        talk.add("world", f"The warehouse packs {goods}.", name="packs", input={"goods": goods})
    elif kind == "time":
        world.time_passes()
        talk.add("world", "Time passes: every quote and card has run out.", name="time")


def _counts(talk: Talk) -> dict[str, Any]:
    codes = Counter(str((entry.result or {}).get("code", "")) for entry in talk.calls if entry.is_error)
    used = talk.used
    return {
        "tool_calls": len(talk.calls),
        "errors": dict(sorted(codes.items())),
        "requests": used.requests,
        "input_tokens": used.fresh,
        "cached_tokens": used.cached,
        "output_tokens": used.output,
        "cost_micro": used.cost_micro,
    }
