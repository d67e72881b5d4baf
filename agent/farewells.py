"""A turn that cannot succeed ends in words: what happened, what the customer can do now, and who has been asked."""

from collections.abc import Callable, Mapping
from typing import Final

import structlog
from django.db import OperationalError, transaction
from django.utils import translation
from django.utils.translation import gettext as translate

from agent import calls, people, retracting, turns, waiting
from agent.models import Conversation, Turn
from agent.states import TurnState
from agent.tools.person import HAND_OFF_TO_HUMAN
from agent.turns import Lease, LeaseLost, holding
from orders.actors import system_actor

log = structlog.get_logger(__name__)
Values = Mapping[str, str | int]


def end_in_words(
    conversation: Conversation,
    turn: Turn,
    why: str,
    *,
    farewell: str = "",
    hand_off: bool = False,
    values: Values | None = None,
) -> None:
    """The turn fails, and the customer reads that it did and what they can do. Inside `holding`.

    `why` is kept as the turn's error; `farewell` names the words, `why` itself if nothing is named; `values` fill them.
    `hand_off` asks for a person, where trying again or waiting will not help. So does a second failure in a row.
    """
    name = farewell or why
    hand_off = hand_off or (name not in WAITING_HELPS and _failed_before(conversation, turn))
    hand_off = _give_up_calls(conversation, turn) or hand_off
    hand_off = hand_off and not (conversation.needs_person or conversation.owner_id)
    with translation.override(conversation.language):
        text = FAREWELLS.get(name, FAREWELLS["other"])() % (values or {})
        if hand_off:
            text = f"{text}\n\n{waiting.person_is_coming()}"
        people.say_as_system(conversation, text)
    if hand_off:
        agent = system_actor("agent", conversation_id=conversation.pk, turn_id=turn.pk)
        people.ask_for_person(conversation=conversation, actor=agent, reason=why[:40], summary="")
    turns.move(conversation, turn, TurnState.RUNNING, TurnState.FAILED, error=why[:240], failures=turn.failures + 1)


def fail(lease: Lease, why: str, *, farewell: str = "", hand_off: bool = False, values: Values | None = None) -> None:
    """`end_in_words` in a transaction of its own; nothing if the turn is no longer ours."""
    try:
        with holding(lease, "turn_failed") as (conversation, turn):
            end_in_words(conversation, turn, why, farewell=farewell, hand_off=hand_off, values=values)
    except LeaseLost:
        log.info("turn.left", turn=lease.turn_id)


def _give_up_calls(conversation: Conversation, turn: Turn) -> bool:
    """What this turn has not got round to would be out of place in the next one. What was said beside it is put right.

    True: a person was called or promised in it. The customer may have read of it already.
    """
    unrun = calls.give_up(conversation)
    called = any(call.name == HAND_OFF_TO_HUMAN.name for call in unrun)
    try:
        with transaction.atomic():
            return retracting.given_up(conversation, turn, unrun) or called
    except OperationalError:
        raise
    except Exception:
        # Whatever breaks there, the customer may not be left without these words.
        log.exception("turn.words_not_looked_at", turn=turn.pk)
        return called


def _failed_before(conversation: Conversation, turn: Turn) -> bool:
    """Did the turn before this one fail too? Then a third try is not what the customer should be left with."""
    before = conversation.turns.filter(pk__lt=turn.pk).order_by("-pk").first()
    return before is not None and before.state == TurnState.FAILED


# Not to be asked for a person for: it is enough to wait, and the words say how long.
WAITING_HELPS: Final = frozenset({"customer_turns", "customer_spend", "busy"})
FAREWELLS: Final[Mapping[str, Callable[[], str]]] = {
    "steps": lambda: translate(
        "This took more steps than I may take, so I stopped. Nothing has been changed without your confirmation. You "
        "can ask again, one thing at a time, or ask for a person."
    ),
    "seconds": lambda: translate(
        "This took longer than I may take, so I stopped. Nothing has been changed without your confirmation. You can "
        "try again, or ask for a person."
    ),
    "tokens": lambda: translate(
        "This became more than I can work on at once, so I stopped. Nothing has been changed without your "
        "confirmation. You can ask again, one thing at a time, or ask for a person."
    ),
    "circles": lambda: translate(
        "I have been going in circles, so I stopped. Nothing has been changed without your confirmation."
    ),
    "workers_lost": lambda: translate(
        "Something on our side broke several times while I worked on this, so I stopped. Nothing has been changed "
        "without your confirmation."
    ),
    "conversation_turns": lambda: translate(
        "This conversation has become longer than I can take it. Everything that was said is kept."
    ),
    "conversation_spend": lambda: translate(
        "I have done as much as I may in one conversation. Everything that was said is kept."
    ),
    "customer_turns": lambda: translate(
        "The assistant has answered you as often as it may in 24 hours. Your message is kept. It can answer you again "
        "from %(when)s; until then, and at any time, you can ask for a person."
    ),
    "customer_spend": lambda: translate(
        "The assistant has worked for you as much as it may in 24 hours. Your message is kept. It can answer you again "
        "from %(when)s; until then, and at any time, you can ask for a person."
    ),
    "max_tokens": lambda: translate("My answer became too long and was cut. You can try again, or ask for a person."),
    "refusal": lambda: translate("I cannot help with this here."),
    "false_claim": lambda: translate("I have said what is not so more than once, so I stopped."),
    "too_long": lambda: translate("I cannot go on with this conversation by myself. Everything that was said is kept."),
    "out_of_order": lambda: translate("The assistant is out of order at the moment. Your message is kept."),
    "busy": lambda: translate(
        "The assistant has too much to do right now. Your message is kept. Please try again in about %(minutes)s "
        "minutes, or ask for a person."
    ),
    "other": lambda: translate(
        "The assistant cannot be reached right now. Your message is kept. You can try again in a moment, or ask for a "
        "person."
    ),
}
