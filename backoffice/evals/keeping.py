"""Stores runs and their plays in the desk's own database, each play as it comes."""

from collections.abc import Mapping
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


def finish(run: EvalRun, *, because: str = "") -> None:
    """`because`: why it stopped before its end; empty if it did not."""
    run.state = EvalState.STOPPED if because else EvalState.DONE
    run.stopped_because = because[:240]
    run.finished_at = timezone.now()
    if run.pk is not None:
        run.save(update_fields=["state", "stopped_because", "finished_at"])
