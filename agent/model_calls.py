"""A row for every request to the model: begun before it is sent, ended with what came of it.

A row that has no ending belongs to a worker that died or was told to leave while the model talked.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog
from django.utils import timezone

from agent import client, events, plain, spending
from agent.drafts import Draft
from agent.endings import Ending
from agent.models import Conversation, ModelCall, Turn

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What the model is asked, from the rows as they are now. `heard`: the newest message that is in it; `told`: the
    newest event that pages were told by then.
    """

    conversation: Conversation
    messages: list[dict[str, Any]]
    heard: int
    told: int
    call: ModelCall


def begin(conversation: Conversation, turn: Turn, *, again: bool = False) -> ModelCall:
    """The row of an attempt at the turn's next step; `again`: after one that failed. Inside `holding`."""
    number, attempt = turn.steps + 1, 1
    if again or turn.taken_at != turn.started_at:  # or after one of a worker that is gone
        attempt += ModelCall.objects.filter(turn=turn, number=number).count()
    return ModelCall.objects.create(
        conversation=conversation,
        turn=turn,
        number=number,
        attempt=attempt,
        started_at=timezone.now(),
        model=spending.asked_model(),
    )


def finish(call: ModelCall, reply: client.Reply, draft: Draft) -> None:
    """A whole reply: what it used and cost, on the call and added to the turn. Inside `holding`."""
    call.ending = call.stop_reason = reply.stop_reason[:40]
    call.request_id = reply.request_id[:80]
    _price(call, reply.usage)
    _end(call, draft)
    _add_to_turn(call, steps=1, first_text_at=call.first_text_at)


def broke(call: ModelCall, failure: client.ModelFailed, draft: Draft) -> None:
    """No usable reply: why, and what it has cost all the same. In a transaction of its own, so that the sums agree.

    Whoever holds the turn by now: costs only add up.
    """
    call.ending, call.request_id = failure.ending.name, failure.request_id[:80]
    if failure.usage is not None:
        _price(call, failure.usage)
    with events.writing(call.conversation_id, "failure_kept"):
        _end(call, draft)
        _add_to_turn(call)


def _price(call: ModelCall, used: client.Usage) -> None:
    call.model = used.model[:60]
    call.input_tokens, call.written_tokens = used.fresh, used.written
    call.cached_tokens, call.output_tokens = used.cached, used.output
    call.cost_micro = spending.cost_micro(
        model=used.model, fresh=used.fresh, written=used.written, cached=used.cached, output=used.output
    )


def _add_to_turn(call: ModelCall, *, steps: int = 0, first_text_at: datetime | None = None) -> None:
    used = [call.input_tokens + call.written_tokens, call.cached_tokens, call.output_tokens, call.cost_micro]
    plain.row(_ADD, call.model, *used, steps, first_text_at, call.turn_id)


_ADD = """
update agent_turn set model = %s, input_tokens = input_tokens + %s, cached_tokens = cached_tokens + %s,
  output_tokens = output_tokens + %s, cost_micro = cost_micro + %s, steps = steps + %s,
  first_text_at = coalesce(first_text_at, %s) where id = %s
"""


def name_ending(call: ModelCall, ending: Ending) -> None:
    """A whole reply that was not kept: why. Inside `holding`."""
    call.ending = ending.name
    call.save(update_fields=["ending"])


def _end(call: ModelCall, draft: Draft) -> None:
    call.ended_at = timezone.now()
    if draft.first_at is not None:
        call.first_text_at = datetime.fromtimestamp(draft.first_at, tz=UTC)
    call.save()
    _log(call)


def _log(call: ModelCall) -> None:
    """One line per request; the words are in the rows."""
    log.info(
        "model.called",
        step=call.number,
        attempt=call.attempt,
        ending=call.ending,
        model=call.model,
        api_request_id=call.request_id,
        duration_ms=_milliseconds(call.started_at, call.ended_at),
        first_text_ms=_milliseconds(call.started_at, call.first_text_at),
        fresh_tokens=call.input_tokens,
        written_tokens=call.written_tokens,
        cached_tokens=call.cached_tokens,
        output_tokens=call.output_tokens,
        cost_micro=call.cost_micro,
    )


def _milliseconds(begin: datetime, end: datetime | None) -> int | None:
    return round((end - begin).total_seconds() * 1000) if end else None
