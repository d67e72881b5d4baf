"""The numbers of an evaluation as tables of a page, in the reader's language. The numbers are `evals/summary`'s."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from agent.models import EvalCase, EvalRun
from agent.models_evals import EvalOutcome, EvalState
from agent.usage import dollars
from backoffice.evals.report import points
from backoffice.evals.summary import Pair, compared, rights_per_task
from backoffice.evals.tasks import ACT, REFRAIN
from backoffice.evals.toolsets import OURS, RAW, RAW_WITH_RULE

Data = Mapping[str, Any]
NAMES: Final = {
    OURS: gettext_lazy("our tools"),
    RAW_WITH_RULE: gettext_lazy("raw calls, coupon rule in the prompt"),
    RAW: gettext_lazy("raw calls"),
}
TONES: Final = {
    EvalOutcome.RIGHT: "good",
    EvalOutcome.NEVER: "bad",
    EvalOutcome.WRONG_MONEY: "bad",
    EvalOutcome.STUCK: "wait",
    EvalOutcome.MISSING: "info",
}


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` are cells of text, the first of each is its name. `is_folded`: long, and opened by who wants it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    hint: str = ""
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """An open task that two runs of one toolset played differently: right plays of all, then and now."""

    toolset: str
    task: str
    before: str
    now: str
    is_better: bool


def toolset_name(name: str) -> str:
    return str(NAMES.get(name, name))


def tables_of(summary: Data) -> list[Table]:
    found: list[Table] = []
    parts = (
        (_("Open tasks"), _("Wording may be tuned on these."), summary["open"]),
        (_("Held-out tasks"), _held_out(), summary["held_out"]),
    )
    for title, hint, part in parts:
        if any(row["plays"] for row in part["toolsets"]):
            found += [_verdicts(title, hint, part), *_to_do(title, part), _costs(title, part), _pairs(title, part)]
    found.append(_verdicts(_("Open tasks by who played"), "", {"toolsets": summary["by_model"], "pass": {}}))
    found.append(_situations(summary["by_situation"]))
    found.append(_task_by_task(summary["task_rows"]))
    return found


def _to_do(title: str, part: Data) -> list[Table]:
    """No table for plays that were kept before tasks said so."""
    if not part["to_do"]:
        return []
    toolsets = list(dict.fromkeys(name for row in part["to_do"] for name in row["toolsets"]))
    names = {ACT: _("Something was to be done"), REFRAIN: _("All was to be left alone")}
    rows = [
        (
            names[row["name"]],
            *(_right_share(row["toolsets"].get(name)) for name in toolsets),
            _right_share(row["nothing"]),
        )
        for row in part["to_do"]
    ]
    hint = _("Whoever does nothing at all is right where all was to be left alone: the last column says how often.")
    columns = [_("Right where"), *(toolset_name(name) for name in toolsets), _("Doing nothing")]
    return [Table(_("%(tasks)s: to do, and to leave alone") % {"tasks": title}, columns, rows, hint)]


def _right_share(cell: Data | None) -> str:
    return f"{cell['right']}/{cell['plays']} · {share(cell['right'], cell['plays'])}" if cell else "–"


def _task_by_task(rows: Sequence[Data]) -> Table:
    columns = [
        _("Task"), _("Toolset"), _("Right"), _("Otherwise"), _("Told wrong"), _("Handed to a person"), _("Tool calls"),
        _("Refusals by code"), _("Tokens read"), _("Tokens written"), _("Cost"), _("Seconds"),
    ]  # fmt: skip
    cells = [
        (
            row["task"],
            toolset_name(row["name"]),
            f"{row['right']}/{row['plays']}",
            _counts({str(EvalOutcome(name).label): count for name, count in row["outcomes"].items()}),
            f"{row['told_wrong']:,}",
            f"{row['handed_off']:,}",
            *_effort(row),
        )
        for row in rows
    ]
    hint = _("Calls, tokens, cost and seconds are means per play.")
    return Table(_("Open tasks, one by one"), columns, cells, hint, is_folded=True)


def _effort(row: Data) -> tuple[str, ...]:
    return (
        f"{row['tool_calls']:.1f}",
        _counts(row["codes"]),
        f"{row['input_tokens']:,.0f}",
        f"{row['output_tokens']:,.0f}",
        dollars(round(row["cost_micro"])),
        f"{row['seconds']:.1f}",
    )


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in found.items()) or "–"


def _verdicts(title: str, hint: str, part: Data) -> Table:
    columns = [
        _("Toolset"), _("Plays"), _("Right"), _("Share"), _("Interval (95 of 100)"), _("All of 1, 2 … right"),
        _("Wrong money"), _("Stuck half-way"), _("Not done"), _("Must never happen"), _("Told wrong"),
    ]  # fmt: skip
    rows = []
    for row in part["toolsets"]:
        passed = part["pass"].get(row["name"]) or {}
        rows.append(
            (
                _with_model(row["name"]),
                f"{row['plays']:,}",
                f"{row['right']:,}",
                share(row["right"], row["plays"]),
                f"{row['low'] * 100:.0f}–{row['high'] * 100:.0f}%",
                " · ".join(f"{value * 100:.0f}%" for value in passed.values()) or "–",
                *(f"{row[name]:,}" for name in ("wrong_money", "stuck", "missing", "never", "told_wrong")),
            )
        )
    return Table(title, columns, rows, hint)


def _with_model(name: str) -> str:
    toolset, _dot, model = name.partition(" · ")
    return f"{toolset_name(toolset)} · {model}" if model else toolset_name(toolset)


def _costs(title: str, part: Data) -> Table:
    columns = [
        _("Toolset"), _("Tool calls"), _("Refused calls"), _("Handed to a person"), _("Tokens read"),
        _("Tokens written"), _("Cost"), _("Seconds"), _("Refusals by code"),
    ]  # fmt: skip
    rows = [
        (
            toolset_name(row["name"]),
            f"{row['tool_calls']:.1f}",
            f"{row['errors']:,}",
            f"{row['handed_off']:,}",
            f"{row['input_tokens']:,.0f}",
            f"{row['output_tokens']:,.0f}",
            dollars(round(row["cost_micro"])),
            f"{row['seconds']:.1f}",
            _counts(part["errors"][row["name"]]),
        )
        for row in part["toolsets"]
    ]
    hint = _("Calls, tokens, cost and seconds are means per play.")
    return Table(_("%(tasks)s: effort") % {"tasks": title}, columns, rows, hint)


def _pairs(title: str, part: Data) -> Table:
    pairs = [Pair(**pair) for pair in part["pairs"]]
    return Table(
        _("%(tasks)s: in pairs") % {"tasks": title},
        [_("Pair"), *_pair_columns(), _("First better"), _("Second better"), _("Equal"), "p"],
        [(f"{toolset_name(each.one)} / {toolset_name(each.other)}", *_pair_cells(each)) for each in pairs],
        _pair_hint(),
    )


def _pair_columns() -> list[str]:
    return [_("Difference in points"), _("Interval (95 of 100)")]


def _pair_hint() -> str:
    return _(
        "Counted over cases: a task and its twin in another language are one. An interval that holds 0 is no "
        "difference. p: how likely such a difference is by chance, by the exact sign test."
    )


def _pair_cells(pair: Pair) -> tuple[str, ...]:
    interval = _("%(low)s to %(high)s") % {"low": points(pair.low), "high": points(pair.high)}
    counted = (str(each) for each in (pair.one_better, pair.other_better, pair.equal))
    return points(pair.difference), interval, *counted, chance(pair.p)


def _situations(rows: Sequence[Data]) -> Table:
    toolsets = list(dict.fromkeys(name for row in rows for name in row["toolsets"]))
    return Table(
        _("Open tasks by situation"),
        [_("Situation"), *(toolset_name(name) for name in toolsets)],
        [(row["name"], *(_right(row["toolsets"].get(name)) for name in toolsets)) for row in rows],
        _("Right plays of all."),
    )


def _right(cell: Data | None) -> str:
    return f"{cell['right']}/{cell['plays']}" if cell else "–"


def share(part: int, whole: int) -> str:
    return f"{part * 100 / whole:.0f}%" if whole else "–"


def chance(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def comparisons(before: Sequence[EvalCase], now: Sequence[EvalCase], toolsets: Sequence[str]) -> list[Table]:
    """Open tasks first; held-out ones as a whole, and none of them by name."""
    parts = ((_("Open tasks"), _("Wording may be tuned on these."), False), (_("Held-out tasks"), _held_out(), True))
    found = []
    for title, hint, held_out in parts:
        old, new = ([case for case in cases if case.held_out == held_out] for cases in (before, now))
        if old and new:
            found.append(_comparison(title, f"{hint} {_pair_hint()}", old, new, toolsets))
    return found


def _held_out() -> str:
    return _("A third of the tasks: nothing is tuned on them.")


def _comparison(
    title: str, hint: str, before: Sequence[EvalCase], now: Sequence[EvalCase], toolsets: Sequence[str]
) -> Table:
    """Per toolset, over the tasks that both runs have played with it, each as much as every other."""
    rows = []
    for name in toolsets:
        old, new = ([case for case in cases if case.toolset == name] for cases in (before, now))
        pair = compared("now", rights_per_task(new), "before", rights_per_task(old))
        shares = (f"{each * 100:.0f}%" if pair.tasks else "–" for each in (pair.other_share, pair.one_share))
        rows.append((toolset_name(name), str(pair.tasks), *shares, *_pair_cells(pair)))
    columns = [
        _("Toolset"), _("Tasks in both"), pgettext("evaluation", "Before"), pgettext("evaluation", "Now"),
        *_pair_columns(), _("Cases better"), _("Cases worse"), _("Equal"), "p",
    ]  # fmt: skip
    return Table(title, columns, rows, hint)


def differences(before: Sequence[EvalCase], now: Sequence[EvalCase]) -> list[Difference]:
    """Open tasks that were not played the same way, the worse ones first."""
    old, new = (_by_place([case for case in cases if not case.held_out]) for cases in (before, now))
    found = []
    for (toolset, task), cases in new.items():
        earlier = old.get((toolset, task))
        was, is_now = _share(earlier or []), _share(cases)
        if earlier and was != is_now:
            then, counted = (f"{sum(case.is_right for case in group)}/{len(group)}" for group in (earlier, cases))
            name = toolset_name(toolset)
            found.append(Difference(toolset=name, task=task, before=then, now=counted, is_better=is_now > was))
    return sorted(found, key=lambda each: (each.is_better, each.toolset, each.task))


def _by_place(cases: Sequence[EvalCase]) -> dict[tuple[str, str], list[EvalCase]]:
    found: dict[tuple[str, str], list[EvalCase]] = {}
    for case in cases:
        found.setdefault((case.toolset, case.task), []).append(case)
    return found


def _share(cases: Sequence[EvalCase]) -> float:
    return sum(case.is_right for case in cases) / len(cases) if cases else 0.0


def what_differs(
    one: EvalRun, other: EvalRun, ones: Sequence[EvalCase] = (), others: Sequence[EvalCase] = ()
) -> list[str]:
    """What two runs do not have in common, so that nobody takes it for the effect of a wording."""
    found = []
    if one.tasks_digest != other.tasks_digest:
        found.append(_("The tasks are not the same."))
    if one.model != other.model:
        found.append(_("The models are not the same."))
    if one.seed != other.seed:
        found.append(_("The seeds are not the same: with the stand-in the seed decides which part plays which task."))
    if one.repetitions != other.repetitions:
        found.append(_("The tasks were not played equally often."))
    played, also_played = ({case.task for case in cases} for cases in (ones, others))
    if played != also_played:
        both = len(played & also_played)
        told = _("One has tasks that the other has not: only the %(both)s tasks that both have played are compared.")
        found.append(told % {"both": both})
    found += [
        _("Evaluation %(number)s is not complete: %(state)s.") % {"number": run.pk, "state": run.get_state_display()}
        for run in (one, other)
        if run.state != EvalState.DONE
    ]
    if one.wording == other.wording:
        found.append(_("Tools and prompt have the same wording in both."))
    if one.is_stand_in or other.is_stand_in:
        found.append(_("A script was measured, and no model."))
    return found
