"""How a run ended that could not do what was asked: in words for a colleague, who can always ask again."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Trying the same again may help.
AGAIN: Final = frozenset({"other", "seconds", "busy", "left", "out_of_order", "not_kept"})
# The names are those of `Words.farewell` in `agent/endings.py`, and of the limits.
WORDS: Final[Mapping[str, Promise]] = {
    "other": _("The copilot could not answer just now. Nothing is lost: try again."),
    "seconds": _("This took too long, so it was stopped. What it has found stands above: try again, and it goes on."),
    "busy": _("Very much is asked of the model right now. Try again in some minutes."),
    "left": _("The work on this was interrupted. Try again, and it goes on where it was."),
    "out_of_order": _("The copilot is out of order. The shop's technicians know of it."),
    "max_tokens": _("The answer grew too long and was cut. Ask for less at once."),
    "refusal": _("The model does not want to answer this. Ask in another way, or look for yourself."),
    "too_long": _("There is too much to read for one answer. Begin a new thread, or ask for less at once."),
    "steps": _("This took more steps than one question may have. Ask for a smaller part of it."),
    "tokens": _("This had more to read than one question may have. Ask for a smaller part of it."),
    "staff_spend": _("You have used what the copilot may cost for one person in 24 hours. It answers again later."),
    "not_allowed": _("Your account may not use the copilot any more."),
}


def words_of(error: str) -> str:
    return str(WORDS.get(error, WORDS["other"]))


def may_help_again(error: str) -> bool:
    return error in AGAIN or error not in WORDS
