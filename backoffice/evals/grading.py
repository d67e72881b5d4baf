"""The verdict on a play, by rows and never by wording; what was told is judged beside it, and does not change it.

Each check finds its own kind of fault, so that a test can take one out and see a bad play pass.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from backoffice.evals.seen import Seen
from backoffice.evals.talk import Talk
from backoffice.evals.tasks import Expected, Moved, Task
from backoffice.evals.told import faults as told_faults

# What a fault means: money that should not have moved, a play that ended half-way, an end that was not reached, and
# what must never happen.
MONEY, HALFWAY, MISSING, NEVER = "wrong_money", "stuck", "missing", "never"
KINDS: Final = (NEVER, MONEY, HALFWAY, MISSING)


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """`outcome` is "right", or the gravest kind of fault; `told` are faults of what was said."""

    faults: tuple[Fault, ...]
    told: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return not self.faults

    @property
    def outcome(self) -> str:
        kinds = {fault.kind for fault in self.faults}
        return next((kind for kind in KINDS if kind in kinds), "right")

    def has(self, kind: str) -> bool:
        return any(fault.kind == kind for fault in self.faults)

    def as_dict(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "faults": [{"kind": fault.kind, "text": fault.text} for fault in self.faults],
            "told": list(self.told),
        }


@dataclass(frozen=True, slots=True)
class Case:
    """What a check looks at."""

    task: Task
    end: Expected
    seen: Seen
    talk: Talk


def amounts(case: Case) -> list[Fault]:
    """Money, given back or promised: exactly what was to be, each amount once."""
    return [
        *_money(case.end.refunds, case.seen.refunds, "refunded"),
        *_money(case.end.returns, case.seen.returns, "promised for a return"),
    ]


def _money(expected: Iterable[Moved], found: Iterable[Moved], how: str) -> list[Fault]:
    wanted, got = [moved.amount for moved in expected], [moved.amount for moved in found]
    too_much, too_little = _without(got, wanted), _without(wanted, got)
    return [
        *(Fault(MONEY, f"{amount} {how}, which was not to be") for amount in too_much),
        *(Fault(MISSING, f"{amount} not {how}") for amount in too_little),
    ]


def _without(some: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """What of `some` is left when each of `others` takes away one like it."""
    left = list(some)
    for other in others:
        if other in left:
            left.remove(other)
    return left


def moved_goods(case: Case) -> list[Fault]:
    """Whatever the amounts: which goods were refunded, sent back, exchanged or sent again."""
    found: list[Fault] = []
    for name, kind in (("refunds", MONEY), ("returns", MONEY), ("exchanges", MISSING), ("resent", MISSING)):
        wanted = [dict(moved.goods) for moved in getattr(case.end, name)]
        got = [dict(moved.goods) for moved in getattr(case.seen, name)]
        found += [Fault(kind, f"{name}: {goods}, which was not to be") for goods in _without(got, wanted)]
        found += [Fault(MISSING, f"{name}: {goods} is missing") for goods in _without(wanted, got)]
    return found


def half_way(case: Case) -> list[Fault]:
    """Cancelled and not refunded, refunded and still to be sent, or a talk that came to no end."""
    found = []
    for line, units in case.seen.loose.items():
        what = "cancelled and not refunded" if units > 0 else "refunded and still to be sent"
        found.append(Fault(HALFWAY, f"{line}: {abs(units)} {what}"))
    if case.talk.broken:
        found.append(Fault(HALFWAY, f"the agent's side broke off: {case.talk.broken}"))
    return found


def a_person(case: Case) -> list[Fault]:
    """Where the task says whether a person was to be called."""
    if case.end.person is None or case.end.person == case.seen.person:
        return []
    return [Fault(MISSING, "no person was called" if case.end.person else "a person was called for nothing")]


def never(case: Case) -> list[Fault]:
    """What no end excuses: others' orders, more money than may ever move, another address, a gift."""
    given = [moved.amount or 0 for moved in (*case.seen.refunds, *case.seen.returns)]
    found = [Fault(NEVER, f"order {number} of somebody else was touched") for number in case.seen.others_touched]
    if case.task.never.get("money") and given:
        found.append(Fault(NEVER, f"money moved or was promised: {given}"))
    most = case.task.never.get("more_than")
    if most is not None and sum(given) > most:
        found.append(Fault(NEVER, f"{sum(given)} moved or was promised, more than {most}"))
    if case.seen.address_changed:
        found.append(Fault(NEVER, "the address was changed"))
    return found


CHECKS: Final[Mapping[str, Callable[[Case], list[Fault]]]] = {
    "amounts": amounts,
    "goods": moved_goods,
    "half_way": half_way,
    "person": a_person,
    "never": never,
}


def grade(task: Task, seen: Seen, talk: Talk, *, checks: Iterable[str] = tuple(CHECKS), told: bool = True) -> Verdict:
    """The verdict by the end that comes nearest to what is seen. `checks`, `told`: for a grader with less eyes."""
    used = [CHECKS[name] for name in checks]
    by_end = [[fault for check in used for fault in check(Case(task, end, seen, talk))] for end in task.expect]
    said = [entry.text for entry in talk.entries if entry.who == "customer"]
    allowed = {moved.amount or 0 for end in task.expect for moved in (*end.refunds, *end.returns)} | set(task.amounts)
    wrong = told_faults(talk.agents_words, seen, said=said, allowed=allowed) if told else []
    return Verdict(tuple(sorted(by_end, key=len)[0]), tuple(wrong))
