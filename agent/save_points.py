"""Where a worker may die: every place at which the agent's side is about to save something, or just has.

`AGENT_DIE_AT` names one of them, and which time; the process that gets there is killed by SIGKILL. It is for tests of
crashes (`agent/tests/test_kill_points.py`), which go through this list: what the next worker finds must be enough.
"""

import os
import signal
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final

from django.conf import settings

# Every transaction has two points: all is written and nothing committed; and committed, before anybody is told of it
# (no job sent, no page told).
SAVES: Final[Mapping[str, str]] = {
    # what starts a turn
    "message_said": "the customer's words, and the turn that will answer them",
    "tried_again": "a new turn in place of one that failed",
    "given_back": "the agent has the conversation again",
    # the turn
    "turn_taken": "a worker has got hold of a turn, and knows what comes first",
    "step_decided": "what comes after a step is known: a request is begun, or a turn that waits or is done moved there",
    "request_begun": "the request is built again after a failure, and its row begun",
    "history_folded": "the older half of the conversation is told in short from now on",
    "failure_kept": "why there is no reply, and what it has cost all the same",
    "reply_kept": "the reply, its tool calls and its cost; a turn that has nothing more to do is done",
    "call_run": "a tool's effect and its answer, or the card that it waits for",
    "outside_asked": "somebody outside is about to be asked",
    "outside_answer_kept": "what somebody outside has answered",
    "turn_failed": "the turn has ended in words",
    "turn_silenced": "a turn has ended because a person has the conversation",
    "turn_handed_on": "a worker that goes down has queued its turn again",
    # what becomes of cards
    "card_pressed": "what a card without a quote stands for is done",
    "card_declined": "the customer does not want a card",
    "card_ended": "a card has ended, its call is answered, and the turn goes on",
    # people
    "person_called": "the customer has pressed the button that asks for a person",
    "call_noted": "the page says that a person will come",
    "person_asked": "the conversation waits for a person",
    "taken_over": "a person has the conversation",
    "answered": "a person's words",
    "closed": "the conversation is over",
    "assigned": "it is a colleague's job to look after it",
    "note_written": "words for colleagues",
    "card_offered": "a card that a person has put on the page",
    # the copilot
    "copilot_asked": "a colleague's question, and that somebody is to work on it",
    "copilot_tried_again": "somebody is to go on with a question",
    "copilot_taken": "a worker has got hold of a colleague's thread",
    "copilot_decided": "what comes next is known; a run that is done has ended",
    "copilot_request_begun": "the request is built, and its row begun",
    "copilot_reply_kept": "the reply and its tool calls",
    "copilot_call_run": "a tool's answer",
    "copilot_outside_kept": "what somebody outside has answered",
    "copilot_drafted": "a draft for a conversation",
    "copilot_failed": "the run has ended in words",
    "copilot_handed_on": "a worker that goes down has queued the run again",
    "copilot_given_up": "the sweeper has ended in words a run that no worker brings to its end",
    # what is told later
    "outcome_told": "what has become of money or goods",
    "turn_resumed": "the sweeper has queued a turn that need not wait any more",
    "lateness_told": "the customer has been told that nobody has got to their words yet",
}
# Between transactions, where something is known and nothing of it is saved.
MOMENTS: Final[Mapping[str, str]] = {
    "words_shown": "the page shows the beginning of a reply that is not whole",
    "model_heard": "the reply is whole",
    "model_failed": "there is no reply that can be used",
    "outside_answered": "somebody outside has answered",
    "press_heard": "a quote was redeemed, declined or is over, and its card does not know yet",
    "lost_turn_found": "the sweeper has found a turn without a worker, and sent no job yet",
    "copilot_model_heard": "the copilot's reply is whole",
    "copilot_outside_answered": "somebody outside has answered the copilot",
    "copilot_lost_found": "the sweeper has found a copilot's run without a worker, and done nothing yet",
}
POINTS: Final = frozenset(MOMENTS) | {f"{save}.{side}" for save in SAVES for side in ("before", "after")}

# How often this process has passed each point, first ones first. Counted only where `AGENT_DIE_AT` is set.
passed: Counter[str] = Counter()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class Death:
    """`point` is one of `POINTS`; the process dies when it gets there for the `time`th time."""

    point: str
    time: int


def death(text: str) -> Death | None:
    """What `AGENT_DIE_AT` says, like "reply_kept.before:2"; None where it is empty. Raises ValueError."""
    if not text.strip():
        return None
    point, _, time = text.strip().partition(":")
    if point not in POINTS or int(time) < 1:
        raise ValueError(text)
    return Death(point, int(time))


def reached(point: str) -> None:
    """Call it at a point of the list. Nothing happens, unless this is the process and the time to die."""
    fate: Death | None = settings.AGENT_DIE_AT
    if fate is None:
        return
    with _lock:
        passed[point] += 1
        if fate == Death(point, passed[point]):
            os.kill(os.getpid(), signal.SIGKILL)
