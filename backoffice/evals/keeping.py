"""Stores runs and their plays in the desk's own database, each play as it comes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.utils import timezone

from agent.models import EvalCase, EvalRun
from agent.models_evals import EvalState
from backoffice.evals.plan import Job

COUNTS: Final = ("tool_calls", "requests", "errors", "input_tokens", "cached_tokens", "output_tokens", "cost_micro")
DETAILS: Final = ("faults", "told", "seen", "talk")


def case_of(run: EvalRun, job: Job, result: Mapping[str, Any]) -> EvalCase:
    """The row of a play, not saved."""
    kinds = {fault["kind"] for fault in result["faults"]}
    return EvalCase(
        run=run,
        task=job.task.id,
        toolset=job.toolset,
        repetition=job.repetition,
        language=job.task.language,
        tags=list(job.task.tags),
        held_out=job.task.held_out,
        model=result["model"][:60],
        outcome=result["outcome"],
        wrong_money="wrong_money" in kinds,
        stuck="stuck" in kinds,
        never="never" in kinds,
        told_wrong=bool(result["told"]),
        handed_off=result["handed_off"],
        milliseconds=round(result["seconds"] * 1000),
        detail={name: result[name] for name in DETAILS},
        **{name: result[name] for name in COUNTS},
    )


def whole_rounds(cases: Iterable[EvalCase], toolsets: Sequence[str]) -> list[EvalCase]:
    """Only those that every toolset has played: without its partners a play would tip the comparison."""
    listed = list(cases)
    played = Counter((case.task, case.repetition) for case in listed)
    return [case for case in listed if played[case.task, case.repetition] == len(toolsets)]


def leave_out_the_rest(cases: Iterable[EvalCase], kept: Iterable[EvalCase]) -> None:
    """Delete what was stored of rounds that are not whole."""
    ids = {case.pk for case in cases} - {case.pk for case in kept} - {None}
    EvalCase.objects.filter(pk__in=ids).delete()


def finish(run: EvalRun, *, because: str = "") -> None:
    """`because`: why it stopped before its end; empty if it did not."""
    run.state = EvalState.STOPPED if because else EvalState.DONE
    run.stopped_because = because[:240]
    run.finished_at = timezone.now()
    if run.pk is not None:
        run.save(update_fields=["state", "stopped_because", "finished_at"])
