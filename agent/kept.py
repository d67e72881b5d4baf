"""What a customer wrote and the server could not take, for the field of the next page: browsers without JavaScript."""

from typing import Final

from django.http import HttpRequest

from orders import strict

_KEPT: Final = "agent.refused_words"
# Longer than any message: what exceeds it is not kept.
_LONGEST: Final = 20_000


def keep(request: HttpRequest, number: str, text: str) -> None:
    """Once, in the session, where there is one: whoever has none gets none by writing.

    Characters that cannot be shown are left out: nobody could find them in the field.
    """
    if text.strip() and len(text) <= _LONGEST and not request.session.is_empty():
        shown = "".join(character for character in text if strict.readable(character, allow="\r\n\t"))
        request.session[_KEPT] = {"order": number, "text": shown}


def take(request: HttpRequest, number: str) -> str:
    """What was refused just before on this order's page; empty if nothing was. Taken out once."""
    if request.session.get(_KEPT, {}).get("order") != number:
        return ""
    return str(request.session.pop(_KEPT)["text"])
