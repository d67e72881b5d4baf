"""One reply of the model: the request built from rows, a few attempts, and what each ending leads to.

What is done about an ending stands in one table (`agent/endings.py`); here it is done.
"""

import random
import time
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import structlog
from django.db import connections

from agent import client, endings, farewells, folding, history, keeping, model_calls, request, stopping, turns
from agent.client import ModelFailed
from agent.drafts import Draft
from agent.endings import Ending, Mend, Repair, Retry
from agent.model_calls import Request
from agent.models import Conversation, Turn
from agent.repair import repaired
from agent.save_points import reached
from agent.tools import registry
from agent.turns import Lease, holding

log = structlog.get_logger(__name__)
PAUSE_SECONDS = 0.5


@dataclass(slots=True)
class Attempts:
    """What has been tried for one reply."""

    failed: int = 0
    mended: list[Mend] = field(default_factory=list)


def call_model(lease: Lease, deadline: float, request: Request) -> bool:
    """One reply, asked for as often as the table allows; then it is kept, or the turn ends in words.

    `request` is the first attempt's. True: the turn is over. Raises `LeaseLost` and `client.Stopped`.
    """
    attempts = Attempts()
    while True:
        heard = _attempt(lease, deadline, request)
        if not isinstance(heard, ModelFailed):
            return heard
        pause = _recover(lease, heard, attempts, deadline)
        if pause is None:
            return True
        stopping.pause(pause)
        stopping.leave_if_asked()
        if time.monotonic() > deadline:
            _end(lease, endings.BY_NAME["out_of_time"])
            return True
        request = _begin_again(lease, lenient="lenient" in attempts.mended)


def _attempt(lease: Lease, deadline: float, request: Request) -> ModelFailed | bool:
    """Ask once. Why there is no reply; or whether the turn is over with the reply that is kept."""
    connections.close_all()
    draft = Draft(request.conversation, key=f"t{request.call}.{lease.token[:6]}")
    try:
        reply = _ask(lease, request.messages, draft, deadline)
        reached("model_heard")
        kept = keeping.keep(lease, reply, draft, request)
        return ModelFailed(kept, request_id=reply.request_id) if isinstance(kept, Ending) else kept
    except ModelFailed as failure:
        reached("model_failed")
        model_calls.broke(request.call, failure, draft)
        return failure
    finally:
        # Whatever was the matter, also that the turn is no longer ours: half a reply may not stay on the page.
        draft.close()


def _recover(lease: Lease, failure: ModelFailed, attempts: Attempts, deadline: float) -> float | None:
    """Do what the table says. The seconds to wait before the next attempt; None when the turn has ended in words."""
    ending = failure.ending
    tell = log.error if ending.alarm else log.warning
    tell("model.failed", ending=ending.name, detail=failure.detail, api_request_id=failure.request_id)
    if isinstance(ending.what, Repair):
        return _mend(lease, ending, ending.what, attempts)
    attempts.failed += 1
    if isinstance(ending.what, Retry) and attempts.failed < ending.what.tries and not failure.retry_forbidden:
        pause = pause_before_next(failure.after, attempts.failed)
        if time.monotonic() + pause < deadline:
            return pause
        _end_for_now(lease, failure.after)
    else:
        _end(lease, ending)
    return None


def _mend(lease: Lease, ending: Ending, repair: Repair, attempts: Attempts) -> float | None:
    """The next way of mending that has not been tried for this reply; words when there is none."""
    how = next((each for each in repair.how if each not in attempts.mended), None)
    if how is None:
        _end(lease, ending)
        return None
    attempts.mended.append(how)
    if how == "fold":
        with holding(lease, "history_folded") as (conversation, _turn):
            folding.fold(conversation, harder=True)
    return 0


def pause_before_next(after: float | None, failed: int) -> float:
    """Never earlier than told; longer every time; and not all waiting turns at the same moment."""
    if after is not None:
        return after + PAUSE_SECONDS * random.random()
    return PAUSE_SECONDS * float(2**failed) * (1 + random.random())


def _end(lease: Lease, ending: Ending) -> None:
    words = ending.last_words
    farewells.fail(lease, ending.name, farewell=words.farewell, hand_off=words.hand_off)


def _end_for_now(lease: Lease, after: float | None) -> None:
    """The pause before the next attempt would be longer than the turn may still take."""
    if after is None:
        _end(lease, endings.BY_NAME["out_of_time"])
    else:
        minutes = ceil(min(after, 24 * 3600) / 60)
        farewells.fail(lease, endings.BY_NAME["told_later"].name, farewell="busy", values={"minutes": minutes})


def begin(conversation: Conversation, turn: Turn, *, again: bool = False, lenient: bool = False) -> Request:
    """What the model is asked now, `again` after a failure, and the row of its being asked. Inside `holding`."""
    messages = folding.messages_within_window(conversation)
    return Request(
        conversation=conversation,
        messages=repaired(without_thinking(messages)) if lenient else messages,
        heard=history.newest_message(conversation),
        told=conversation.last_event,
        call=model_calls.begin(conversation, turn, again=again),
    )


def _begin_again(lease: Lease, *, lenient: bool) -> Request:
    with holding(lease, "request_begun") as (conversation, turn):
        return begin(conversation, turn, again=True, lenient=lenient)


def without_thinking(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Thinking goes back unchanged, unless the API will not have it: another model's signature is refused for ever."""
    kinds = {"thinking", "redacted_thinking"}
    return [
        {**message, "content": [block for block in message["content"] if block.get("type") not in kinds]}
        for message in messages
    ]


def _ask(lease: Lease, messages: list[dict[str, Any]], draft: Draft, deadline: float) -> client.Reply:
    def going_on() -> bool:
        if time.monotonic() > deadline:
            raise ModelFailed(endings.BY_NAME["out_of_time"])
        return not stopping.requested.is_set() and turns.keeper.holds(lease)

    reply = client.reply_to(
        system=request.system(),
        tools=registry.definitions(),
        messages=request.with_cache_marks(messages),
        on_text=draft.add,
        going_on=going_on,
        rest=draft.rest,
        seconds=deadline - time.monotonic(),
    )
    draft.show()
    return reply
