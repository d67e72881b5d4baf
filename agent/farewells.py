"""A turn that cannot succeed ends in words: what happened, and what the customer can do now."""

from collections.abc import Callable, Mapping
from typing import Final

import structlog
from django.utils import translation
from django.utils.translation import gettext as translate

from agent import people, turns
from agent.models import Conversation, Turn
from agent.states import TurnState
from agent.turns import Lease, LeaseLost, holding

log = structlog.get_logger(__name__)


def end_in_words(conversation: Conversation, turn: Turn, why: str) -> None:
    """The turn fails, and the customer reads that it did and what they can do. Inside `holding`."""
    with translation.override(conversation.language):
        text = FAREWELLS.get(why, FAREWELLS["other"])()
        people.say_as_system(conversation, text)
    turns.move(conversation, turn, TurnState.RUNNING, TurnState.FAILED, error=why[:240], failures=turn.failures + 1)


def fail(lease: Lease, why: str) -> None:
    """`end_in_words` in a transaction of its own; nothing if the turn is no longer ours."""
    try:
        with holding(lease) as (conversation, turn):
            end_in_words(conversation, turn, why)
    except LeaseLost:
        log.info("turn.left", turn=lease.turn_id)


FAREWELLS: Final[Mapping[str, Callable[[], str]]] = {
    "limit": lambda: translate(
        "I could not finish this by myself. Nothing has been changed without your confirmation. You can try again, or "
        "ask for a person."
    ),
    "refusal": lambda: translate("I cannot help with this here. You can ask for a person."),
    "max_tokens": lambda: translate("My answer became too long and was cut. You can try again, or ask for a person."),
    "other": lambda: translate(
        "The assistant cannot be reached right now. Your message is kept. You can try again in a moment, or ask for a "
        "person."
    ),
}
