"""Text that people type: what is kept of it, and what is refused."""

import unicodedata
from typing import Final

from django.utils.translation import gettext as translate

from orders import strict
from orders.errors import InvalidInput

# What a person answers in one piece, and what is drafted for them.
MAX_REPLY_CHARACTERS: Final = 4000


def readable(text: str, *, limit: int) -> str:
    """The text without white space around it. Raises `InvalidInput` for empty, too long, or with control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    # Spaces without width and the like are text to a computer only.
    if all(unicodedata.category(character) in {"Cf", "Zs", "Zl", "Zp", "Cc"} for character in text):
        raise InvalidInput("text", translate("Please write something first."))
    if len(text) > limit:
        raise InvalidInput(
            "text",
            translate("The message is too long: at most %(limit)s characters, and it has %(count)s.")
            % {"limit": limit, "count": len(text)},
            hint=translate("Shorten it, or send it in several parts."),
        )
    if not strict.readable(text, allow="\n\t"):
        raise InvalidInput(
            "text",
            translate("The message contains characters that cannot be shown."),
            hint=translate("Remove them and send it again."),
        )
    return text


def page_length(text: str) -> int:
    """The length of a text as a browser counts it: in UTF-16 units, two for most emoji."""
    return len(text.encode("utf-16-le")) // 2


def behind(text: str, known: int) -> str | None:
    """What of `text` is new to a page that has its first `known` UTF-16 units; None where a piece before it is missing.

    A piece that was sent twice, alone or with what came next, says nothing twice.
    """
    if known < 0:
        return None
    return text.encode("utf-16-le")[2 * known :].decode("utf-16-le", "ignore")
