"""The numbers of an evaluation as tables of a page, in the reader's language. The numbers are `evals/summary`'s."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from agent.models import EvalCase, EvalRun
from agent.models_evals import EvalOutcome
from agent.usage import dollars
from backoffice.evals.summary import Pair, compared, rights_per_task
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
    """`rows` are cells of text, the first of each is its name."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """A task that two runs of one toolset played differently: right plays of all, then and now."""

    toolset: str
    task: str
    held_out: bool
    before: str
    now: str
    is_better: bool


def toolset_name(name: str) -> str:
    return str(NAMES.get(name, name))


def tables_of(summary: Data) -> list[Table]:
    found: list[Table] = []
    parts = (
        (_("Open tasks"), _("Wording may be tuned on these."), summary["open"]),
        (_("Held-out tasks"), _("A third of the tasks: nothing is tuned on them."), summary["held_out"]),
    )
    for title, hint, part in parts:
        if any(row["plays"] for row in part["toolsets"]):
            found += [_verdicts(title, hint, part), _costs(title, part), _pairs(title, part)]
    found.append(_verdicts(_("By who played"), "", {"toolsets": summary["by_model"], "pass": {}}))
    found.append(_situations(summary["by_situation"]))
    return found


def _verdicts(title: str, hint: str, part: Data) -> Table:
    columns = [
        _("Toolset"), _("Plays"), _("Right"), _("Share"), _("Interval (95 of 100)"), _("All plays of a task right"),
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
                f"{passed[max(passed)] * 100:.0f}%" if passed else "–",
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
            ", ".join(f"{code} {count}" for code, count in part["errors"][row["name"]].items()) or "–",
        )
        for row in part["toolsets"]
    ]
    hint = _("Calls, tokens, cost and seconds are means per play.")
    return Table(_("%(tasks)s: effort") % {"tasks": title}, columns, rows, hint)


def _pairs(title: str, part: Data) -> Table:
    pairs = [Pair(**pair) for pair in part["pairs"]]
    return Table(
        _("%(tasks)s: in pairs") % {"tasks": title},
        [_("Pair"), _("First better"), _("Second better"), _("Equal"), "p"],
        [_pair_cells(f"{toolset_name(each.one)} / {toolset_name(each.other)}", each) for each in pairs],
        _("Counted over tasks, with the exact sign test: how likely such a difference is by chance."),
    )


def _pair_cells(name: str, pair: Pair) -> tuple[str, ...]:
    return name, str(pair.one_better), str(pair.other_better), str(pair.equal), chance(pair.p)


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


def comparison(before: Sequence[EvalCase], now: Sequence[EvalCase], toolsets: Sequence[str]) -> Table:
    """Per toolset, over the tasks that both runs have played."""
    rows = []
    for name in toolsets:
        old, new = ([case for case in cases if case.toolset == name] for cases in (before, now))
        pair = compared("now", rights_per_task(new), "before", rights_per_task(old))
        cells = [_share_of(old), _share_of(new)]
        rows.append((toolset_name(name), *cells, *_pair_cells("", pair)[1:]))
    columns = [
        _("Toolset"), pgettext("evaluation", "Before"), pgettext("evaluation", "Now"), _("Tasks better"),
        _("Tasks worse"), _("Equal"), "p",
    ]  # fmt: skip
    hint = _("Counted over tasks, with the exact sign test: how likely such a difference is by chance.")
    return Table(_("Right plays"), columns, rows, hint)


def _share_of(cases: Sequence[EvalCase]) -> str:
    return share(sum(case.is_right for case in cases), len(cases))


def differences(before: Sequence[EvalCase], now: Sequence[EvalCase]) -> list[Difference]:
    """Tasks that were not played the same way, the worse ones first."""
    old, new = _by_place(before), _by_place(now)
    found = []
    for (toolset, task), cases in new.items():
        earlier = old.get((toolset, task))
        was, is_now = _share(earlier or []), _share(cases)
        if earlier and was != is_now:
            then, counted = (f"{sum(case.is_right for case in group)}/{len(group)}" for group in (earlier, cases))
            found.append(
                Difference(
                    toolset=toolset_name(toolset),
                    task=task,
                    held_out=cases[0].held_out,
                    before=then,
                    now=counted,
                    is_better=is_now > was,
                )
            )
    return sorted(found, key=lambda each: (each.is_better, each.toolset, each.task))


def _by_place(cases: Sequence[EvalCase]) -> dict[tuple[str, str], list[EvalCase]]:
    found: dict[tuple[str, str], list[EvalCase]] = {}
    for case in cases:
        found.setdefault((case.toolset, case.task), []).append(case)
    return found


def _share(cases: Sequence[EvalCase]) -> float:
    return sum(case.is_right for case in cases) / len(cases) if cases else 0.0


def what_differs(one: EvalRun, other: EvalRun) -> list[str]:
    """What two runs do not have in common, so that nobody takes it for the effect of a wording."""
    found = []
    if one.tasks_digest != other.tasks_digest:
        found.append(_("The tasks are not the same."))
    if one.model != other.model:
        found.append(_("The models are not the same."))
    if one.wording == other.wording:
        found.append(_("Tools and prompt have the same wording in both."))
    if one.is_stand_in or other.is_stand_in:
        found.append(_("A script was measured, and no model."))
    return found
