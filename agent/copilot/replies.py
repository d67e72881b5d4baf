"""One reply of the model: asked for as often as the table of endings allows, then kept, or the run ends in words."""

import time
from dataclasses import dataclass, field

import structlog
from django.db import connections
from django.utils import timezone

from agent import asking, client, endings, keeping, spending, stopping
from agent.client import ModelFailed
from agent.copilot import leases, limits, request
from agent.copilot.leases import Lease
from agent.endings import Ending, Keep, Mend, Repair, Retry
from agent.models import CopilotCall, CopilotMessage, CopilotRequest, CopilotThread
from agent.repair import History, repaired
from agent.request import with_cache_marks
from agent.save_points import reached
from agent.states import CopilotAuthor, CopilotState
from agent.tools import registry

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Attempts:
    """What has been tried for one reply."""

    failed: int = 0
    mended: list[Mend] = field(default_factory=list)


def ask_model(lease: Lease, question: CopilotMessage, deadline: float) -> None:
    """Raises `LeaseLost` and `client.Stopped`."""
    attempts = Attempts()
    while True:
        stopping.leave_if_asked()
        if time.monotonic() > deadline:
            fail(lease, "seconds")
            return
        failure = _attempt(lease, question, attempts, deadline)
        pause = _recover(lease, failure, attempts, deadline) if failure else None
        if pause is None:
            return
        stopping.pause(pause)


def fail(lease: Lease, why: str) -> None:
    """The run is over, and the page says why in words."""
    with leases.holding(lease, "copilot_failed") as thread:
        leases.end(thread, CopilotState.FAILED, error=why)


def _attempt(lease: Lease, question: CopilotMessage, attempts: Attempts, deadline: float) -> ModelFailed | None:
    begun = _begin(lease, question, attempts)
    if begun is None:
        return None
    row, messages = begun
    connections.close_all()
    try:
        reply = _ask(lease, messages, deadline)
    except ModelFailed as failure:
        _finish(row, failure.ending, failure.usage, failure.request_id)
        return failure
    reached("copilot_model_heard")
    return _keep(lease, row, reply)


def _begin(lease: Lease, question: CopilotMessage, attempts: Attempts) -> tuple[CopilotRequest, History] | None:
    """The request, and its row. None: a limit is reached, and the run has ended."""
    with leases.holding(lease, "copilot_request_begun") as thread:
        limit = limits.reached(thread, question)
        if limit:
            leases.end(thread, CopilotState.FAILED, error=limit)
            return None
        messages = request.messages_for(thread, only_last="fold" in attempts.mended)
        if "lenient" in attempts.mended:
            messages = repaired(asking.without_thinking(messages))
        row = CopilotRequest.objects.create(
            thread=thread, question=question, started_at=timezone.now(), model=spending.asked_model()
        )
    return row, messages


def _ask(lease: Lease, messages: History, deadline: float) -> client.Reply:
    def going_on() -> bool:
        if time.monotonic() > deadline:
            raise ModelFailed(endings.BY_NAME["out_of_time"])
        return not stopping.requested.is_set() and leases.keeper.holds(lease)

    return client.reply_to(
        system=request.system(),
        tools=registry.copilot_definitions(),
        messages=with_cache_marks(messages),
        on_text=lambda words: None,
        going_on=going_on,
        seconds=deadline - time.monotonic(),
    )


def _finish(row: CopilotRequest, ending: Ending, used: client.Usage | None, request_id: str) -> None:
    """What came of a request and what it has cost, whoever holds the thread by now: costs only add up."""
    row.ending, row.request_id, row.ended_at = ending.name, request_id[:80], timezone.now()
    if used is not None:
        row.model = used.model[:60]
        row.input_tokens, row.written_tokens = used.fresh, used.written
        row.cached_tokens, row.output_tokens = used.cached, used.output
        row.cost_micro = spending.cost_micro(
            model=used.model, fresh=used.fresh, written=used.written, cached=used.cached, output=used.output
        )
    row.save()
    log.info("copilot.asked", thread=row.thread_id, ending=ending.name, cost_micro=row.cost_micro)


def _keep(lease: Lease, row: CopilotRequest, reply: client.Reply) -> ModelFailed | None:
    """The reply and its calls in one transaction. What it cost is kept in any case."""
    content = keeping.whole_blocks(reply)
    ending = _ending(row.thread, reply, content)
    _finish(row, ending, reply.usage, reply.request_id)
    if isinstance(ending.what, Retry | Repair):
        return ModelFailed(ending, request_id=reply.request_id)
    with leases.holding(lease, "copilot_reply_kept") as thread:
        if _says_anything(content):
            _write(thread, content, reply.stop_reason)
        if not isinstance(ending.what, Keep):
            leases.end(thread, CopilotState.FAILED, error=ending.last_words.farewell)
    return None


def _ending(thread: CopilotThread, reply: client.Reply, content: list[client.Block]) -> Ending:
    ending = endings.of_stop(reply.stop_reason)
    asked = [block["id"] for block in content if block.get("type") == "tool_use"]
    if thread.calls.filter(tool_use_id__in=asked).exists():
        return endings.BY_NAME["malformed_reply"]
    return endings.BY_NAME["empty"] if isinstance(ending.what, Keep) and not _says_anything(content) else ending


def _says_anything(content: list[client.Block]) -> bool:
    return any(block.get("type") == "tool_use" or block.get("text", "").strip() for block in content)


def _write(thread: CopilotThread, content: list[client.Block], stop_reason: str) -> None:
    message = CopilotMessage.objects.create(
        thread=thread, author=CopilotAuthor.COPILOT, content=content, stop_reason=stop_reason
    )
    CopilotCall.objects.bulk_create(
        CopilotCall(
            thread=thread,
            message=message,
            tool_use_id=block["id"],
            name=block["name"][:64],
            arguments=block["input"],
        )
        for block in content
        if block.get("type") == "tool_use"
    )


def _recover(lease: Lease, failure: ModelFailed, attempts: Attempts, deadline: float) -> float | None:
    """Do what the table says. The seconds to wait before the next attempt; None when the run has ended in words."""
    ending, what = failure.ending, failure.ending.what
    tell = log.error if ending.alarm else log.warning
    tell("copilot.model_failed", ending=ending.name, detail=failure.detail, api_request_id=failure.request_id)
    if isinstance(what, Repair):
        how = next((each for each in what.how if each not in attempts.mended), None)
        if how is not None:
            attempts.mended.append(how)
            return 0
    attempts.failed += 1
    if isinstance(what, Retry) and attempts.failed < what.tries and not failure.retry_forbidden:
        pause = asking.pause_before_next(failure.after, attempts.failed)
        if time.monotonic() + pause < deadline:
            return pause
        fail(lease, "seconds" if failure.after is None else "busy")
        return None
    fail(lease, ending.last_words.farewell)
    return None
