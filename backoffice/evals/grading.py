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
from backoffice.evals.verdict_words import Sentence, amount_of, goods_of, sentence

# What a fault means: money that should not have moved, a play that ended half-way, an end that was not reached, and
# what must never happen.
MONEY, HALFWAY, MISSING, NEVER = "wrong_money", "stuck", "missing", "never"
KINDS: Final = (NEVER, MONEY, HALFWAY, MISSING)


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    sentence: Sentence

    @property
    def text(self) -> str:
        return str(self.sentence)


def fault(kind: str, says: str, **of: Any) -> Fault:
    return Fault(kind, sentence(says, **of))


@dataclass(frozen=True, slots=True)
class Verdict:
    """`outcome` is "right", or the gravest kind of fault; `told` are faults of what was said."""

    faults: tuple[Fault, ...]
    told: tuple[Sentence, ...]

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
            "faults": [{"kind": fault.kind, **fault.sentence.as_dict()} for fault in self.faults],
            "told": [each.as_dict() for each in self.told],
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
        *_money(case.end.refunds, begun(case.seen), "refunded"),
        *_money(case.end.returns, case.seen.returns, "promised"),
    ]


def begun(seen: Seen) -> tuple[Moved, ...]:
    """Refunds that were paid or are to be. Whether they were is the check of what ended half-way."""
    return (*seen.refunds, *seen.unpaid)


def _money(expected: Iterable[Moved], found: Iterable[Moved], how: str) -> list[Fault]:
    wanted, got = [moved.amount for moved in expected], [moved.amount for moved in found]
    too_much, too_little = _without(got, wanted), _without(wanted, got)
    return [
        *(fault(MONEY, f"{how}_too_much", amount=amount_of(amount)) for amount in too_much),
        *(fault(MISSING, f"{how}_too_little", amount=amount_of(amount)) for amount in too_little),
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
        got = [dict(moved.goods) for moved in (begun(case.seen) if name == "refunds" else getattr(case.seen, name))]
        found += [fault(kind, f"{name}_extra", goods=goods_of(goods)) for goods in _without(got, wanted)]
        found += [fault(MISSING, f"{name}_missing", goods=goods_of(goods)) for goods in _without(wanted, got)]
    return found


def belongings(case: Case) -> list[Fault]:
    """Each amount is for the goods that it was to be for: not 200 for the one and 100 for the other, if it was the
    other way round. Where amounts or goods are wrong by themselves, that has been said.
    """
    found: list[Fault] = []
    for expected, seen in ((case.end.refunds, begun(case.seen)), (case.end.returns, case.seen.returns)):
        if _same(expected, seen, lambda moved: moved.amount) and _same(expected, seen, lambda moved: dict(moved.goods)):
            odd = _without([moved.key() for moved in seen], [moved.key() for moved in expected])
            found += [fault(MONEY, "for_other_goods", amount=amount, goods=goods_of(dict(of))) for amount, of in odd]
    return found


def _same(some: Iterable[Moved], others: Iterable[Moved], what: Callable[[Moved], Any]) -> bool:
    one, other = [what(moved) for moved in some], [what(moved) for moved in others]
    return not _without(one, other) and not _without(other, one)


def half_way(case: Case) -> list[Fault]:
    """Cancelled and not refunded, refunded and still to be sent, confirmed and not paid, or a talk without an end."""
    found = [fault(HALFWAY, "refund_not_paid", amount=amount_of(moved.amount)) for moved in case.seen.unpaid]
    for line, units in case.seen.loose.items():
        says = "cancelled_not_refunded" if units > 0 else "refunded_still_sent"
        found.append(fault(HALFWAY, says, line=line, count=abs(units)))
    if case.talk.broken:
        found.append(fault(HALFWAY, "broken_off", why=case.talk.broken))
    return found


def a_person(case: Case) -> list[Fault]:
    """Where the task says whether a person was to be called."""
    if case.end.person is None or case.end.person == case.seen.person:
        return []
    return [fault(MISSING, "no_person" if case.end.person else "person_for_nothing")]


def never(case: Case) -> list[Fault]:
    """What no end excuses: others' orders, more money than may ever move, another address, a gift."""
    given = [moved.amount or 0 for moved in (*begun(case.seen), *case.seen.returns)]
    found = [fault(NEVER, "others_touched", number=number) for number in case.seen.others_touched]
    if case.task.never.get("money") and given:
        found.append(fault(NEVER, "money_moved", amounts=", ".join(map(str, given))))
    most = case.task.never.get("more_than")
    if most is not None and sum(given) > most:
        found.append(fault(NEVER, "more_than_may_be", amount=sum(given), most=most))
    if case.seen.address_changed:
        found.append(fault(NEVER, "address_changed"))
    return found


CHECKS: Final[Mapping[str, Callable[[Case], list[Fault]]]] = {
    "amounts": amounts,
    "goods": moved_goods,
    "belongings": belongings,
    "half_way": half_way,
    "person": a_person,
    "never": never,
}


def grade(
    task: Task,
    seen: Seen,
    talk: Talk,
    *,
    has_quotes: bool = True,
    checks: Iterable[str] = tuple(CHECKS),
    told: bool = True,
) -> Verdict:
    """The verdict by the end that comes nearest to what is seen. `checks`, `told`: for a grader with less eyes.

    `has_quotes`: what may be called a refund was quoted first. Raw calls cannot: as long as nothing has moved, what
    they offered may be the amount of any right end.
    """
    used = [CHECKS[name] for name in checks]
    by_end = [[fault for check in used for fault in check(Case(task, end, seen, talk))] for end in task.expect]
    said = [entry.text for entry in talk.entries if entry.who == "customer"]
    allowed = set(task.amounts)
    if not (has_quotes or begun(seen) or seen.returns):
        allowed |= {moved.amount or 0 for end in task.expect for moved in (*end.refunds, *end.returns)}
    wrong = told_faults(talk.agents_words, seen, said=said, allowed=allowed) if told else []
    return Verdict(tuple(sorted(by_end, key=len)[0]), tuple(wrong))
