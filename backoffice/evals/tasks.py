"""The tasks, read from `task_files/*.yaml`: how it begins, what the customer does, what must be true in the end.

A file may hold `orders` for its tasks to refer to. `en` beside what a customer says makes an English twin of the task.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).with_name("task_files")
CHINESE, ENGLISH = "zh-hant", "en"
# Each step of a talk has exactly one of these.
STEPS: Final = ("says", "presses", "declines", "time", "warehouse")
CARDS: Final = frozenset({"refund", "return", "exchange", "resend", "address", "all"})
# What a customer may be asked for in between, and says then: beside `says`.
BESIDE_WORDS: Final = frozenset({"says", "en", "if_asked"})
TASK_FIELDS: Final = frozenset(
    {"id", "held_out", "tags", "order", "others", "before", "talk", "expect", "never", "amounts", "customer"}
)
EXPECTED_FIELDS: Final = frozenset({"refunds", "returns", "exchanges", "resent", "person"})
NEVER_FIELDS: Final = frozenset({"money", "more_than"})
NAME: Final = "王小明"
# What a twin's id ends in.
TWIN: Final = "_en"
# Added to each task's situations: is there something to be done, or to be left alone?
ACT, REFRAIN = "act", "refrain"


class BadTask(ValueError):
    """A task that cannot be played; the text names it and says what is wrong."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Money for goods, or goods without money (`amount` None). `goods` is `{line_item_id: quantity}`."""

    goods: Mapping[str, int]
    amount: int | None = None

    def key(self) -> tuple[int, tuple[tuple[str, int], ...]]:
        return -1 if self.amount is None else self.amount, tuple(sorted(self.goods.items()))


@dataclass(frozen=True, slots=True)
class Expected:
    """What must be true at the end, and nothing beside it. `person` None: it does not matter whether one was called."""

    refunds: tuple[Moved, ...] = ()
    returns: tuple[Moved, ...] = ()
    exchanges: tuple[Moved, ...] = ()
    resent: tuple[Moved, ...] = ()
    person: bool | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What happens next. `if_asked`: what the customer answers if, before a press, there is nothing to press."""

    kind: str
    value: Any
    if_asked: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """Somebody else's order, which nothing may happen to."""

    customer: str
    order: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """`expect`: one of these ends must be reached. `amounts`: what may be said besides what was quoted or refunded."""

    id: str
    language: str
    held_out: bool
    tags: tuple[str, ...]
    customer: str
    order: Mapping[str, Any]
    others: tuple[Other, ...]
    before: tuple[Mapping[str, Any], ...]
    talk: tuple[Step, ...]
    expect: tuple[Expected, ...]
    never: Mapping[str, Any] = field(default_factory=dict)
    amounts: tuple[int, ...] = ()


def all_tasks(folder: Path = FOLDER) -> list[Task]:
    """Every task with its twin, by id. Raises `BadTask`."""
    found = [task for path in sorted(folder.glob("*.yaml")) for task in _tasks_of(path)]
    ids = [task.id for task in found]
    for name in ids:
        if ids.count(name) > 1:
            raise BadTask(f"{name}: this id stands in the files twice")
    return sorted(found, key=lambda task: task.id)


def chosen(tasks: Iterable[Task], patterns: Sequence[str]) -> list[Task]:
    """Those whose id, or one of whose tags, fits one of the patterns; all without patterns."""
    return [
        task
        for task in tasks
        if not patterns or any(fnmatch(name, each) for name in (task.id, *task.tags) for each in patterns)
    ]


def digest(folder: Path = FOLDER) -> str:
    """Changes with the tasks: two runs are compared fairly only over the same."""
    text = b"".join(path.read_bytes() for path in sorted(folder.glob("*.yaml")))
    return hashlib.sha256(text).hexdigest()[:12]


def _tasks_of(path: Path) -> list[Task]:
    body = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [twin for entry in body["tasks"] for twin in _with_twin(entry)]


def _with_twin(entry: Mapping[str, Any]) -> list[Task]:
    name = str(entry.get("id", "a task without id"))
    if unknown := set(entry) - TASK_FIELDS:
        raise BadTask(f"{name}: unknown fields {sorted(unknown)}")
    try:
        task = _task(entry, CHINESE)
        twin = _task(entry, ENGLISH) if _has_twin(entry) else None
    except (KeyError, TypeError, ValueError) as error:
        raise BadTask(f"{name}: {error}") from error
    return [task, replace(twin, id=f"{twin.id}{TWIN}")] if twin else [task]


def _has_twin(entry: Mapping[str, Any]) -> bool:
    words = [step for step in entry["talk"] if "says" in step]
    translated = ["en" in step for step in words]
    if any(translated) and not all(translated):
        raise ValueError("only a part of what is said stands there in English")
    return any(translated)


def _task(entry: Mapping[str, Any], language: str) -> Task:
    ends = entry["expect"] if isinstance(entry["expect"], list) else [entry["expect"]]
    never = dict(entry.get("never") or {})
    if unknown := set(never) - NEVER_FIELDS:
        raise ValueError(f"never: unknown fields {sorted(unknown)}")
    expected = tuple(_expected(end or {}) for end in ends)
    return Task(
        id=entry["id"],
        language=language,
        held_out=bool(entry.get("held_out")),
        tags=(*entry["tags"], _to_do(expected)),
        customer=entry.get("customer", NAME),
        order=entry["order"],
        others=tuple(Other(each["customer"], each["order"]) for each in entry.get("others") or ()),
        before=tuple(entry.get("before") or ()),
        talk=tuple(_step(step, language) for step in entry["talk"]),
        expect=expected,
        never=never,
        amounts=tuple(entry.get("amounts") or ()),
    )


def _to_do(ends: Iterable[Expected]) -> str:
    """Is it right to leave everything as it is? An agent that does nothing gets these tasks right, and no others."""
    nothing = any(not (end.refunds or end.returns or end.exchanges or end.resent or end.person) for end in ends)
    return REFRAIN if nothing else ACT


def original(task_id: str) -> str:
    """A twin is the same case in other words: what is counted over cases counts both as one."""
    return task_id.removesuffix(TWIN)


def _step(step: Mapping[str, Any], language: str) -> Step:
    kinds = [kind for kind in STEPS if kind in step]
    if len(kinds) != 1 or not set(step) <= BESIDE_WORDS | {kinds[0]}:
        raise ValueError(f"a step has exactly one of {STEPS}: {dict(step)}")
    kind = kinds[0]
    if kind in {"presses", "declines"} and step[kind] not in CARDS:
        raise ValueError(f"{kind}: there is no card {step[kind]}")
    if kind != "says":
        return Step(kind, step[kind])
    asked = (step.get("if_asked") or {}).get(language, "")
    return Step("says", step["en"] if language == ENGLISH else step["says"], asked)


def _expected(end: Mapping[str, Any]) -> Expected:
    if unknown := set(end) - EXPECTED_FIELDS:
        raise ValueError(f"expect: unknown fields {sorted(unknown)}")
    money = {name: tuple(Moved(each["goods"], each["amount"]) for each in end.get(name) or ()) for name in MONEY}
    goods = {name: tuple(Moved(each) for each in end.get(name) or ()) for name in GOODS}
    return Expected(**money, **goods, person=end.get("person"))


MONEY: Final = ("refunds", "returns")
GOODS: Final = ("exchanges", "resent")
