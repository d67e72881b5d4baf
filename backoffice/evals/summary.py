"""The numbers of a run, from its plays. The same function serves the terminal, the files and the pages."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from agent.models import EvalCase
from backoffice.evals.statistics import difference_interval, pass_hat, share_interval, sign_test
from backoffice.evals.tasks import ACT, REFRAIN, original

Cases = Sequence[EvalCase]


@dataclass(frozen=True, slots=True)
class Row:
    """A toolset, or a part of its plays. `low` to `high`: the interval (95 %), over cases. Means are per play."""

    name: str
    plays: int
    right: int
    low: float
    high: float
    wrong_money: int
    stuck: int
    missing: int
    never: int
    told_wrong: int
    handed_off: int
    tool_calls: float
    errors: int
    input_tokens: float
    output_tokens: float
    cost_micro: float
    seconds: float

    @property
    def share(self) -> float:
        return self.right / self.plays if self.plays else 0.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two toolsets over the same cases: in how many the one was right more often, in how many the other.

    Over cases, not plays: plays of one task resemble each other, and so does its twin in another language. `p` is that
    of the exact sign test; `difference` is that of the shares of the `tasks` that both have played, one's minus the
    other's, `low` to `high` its interval (95 %), over cases.
    """

    one: str
    other: str
    one_better: int
    other_better: int
    equal: int
    p: float
    tasks: int
    one_share: float
    other_share: float
    difference: float
    low: float
    high: float


def row(name: str, cases: Cases) -> Row:
    count, right = len(cases), sum(case.is_right for case in cases)
    by_case = grouped(cases, lambda case: original(case.task)).values()
    low, high = share_interval(tuple((sum(case.is_right for case in group), len(group)) for group in by_case))
    return Row(
        name=name,
        plays=count,
        right=right,
        low=low,
        high=high,
        wrong_money=sum(case.wrong_money for case in cases),
        stuck=sum(case.stuck for case in cases),
        missing=sum(case.outcome == "missing" for case in cases),
        never=sum(case.never for case in cases),
        told_wrong=sum(case.told_wrong for case in cases),
        handed_off=sum(case.handed_off for case in cases),
        tool_calls=_mean(case.tool_calls for case in cases),
        errors=sum(sum(case.errors.values()) for case in cases),
        input_tokens=_mean(case.input_tokens + case.cached_tokens for case in cases),
        output_tokens=_mean(case.output_tokens for case in cases),
        cost_micro=_mean(case.cost_micro for case in cases),
        seconds=_mean(case.milliseconds / 1000 for case in cases),
    )


def rows_by(cases: Iterable[EvalCase], key: Callable[[EvalCase], str]) -> list[Row]:
    """One row per value of `key`, in the order in which they come up."""
    return [row(name, group) for name, group in grouped(cases, key).items()]


def grouped(cases: Iterable[EvalCase], key: Callable[[EvalCase], str]) -> dict[str, list[EvalCase]]:
    groups: dict[str, list[EvalCase]] = defaultdict(list)
    for case in cases:
        groups[key(case)].append(case)
    return dict(groups)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def passes(cases: Cases) -> dict[int, float]:
    """pass^k by k, as far as every task was played."""
    tasks = grouped(cases, lambda case: case.task)
    counts = [(sum(case.is_right for case in group), len(group)) for group in tasks.values()]
    least = min((played for _, played in counts), default=0)
    found = {k: pass_hat(counts, k) for k in range(1, least + 1)}
    return {k: value for k, value in found.items() if value is not None}


def pairs(cases: Cases, toolsets: Sequence[str]) -> list[Pair]:
    rights = {name: rights_per_task([case for case in cases if case.toolset == name]) for name in toolsets}
    return [compared(one, rights[one], other, rights[other]) for one, other in combinations(toolsets, 2)]


def rights_per_task(cases: Iterable[EvalCase]) -> dict[str, float]:
    """The share of right plays of each task."""
    return {task: _mean(case.is_right for case in group) for task, group in grouped(cases, lambda c: c.task).items()}


