"""A run in words and tables: what the terminal prints and the Markdown file holds, and the JSON for programs.

Everything but the durations is the same for the same seed, tasks and wording; durations stand in a table of their own.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agent.models import EvalCase, EvalRun
from agent.usage import dollars
from backoffice.evals.summary import summarise
from backoffice.evals.tasks import ACT, REFRAIN
from backoffice.evals.toolsets import OURS

Data = Mapping[str, Any]
A_SCRIPT: Final = (
    "**A script was measured here, and no model.** The stand-in plays three parts in turn: one that shares discounts "
    "out by price when it is asked for an amount, one that does the first thing at once and then stops and asks, and "
    "one that follows the coupon rule where the prompt has it. With the desk's own tools no amount is asked for, and "
    "all three are the stand-in of the demo. These numbers show what the interface makes of such habits; how often a "
    "model has them, only a model can show (set ANTHROPIC_API_KEY)."
)
NOTES: Final = (
    "right: the database ends as the task says, every amount and every unit of goods. wrong money: an amount or goods "
    "that were not to be. stuck: cancelled and not refunded, refunded and still to be sent, or a talk that broke off. "
    "not done: the end was not reached, and nothing worse. never: what no end excuses. told wrong: an amount that "
    "stands nowhere, or something said to be done of which no row knows (by rows and patterns, without a judge; it "
    "does not change the verdict). doing nothing: what an agent would get right that leaves everything as it is. "
    "Intervals (95 %): by drawing cases anew; a case is a task with all its plays and its twin in English, because "
    "these resemble each other. Pairs: the difference of the shares with its interval, and the exact sign test, both "
    "over cases; an interval that holds 0 is no difference. In the raw toolsets consent is what the customer says; in "
    "ours it is the button."
)


def markdown(run: EvalRun, summary: Data, *, task_by_task: bool = True) -> str:
    """`task_by_task`: with the long table of every task with every toolset, which is too much for a terminal."""
    parts = [*_head(run, summary), *_tables(summary)]
    if task_by_task:
        parts += ["## Open tasks, one by one", _task_rows(summary["task_rows"])]
    parts += [NOTES, ""]
    return "\n\n".join(part for part in parts if part is not None)


def _head(run: EvalRun, summary: Data) -> list[str]:
    who = "the stand-in (a script)" if run.is_stand_in else run.model
    facts = [
        f"Model: {who}",
        f"seed {run.seed}, each task {run.repetitions} times",
        f"{summary['played']} of {run.plays_planned} plays",
        f"tasks {run.tasks_digest}",
        f"wording {run.wording}",
    ]
    head = ["# Evaluation" + (f" {run}" if run.pk else ""), ", ".join(facts)]
    if run.note:
        head.append(f"Note: {run.note}")
    if run.stopped_because:
        head.append(f"**Stopped before its end:** {run.stopped_because}")
    return [*head, A_SCRIPT] if run.is_stand_in else head


def _tables(summary: Data) -> list[str]:
    parts: list[str] = []
    for title, part in (("Open tasks", summary["open"]), ("Held-out tasks", summary["held_out"])):
        if any(row["plays"] for row in part["toolsets"]):
            parts += [f"## {title}", *_part(part)]
    parts += ["## Open tasks by who played", _rows(summary["by_model"])]
    parts += ["## Open tasks by situation", _rights(summary["by_situation"], "situation")]
    parts += ["## Open tasks", _rights(summary["tasks"], "task")]
    return parts


def _part(part: Data) -> list[str]:
    parts = [
        _in_short(part),
        _rows(part["toolsets"]),
        _to_do(part["to_do"]),
        _passes(part["pass"]),
        _errors(part["errors"]),
        _pairs(part["pairs"]),
    ]
    return [each for each in parts if each]


def _rows(rows: Sequence[Data]) -> str:
    head = (
        "toolset", "plays", "right", "share", "95 %", "wrong money", "stuck", "not done", "never", "told wrong",
        "handed over", "calls", "refused", "tokens in", "out", "cost",
    )  # fmt: skip
    return table(
        head,
        [
            (
                row["name"],
                row["plays"],
                row["right"],
                percent(row["right"], row["plays"]),
                f"{row['low'] * 100:.0f}–{row['high'] * 100:.0f}",
                row["wrong_money"],
                row["stuck"],
                row["missing"],
                row["never"],
                row["told_wrong"],
                row["handed_off"],
                f"{row['tool_calls']:.1f}",
                row["errors"],
                f"{row['input_tokens']:,.0f}",
                f"{row['output_tokens']:,.0f}",
                dollars(round(row["cost_micro"])),
            )
            for row in rows
        ],
    )


def _passes(passes: Mapping[str, Mapping[int, float]]) -> str:
    most = max((k for found in passes.values() for k in found), default=0)
    head = ("pass^k: all of k plays of a task right", *(f"k = {k}" for k in range(1, most + 1)))
    return table(
        head,
        [
            (name, *(f"{found[k] * 100:.0f} %" if k in found else "–" for k in range(1, most + 1)))
            for name, found in passes.items()
        ],
    )


def _errors(errors: Mapping[str, Mapping[str, int]]) -> str:
    told = [
        f"{name}: " + (", ".join(f"{code} {count}" for code, count in codes.items()) or "none")
        for name, codes in errors.items()
    ]
    return "Refused calls by code. " + "; ".join(told) + "."


def _pairs(pairs: Sequence[Data]) -> str:
    return table(
        ("pair", "difference", "95 %", "first better", "second better", "equal", "p"),
        [
            (
                f"{each['one']} / {each['other']}",
                points(each["difference"]),
                f"{points(each['low'])} to {points(each['high'])}",
                each["one_better"],
                each["other_better"],
                each["equal"],
                p(each["p"]),
            )
            for each in pairs
        ],
    )


def _in_short(part: Data) -> str:
    """What it comes to in words, for who reads no tables: each comparison that our tools are in."""
    rows = {row["name"]: row for row in part["toolsets"]}
    return "\n".join(
        f"- Right with `{pair['one']}`: {_in_words(rows[pair['one']])}; with `{pair['other']}`: "
        f"{_in_words(rows[pair['other']])}. {_sure(pair)}"
        for pair in part["pairs"]
        if pair["one"] == OURS
    )


def _sure(pair: Data) -> str:
    between = f"most likely between {points(pair['low'])} and {points(pair['high'])}"
    if pair["low"] <= 0 <= pair["high"]:
        return f"That is no sure difference: {between} points."
    return f"The difference is {points(pair['difference'])} points, {between}."


def points(difference: float) -> str:
    """A difference of two shares, in points of 100."""
    return f"{difference * 100:+.0f}" if round(difference * 100) else "0"


def _to_do(rows: Sequence[Data]) -> str:
    """Where nothing was to be done doing nothing is right: beside each toolset, what that would come to."""
    if not rows:
        return ""
    names = {ACT: "something was to be done", REFRAIN: "all was to be left alone"}
    toolsets = list(dict.fromkeys(name for row in rows for name in row["toolsets"]))
    lines = [
        (names[row["name"]], *(_in_words(row["toolsets"].get(name)) for name in toolsets), _in_words(row["nothing"]))
        for row in rows
    ]
    return table(("right where", *toolsets, "doing nothing"), [*lines, ("all", *_sums(rows, toolsets))])


def _sums(rows: Sequence[Data], toolsets: Sequence[str]) -> list[str]:
    by_toolset = [[row["toolsets"].get(name) for row in rows] for name in toolsets]
    columns = [*by_toolset, [row["nothing"] for row in rows]]
    return [
        _in_words({name: sum(cell[name] for cell in column if cell) for name in ("right", "plays")})
        for column in columns
    ]


def _in_words(cell: Data | None) -> str:
    return f"{cell['right']}/{cell['plays']} ({percent(cell['right'], cell['plays'])})" if cell else "–"


def _task_rows(rows: Sequence[Data]) -> str:
    head = (
        "task", "toolset", "right", "else", "told wrong", "handed over", "calls", "refused", "tokens in", "out", "cost",
    )  # fmt: skip
    return table(
        head,
        [
            (
                row["task"],
                row["name"],
                f"{row['right']}/{row['plays']}",
                counts(row["outcomes"]),
                row["told_wrong"],
                row["handed_off"],
                f"{row['tool_calls']:.1f}",
                counts(row["codes"]),
                f"{row['input_tokens']:,.0f}",
                f"{row['output_tokens']:,.0f}",
                dollars(round(row["cost_micro"])),
            )
            for row in rows
        ],
    )


def counts(found: Mapping[str, int]) -> str:
    """“stuck 2, missing 1”."""
    return ", ".join(f"{name} {count}" for name, count in found.items()) or "–"


def _rights(rows: Sequence[Data], title: str) -> str:
    toolsets = list(dict.fromkeys(name for row in rows for name in row["toolsets"]))
    lines = []
    for row in rows:
        lines.append((row["name"], *(_right(row["toolsets"].get(each)) for each in toolsets)))
    return table((title, *toolsets), lines)


def _right(cell: Data | None) -> str:
    if not cell:
        return "–"
    others = f" ({counts(cell['outcomes'])})" if cell["outcomes"] else ""
    return f"{cell['right']}/{cell['plays']}{others}"


def durations(summary: Data, *, task_by_task: bool = True) -> str:
    """Seconds per play, which differ from run to run."""
    found: list[tuple[object, ...]] = []
    for title in ("open", "held_out"):
        found += [(title, row["name"], f"{row['seconds']:.2f}") for row in summary[title]["toolsets"] if row["plays"]]
    if task_by_task:
        found += [(row["task"], row["name"], f"{row['seconds']:.2f}") for row in summary["task_rows"]]
    return table(("tasks", "toolset", "seconds per play"), found)


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Markdown that is also readable as it stands: columns as wide as their widest cell."""
    cells = [[str(cell) for cell in line] for line in (head, *rows)]
    widths = [max(_width(line[at]) for line in cells) for at in range(len(head))]
    lines = [f"| {' | '.join(map(_padded, line, widths))} |" for line in cells]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _width(text: str) -> int:
    return sum(2 if ord(character) > 0x2E7F else 1 for character in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def percent(part: int, whole: int) -> str:
    return f"{part * 100 / whole:.0f} %" if whole else "–"


def p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def export(run: EvalRun, cases: Sequence[EvalCase], summary: Data) -> dict[str, Any]:
    """The whole run for programs: what was measured, the numbers, and each play with its talk."""
    facts = ("model", "is_stand_in", "seed", "repetitions", "toolsets", "tasks_digest", "wording", "note", "state")
    kept = (
        "task", "toolset", "repetition", "language", "tags", "held_out", "model", "outcome", "wrong_money", "stuck",
        "never", "told_wrong", "handed_off", "tool_calls", "requests", "errors", "input_tokens", "cached_tokens",
        "output_tokens", "cost_micro", "milliseconds", "detail",
    )  # fmt: skip
    return {
        "run": {"id": run.pk, **{name: getattr(run, name) for name in facts}, "stopped_because": run.stopped_because},
        "summary": summary,
        "plays": [{name: getattr(case, name) for name in kept} for case in cases],
    }


def write(folder: Path, run: EvalRun, cases: Sequence[EvalCase]) -> list[Path]:
    """Both files, named after the run. Makes the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = summarise(cases, run.toolsets)
    name = f"evaluation-{run.pk}" if run.pk else "evaluation"
    told, data = folder / f"{name}.md", folder / f"{name}.json"
    told.write_text(f"{markdown(run, summary)}\n## Durations\n\n{durations(summary)}\n", encoding="utf-8")
    data.write_text(json.dumps(export(run, cases, summary), ensure_ascii=False, indent=1), encoding="utf-8")
    return [told, data]
