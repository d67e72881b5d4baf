"""One play: a task with a toolset, from the order that comes in to the verdict. What is kept of it is plain JSON."""

import time
import traceback
from collections import Counter
from typing import Any, Final

from django.db.models import Sum
from django.test.utils import override_settings

from agent.models import ModelCall
from backoffice.evals import scratch
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
    """The play came to no verdict, for a reason outside of what is measured. It may have cost money all the same.

    `cost_micro`: None where that cannot be told.
    """

    def __init__(self, why: str, cost_micro: int | None = None) -> None:
        super().__init__(why)
        self.cost_micro = cost_micro


def play(task: Task, toolset: str, *, number: str, model: str, cents: int) -> dict[str, Any]:
    """Play it in a scratch database. `number` is the order's; `cents` what this play's model may cost at most.

    Raises `NotPlayed`, whatever breaks; `NotScratch` where there is no scratch database.
    """
    talk = Talk()
    try:
        return _played(task, toolset, talk, number=number, model=model, cents=cents)
    except scratch.NotScratch:
        raise
    except NotPlayed as reason:
        raise NotPlayed(str(reason), _spent(number, talk)) from None
    except Exception as error:
        raise NotPlayed(traceback.format_exc(limit=-6), _spent(number, talk)) from error


def _spent(number: str, talk: Talk) -> int | None:
    """What a play that broke off has cost until then, by the talk or by the rows of our desk, which are read last."""
    try:
        calls = ModelCall.objects.filter(conversation__order__number=number)
        return max(talk.used.cost_micro, calls.aggregate(sum=Sum("cost_micro"))["sum"] or 0)
    except Exception:
        return None


def _played(task: Task, toolset: str, talk: Talk, *, number: str, model: str, cents: int) -> dict[str, Any]:
    began = time.monotonic()
    with override_settings(AGENT_MODEL=model, AGENT_MAX_CENTS_PER_CONVERSATION=cents):
        world = World(task, number=number)
        was = rows.before(world.order, world.numbers)
        desk = OurDesk(world, talk) if toolset == OURS else RawDesk(world, talk, with_rule=toolset == RAW_WITH_RULE)
        _talk(task, world, talk, desk)
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


def _talk(task: Task, world: World, talk: Talk, desk: OurDesk | RawDesk) -> None:
    """The same customer for every toolset: what they may be asked for they say when they cannot go on otherwise."""
    answer = ""
    for step in task.talk:
        if step.kind in {"presses", "declines"} and answer and desk.is_waiting_for_words(step):
            desk.says(answer)
        answer = step.if_asked
        _beside_the_talk(step.kind, step.value, world, talk)
        desk.step(step)
    desk.close()


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
