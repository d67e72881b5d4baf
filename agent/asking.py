"""One reply of the model: the request built from rows, a few attempts, and what each ending leads to."""

import random
import time
from typing import Any

import structlog
from django.db import connections

from agent import client, history, keeping, model_calls, stopping, turns
from agent.drafts import Draft
from agent.farewells import fail
from agent.model_calls import Request
from agent.prompts import read_prompt
from agent.tools import registry
from agent.turns import Lease, holding

log = structlog.get_logger(__name__)
MODEL_TRIES = 3
PAUSE_SECONDS = 0.5


def call_model(lease: Lease, deadline: float) -> None:
    """One reply, asked for up to three times; then it is kept, or the turn ends in words.

    Raises `LeaseLost` and `client.Stopped`.
    """
    for attempt in range(1, MODEL_TRIES + 1):
        stopping.leave_if_asked()
        if time.monotonic() > deadline:
            fail(lease, "limit")
            return
        pause = _attempt(lease, deadline, last=attempt == MODEL_TRIES)
        if pause is None:
            return
        stopping.pause(pause)


def _attempt(lease: Lease, deadline: float, *, last: bool) -> float | None:
    """Ask once. None when that settled it, else the seconds to wait before the next attempt."""
    request = _request(lease)
    connections.close_all()
    draft = Draft(request.conversation, key=f"t{request.call}.{lease.token[:6]}")
    try:
        reply = _ask(lease, request.messages, draft, deadline)
        keeping.keep(lease, reply, draft, request)
    except client.ModelFailed as failure:
        log.warning("model.failed", reason=failure.reason, attempt=request.call.attempt, retryable=failure.retryable)
        model_calls.broke(request.call, failure, draft)
        if not failure.retryable or last:
            fail(lease, failure.reason)
            return None
        return _pause_before_next(failure, request.call.attempt)
    finally:
        # Whatever was the matter, also that the turn is no longer ours: half a reply may not stay on the page.
        draft.drop_unless_kept()
    return None


def _pause_before_next(failure: client.ModelFailed, attempt: int) -> float:
    return failure.after if failure.after is not None else PAUSE_SECONDS * 2**attempt * (1 + random.random())


def _request(lease: Lease) -> Request:
    with holding(lease) as (conversation, turn):
        return Request(
            conversation=conversation,
            messages=history.messages_for_model(conversation),
            heard=history.newest_message(conversation),
            call=model_calls.begin(conversation, turn),
        )


def _ask(lease: Lease, messages: list[dict[str, Any]], draft: Draft, deadline: float) -> client.Reply:
    def going_on() -> bool:
        if time.monotonic() > deadline:
            raise client.ModelFailed("limit", retryable=False)
        return not stopping.requested.is_set() and turns.keeper.holds(lease)

    reply = client.reply_to(
        system=[{"type": "text", "text": read_prompt("order_page"), "cache_control": {"type": "ephemeral"}}],
        tools=registry.definitions(),
        messages=_with_cache_mark(messages),
        on_text=draft.add,
        going_on=going_on,
    )
    draft.show()
    return reply


def _with_cache_mark(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same messages with a cache breakpoint on the last block: the next step's request begins with all of this."""
    last = messages[-1]
    *blocks, end = last["content"]
    return [*messages[:-1], {**last, "content": [*blocks, {**end, "cache_control": {"type": "ephemeral"}}]}]