def compared(one: str, ones: Mapping[str, float], other: str, others: Mapping[str, float]) -> Pair:
    """Only tasks that both have played, each as much as every other. A task and its twin are one case."""
    tasks = sorted(task for task in ones if task in others)
    by_case: dict[str, list[float]] = defaultdict(list)
    for task in tasks:
        by_case[original(task)].append(ones[task] - others[task])
    differences = [sum(each) for each in by_case.values()]
    better, worse = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    low, high = difference_interval(tuple((sum(each), len(each)) for each in by_case.values()))
    one_share, other_share = _mean(ones[task] for task in tasks), _mean(others[task] for task in tasks)
    return Pair(
        one=one,
        other=other,
        one_better=better,
        other_better=worse,
        equal=len(differences) - better - worse,
        p=sign_test(better, worse),
        tasks=len(tasks),
        one_share=one_share,
        other_share=other_share,
        difference=one_share - other_share,
        low=low,
        high=high,
    )


def summarise(cases: Iterable[EvalCase], toolsets: Sequence[str]) -> dict[str, Any]:
    """Everything a report says in numbers, as plain data.

    Held-out tasks stand apart and as a whole only: whoever sees which of them fails begins to tune on them.
    """
    listed = sorted(cases, key=lambda case: (toolsets.index(case.toolset), case.task, case.repetition))
    open_ones = [case for case in listed if not case.held_out]
    held_out = [case for case in listed if case.held_out]
    return {
        "played": len(listed),
        "open": _part(open_ones, toolsets),
        "held_out": _part(held_out, toolsets),
        "by_model": [asdict(each) for each in rows_by(open_ones, lambda case: f"{case.toolset} · {case.model}")],
        "by_situation": _by_situation(open_ones),
        "tasks": _by_task(open_ones),
        "task_rows": _task_rows(open_ones),
    }


def _part(cases: Cases, toolsets: Sequence[str]) -> dict[str, Any]:
    by_toolset = grouped(cases, lambda case: case.toolset)
    return {
        "toolsets": [asdict(row(name, by_toolset.get(name, []))) for name in toolsets],
        "to_do": _to_do(cases),
        "pass": {name: passes(by_toolset.get(name, [])) for name in toolsets},
        "errors": {name: _codes(by_toolset.get(name, [])) for name in toolsets},
        "pairs": [asdict(pair) for pair in pairs(cases, toolsets)],
    }


def _codes(cases: Cases) -> dict[str, int]:
    total: Counter[str] = Counter()
    for case in cases:
        total.update(case.errors)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def _to_do(cases: Cases) -> list[dict[str, Any]]:
    """Apart: where something was to be done, and where all was to be left alone. Doing nothing gets the latter right.

    `nothing`: what an agent that does nothing would get right, of as many plays as one toolset has. Empty for plays
    that were kept before tasks said so.
    """
    found = []
    for kind in (ACT, REFRAIN):
        group = [case for case in cases if kind in case.tags]
        if group:
            cells = _right_of(group)
            plays = max(cell["plays"] for cell in cells.values())
            nothing = {"right": plays if kind == REFRAIN else 0, "plays": plays, "outcomes": {}}
            found.append({"name": kind, "toolsets": cells, "nothing": nothing})
    return found


def _by_situation(cases: Cases) -> list[dict[str, Any]]:
    tags = sorted({tag for case in cases for tag in case.tags} - {ACT, REFRAIN})
    return [
        {"name": tag, "toolsets": _right_of(group)}
        for tag in tags
        if (group := [case for case in cases if tag in case.tags])
    ]


def _by_task(cases: Cases) -> list[dict[str, Any]]:
    return [
        {"name": task, "language": group[0].language, "toolsets": _right_of(group)}
        for task, group in sorted(grouped(cases, lambda case: case.task).items())
    ]


def _task_rows(cases: Cases) -> list[dict[str, Any]]:
    """Every task with every toolset: the same numbers as for a toolset as a whole."""
    return [
        {**asdict(row(toolset, group)), "task": task, "codes": _codes(group), "outcomes": _outcomes(group)}
        for task, of_task in sorted(grouped(cases, lambda case: case.task).items())
        for toolset, group in grouped(of_task, lambda case: case.toolset).items()
    ]


def _outcomes(cases: Cases) -> dict[str, int]:
    return dict(sorted(Counter(case.outcome for case in cases if not case.is_right).items()))


def _right_of(cases: Cases) -> dict[str, Any]:
    """Per toolset: right plays of all, and what the others came to."""
    return {
        toolset: {
            "right": sum(case.is_right for case in group),
            "plays": len(group),
            "outcomes": _outcomes(group),
        }
        for toolset, group in grouped(cases, lambda case: case.toolset).items()
    }
