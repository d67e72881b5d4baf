"""The stand-in's own door for tests and load: what to answer next, how to misbehave, and what was asked so far.

Kept per server, in memory. `script` answers go first, then the first plan whose `match` fits, else the brain.
"""

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from agent.offline.replies import Reply, ToolUse

LOG_LENGTH = 500
MODES = frozenset(
    {
        "api_error_500",
        "cut_json",
        "cut_socket",
        "cut_text",
        "empty",
        "error",
        "error_midstream",
        "false_claim",
        "hostile",
        "huge_arguments",
        "liar",
        "loop_forever",
        "malformed_arguments",
        "max_tokens",
        "no_event_lines",
        "obedient",
        "overloaded_529",
        "overloaded_midstream",
        "pings",
        "rate_limited",
        "refusal",
        "slow",
        "stall",
        "ten_hostile",
        "ten_parallel",
        "unknown_tool",
    }
)
OPTIONS = {
    "seconds": (int, float),
    "retry_after": (int, float),
    "seed": (int,),
    "foreign_ids": (list,),
    "lies": (list,),
    "after": (str,),
    "status": (int,),
    "kind": (str,),
    "code": (str,),
    "should_retry": (str,),
}


class ControlError(ValueError):
    """A control request that means nothing; the message says why."""


@dataclass
class Plan:
    """One way to misbehave. `times` counts down, None means until reset; `served` counts up."""

    mode: str
    times: int | None = None
    match: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    served: int = 0


@dataclass(frozen=True, slots=True)
class Scripted:
    reply: Reply
    match: str = ""


class Control:
    """Safe to use from the test's thread while the server answers in its own."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.plans: list[Plan] = []
        self.scripted: list[Scripted] = []
        self.log: deque[dict[str, Any]] = deque(maxlen=LOG_LENGTH)

    def misbehave(self, mode: str, *, times: int | None = None, match: str = "", **options: Any) -> Plan:
        """Do this to the next `times` requests (None: to all) whose messages contain `match`. Raises ControlError."""
        if mode not in MODES:
            raise ControlError(f"mode: must be one of {', '.join(sorted(MODES))}")
        if times is not None and (isinstance(times, bool) or not isinstance(times, int) or times < 1):
            raise ControlError("times: must be a whole number of at least 1, or null")
        for name, value in options.items():
            if name not in OPTIONS or isinstance(value, bool) or not isinstance(value, OPTIONS[name]):
                raise ControlError(f"{name}: is no option, or has a value that cannot be used")
        plan = Plan(mode, times, str(match), options)
        with self.lock:
            self.plans.append(plan)
        return plan

    def script(self, replies: list[dict[str, Any]]) -> None:
        """Answer the next requests with exactly these, one each: {text, tool_uses, stop_reason, match}.

        `tool_uses` is a list of {name, input}. Raises ControlError.
        """
        scripted = [_scripted(reply, index) for index, reply in enumerate(replies)]
        with self.lock:
            self.scripted += scripted

    def next_scripted(self, body: dict[str, Any]) -> Reply | None:
        with self.lock:
            for index, entry in enumerate(self.scripted):
                if _fits(entry.match, body):
                    del self.scripted[index]
                    return entry.reply
        return None

    def next_plan(self, body: dict[str, Any]) -> Plan | None:
        with self.lock:
            for plan in self.plans:
                if plan.times != 0 and _fits(plan.match, body):
                    plan.times = plan.times - 1 if plan.times is not None else None
                    plan.served += 1
                    return plan
        return None

    def note(self, entry: dict[str, Any]) -> None:
        with self.lock:
            self.log.append(entry)

    def requests(self) -> list[dict[str, Any]]:
        """The latest requests, oldest first: {at, path, status, error, mode, stop_reason, stream, usage, body}."""
        with self.lock:
            return list(self.log)

    def reset(self) -> None:
        with self.lock:
            self.plans.clear()
            self.scripted.clear()
            self.log.clear()


def _fits(match: str, body: dict[str, Any]) -> bool:
    return not match or match in json.dumps(body.get("messages"), ensure_ascii=False)


def _scripted(entry: Any, index: int) -> Scripted:
    place = f"replies[{index}]"
    if not isinstance(entry, dict) or set(entry) - {"text", "tool_uses", "stop_reason", "match"}:
        raise ControlError(f"{place}: must be an object of text, tool_uses, stop_reason and match")
    uses = entry.get("tool_uses", [])
    if not isinstance(uses, list):
        raise ControlError(f"{place}.tool_uses: must be a list")
    for use in uses:
        if (
            not isinstance(use, dict)
            or not isinstance(use.get("name"), str)
            or not isinstance(use.get("input", {}), dict)
        ):
            raise ControlError(f"{place}.tool_uses: each needs a name and an input object")
    calls = tuple(ToolUse(use["name"], use.get("input", {})) for use in uses)
    return Scripted(Reply(str(entry.get("text", "")), calls, entry.get("stop_reason")), str(entry.get("match", "")))
