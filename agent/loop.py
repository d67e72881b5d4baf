"""3 think: one turn, from the rows to the rows.

Every round asks the database what has to be done (`history.next_step`), does one step of it, and keeps it: a worker
that is killed leaves rows from which the next one goes on. Neither transaction nor connection is held while the model
talks.
"""

import time
from contextlib import AbstractContextManager
from typing import Final

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError

from agent import asking, cards, client, history, limits, stopping, turns
from agent.farewells import end_in_words, fail
from agent.model_calls import Request
from agent.models import Conversation, ToolCall, Turn
from agent.states import ToolCallState, TurnState
from agent.tools import executor
from agent.turns import Lease, LeaseLost, holding
from orders.actors import system_actor

log = structlog.get_logger(__name__)
SECONDS_AFTER_A_PRESS = 30
# What comes next, and what the model is asked where it is to be asked.
Decision = tuple[history.NextStep, Request | None]
WROTE_BEFORE: Final = (
    "Nobody pressed a button: the customer wrote before the card could be seen, so it was taken back; nothing changed."
)


def run(turn_id: int) -> None:
    """Work on a turn until it waits or is over. Delivered twice, or late, it does nothing."""
    begun = _begin(turn_id)
    if begun is None:
        return
    lease, first = begun
    with turns.keeper.keep(lease), _named_in_the_log(lease):
        try:
            _work(lease, first)
        except turns.Silenced:
            _fall_silent(lease)
        except LeaseLost:
            log.info("turn.left", turn=turn_id)
        except client.Stopped:
            _hand_on(lease)
        except (OperationalError, InterfaceError) as error:
            # The database is away. Nothing is lost with the lease: when it ends, a sweeper finds the turn.
            log.warning("turn.database_away", turn=turn_id, error=str(error))
        except Exception:
            log.exception("turn.broke", turn=turn_id)
            fail(lease, "internal error", farewell="out_of_order", hand_off=True)


def _named_in_the_log(lease: Lease) -> AbstractContextManager[None]:
    return structlog.contextvars.bound_contextvars(conversation_id=lease.conversation_id, turn_id=lease.turn_id)


def _begin(turn_id: int) -> tuple[Lease, Decision | None] | None:
    """Get hold of the turn and find out what comes first, in one transaction. None: there is nothing to work on.

    Where that cannot be found out the turn is only taken, and what is the matter is met again by the next decision. So
    it is where a job may have been lost: a decision that takes its worker down has to leave a row that says so.
    """
    try:
        with turns.taking(turn_id) as taken:
            if taken is None:
                return None
            lease, conversation, turn = taken
            if not lease.fresh or stopping.requested.is_set():
                return lease, None
            turns.may_speak(conversation)
            with _named_in_the_log(lease):
                first = _decision(conversation, turn, out_of_time=_seconds_left(lease) <= 0)
            turns.lengthen(turn)
            return lease, first
    except turns.Silenced:
        pass
    except Exception:
        log.warning("turn.not_begun", turn=turn_id, exc_info=True)
    alone = turns.take(turn_id)
    return (alone, None) if alone else None


def _work(lease: Lease, first: Decision | None) -> None:
    """Step by step until there is nothing to do; a turn that has ended meanwhile shows as `LeaseLost`."""
    deadline = time.monotonic() + _seconds_left(lease)
    over = False
    while not over:
        stopping.leave_if_asked()
        step, request = first or _decide(lease, out_of_time=time.monotonic() > deadline)
        first = None
        if request is not None:
            over = asking.call_model(lease, deadline, request)
        elif step == "run_tools":
            _run_tools(lease)
        else:
            over = True


def _seconds_left(lease: Lease) -> float:
    """Of what a turn may take. One that goes on after a press has enough to say what has become of it."""
    most = settings.AGENT_MAX_TURN_SECONDS
    left = most - lease.worked.total_seconds()
    return max(left, min(SECONDS_AFTER_A_PRESS, most)) if lease.resumed else left


def _decide(lease: Lease, *, out_of_time: bool) -> Decision:
    with holding(lease, "step_decided") as (conversation, turn):
        return _decision(conversation, turn, out_of_time=out_of_time)


def _decision(conversation: Conversation, turn: Turn, *, out_of_time: bool) -> Decision:
    """What comes next. A turn that waits or is over is moved there in the same transaction that finds it out."""
    step = history.next_step(conversation)
    if step == "wait" and _spoke_before_the_card(conversation):
        cards.decline_open(conversation, actor=system_actor("agent"), why=WROTE_BEFORE)
        step = history.next_step(conversation)
    if step == "wait":
        turns.move(conversation, turn, TurnState.RUNNING, TurnState.WAITING)
    elif step == "done":
        turns.move(conversation, turn, TurnState.RUNNING, TurnState.DONE)
    elif limit := limits.reached(conversation, turn, step, out_of_time=out_of_time):
        end_in_words(conversation, turn, limit.name, hand_off=limit.hand_off, values=limit.values)
        return "done", None
    return step, asking.begin(conversation, turn) if step == "call_model" else None


def _spoke_before_the_card(conversation: Conversation) -> bool:
    """The customer wrote while the reply was being made that ends in a card: they answered without having seen it."""
    return history.unheard(conversation, history.newest_reply(conversation))


def _run_tools(lease: Lease) -> None:
    asked = ToolCall.objects.filter(conversation_id=lease.conversation_id, state=ToolCallState.ASKED).order_by("id")
    for call_id in list(asked.values_list("pk", flat=True)):
        stopping.leave_if_asked()
        executor.run_call(lease, call_id)


def _fall_silent(lease: Lease) -> None:
    """A person has the conversation, or it is closed: whatever the turn still had to say is not said."""
    try:
        with holding(lease, "turn_silenced", to_end=True) as (conversation, turn):
            turns.move(conversation, turn, TurnState.RUNNING, TurnState.DONE)
    except LeaseLost:
        log.info("turn.left", turn=lease.turn_id)


def _hand_on(lease: Lease) -> None:
    """This worker is going down: the turn is queued again, and a sweeper of another one finds it."""
    try:
        with holding(lease, "turn_handed_on") as (conversation, turn):
            turns.move(conversation, turn, TurnState.RUNNING, TurnState.QUEUED)
            turns.send_job(turn)
    except LeaseLost:
        log.info("turn.left", turn=lease.turn_id)
