"""Evaluations: which were run, the tables of one, what differs between two, and a talk step by step."""

import json
from collections import defaultdict
from typing import Any

from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agent.models import EvalCase, EvalRun
from agent.models_evals import EvalOutcome
from backoffice.evals import report, verdict_words
from backoffice.evals.summary import summarise
from backoffice.screens import eval_tables
from backoffice.screens.gate import EVALS, staff_screen
from backoffice.screens.keyset import sheet_of

PER_PAGE = 30
MOST_SHOWN = 200
MOST_TO_COMPARE = 50


@never_cache
@require_safe
@staff_screen(EVALS)
def run_list(request: HttpRequest) -> HttpResponse:
    sheet = sheet_of(EvalRun.objects.all(), request.GET, per_page=PER_PAGE)
    shares = _shares(sheet.rows)
    rows = [
        {"run": run, "shares": [(eval_tables.toolset_name(name), shares[run.pk, name]) for name in run.toolsets]}
        for run in sheet.rows
    ]
    return render(request, "staff/evals.html", {"here": "evals", "rows": rows, "sheet": sheet})


def _shares(runs: list[EvalRun]) -> dict[tuple[int, str], str]:
    """Right plays of all of open tasks, per run and toolset, in one query."""
    shares: dict[tuple[int, str], str] = defaultdict(lambda: "–")
    counted = EvalCase.objects.filter(run__in=runs, held_out=False).order_by().values("run_id", "toolset")
    for each in counted.annotate(plays=Count("pk"), right=Count("pk", filter=Q(outcome=EvalOutcome.RIGHT))):
        shares[each["run_id"], each["toolset"]] = eval_tables.share(each["right"], each["plays"])
    return shares


@never_cache
@require_safe
@staff_screen(EVALS)
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    run = get_object_or_404(EvalRun, pk=run_id)
    cases = _cases(run)
    outcome, toolset = request.GET.get("outcome", ""), request.GET.get("toolset", "")
    shows_held_out = request.GET.get("held_out") == "1"
    apart = [case for case in cases if case.held_out == shows_held_out]
    wrong = [case for case in apart if (case.outcome == outcome if outcome else not case.is_right or case.told_wrong)]
    shown = [case for case in wrong if not toolset or case.toolset == toolset]
    context = {
        "here": "evals",
        "run": run,
        "played": len(cases),
        "tables": eval_tables.tables_of(summarise(cases, run.toolsets)),
        "cases": [_in_list(case) for case in shown[:MOST_SHOWN]],
        "number": len(shown),
        "outcomes": [(value, label) for value, label in EvalOutcome.choices],
        "toolsets": [(name, eval_tables.toolset_name(name)) for name in run.toolsets],
        "outcome": outcome,
        "toolset": toolset,
        "shows_held_out": shows_held_out,
        "has_held_out": any(case.held_out for case in cases),
        "others": EvalRun.objects.exclude(pk=run.pk)[:MOST_TO_COMPARE],
    }
    return render(request, "staff/eval_run.html", context)


def _cases(run: EvalRun) -> list[EvalCase]:
    """Without the talks, which are long."""
    return list(run.cases.defer("detail"))


def _in_list(case: EvalCase) -> dict[str, Any]:
    return {
        "case": case,
        "toolset": eval_tables.toolset_name(case.toolset),
        "tone": eval_tables.TONES.get(EvalOutcome(case.outcome), "info"),
    }


@never_cache
@require_safe
@staff_screen(EVALS)
def case_page(request: HttpRequest, run_id: int, case_id: int) -> HttpResponse:
    case = get_object_or_404(EvalCase.objects.select_related("run"), pk=case_id, run=run_id)
    detail = case.detail
    verdict = [verdict_words.read(each) for each in [*detail.get("faults", ()), *detail.get("told", ())]]
    context = {"here": "evals", "run": case.run, **_in_list(case), "detail": detail, "verdict": verdict}
    return render(request, "staff/eval_case.html", context)


@never_cache
@require_safe
@staff_screen(EVALS)
def compare(request: HttpRequest, run_id: int) -> HttpResponse:
    """This run beside an earlier one, `?with=`."""
    now = get_object_or_404(EvalRun, pk=run_id)
    asked = request.GET.get("with", "")
    if not (asked.isascii() and asked.isdigit() and len(asked) < 19):
        raise Http404(_("There is no such evaluation."))
    before = get_object_or_404(EvalRun, pk=int(asked))
    old, new = _cases(before), _cases(now)
    toolsets = [name for name in now.toolsets if name in before.toolsets]
    context = {
        "here": "evals",
        "now": now,
        "before": before,
        "tables": eval_tables.comparisons(old, new, toolsets),
        "differences": eval_tables.differences(old, new),
        "cautions": eval_tables.what_differs(before, now, old, new),
    }
    return render(request, "staff/eval_compare.html", context)


@never_cache
@require_safe
@staff_screen(EVALS)
def run_file(request: HttpRequest, run_id: int, kind: str) -> HttpResponse:
    """The run as Markdown (`md`) or JSON (`json`), as `manage.py evaluate --out` writes it."""
    run = get_object_or_404(EvalRun, pk=run_id)
    cases = list(run.cases.all())
    summary = summarise(cases, run.toolsets)
    if kind == "md":
        answer = HttpResponse(report.markdown(run, summary), content_type="text/markdown; charset=utf-8")
    else:
        body = json.dumps(report.export(run, cases, summary), ensure_ascii=False)
        answer = HttpResponse(body, content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="evaluation-{run.pk}.{kind}"'
    return answer
