"""What of the words of an API, a gateway or the SDK may stand in the log, when a request to the model has failed.

They may quote the request, and that holds what customers wrote. So the log has type and status; a message only where it
is about the account or the service; of the rest, the place in the request that it names.
"""

import re
from typing import Final

# Said without a look at what was sent.
ABOUT_THE_SERVICE: Final = frozenset(
    {"authentication_error", "billing_error", "not_found_error", "overloaded_error", "rate_limit_error"}
)
KIND: Final = re.compile(r"\w{1,60}", re.ASCII)
PLACE: Final = re.compile(
    r"(?:messages|system|tools|model|max_tokens|tool_choice)(?:\.(?:\d{1,4}|[a-z_]{1,30}))*(?=: )"
)


def of_refusal(status: int, kind: str, message: str) -> str:
    """`kind`: the error's type, or the SDK's class where the answer had none."""
    if kind in ABOUT_THE_SERVICE:
        return f"{status} {kind}: {message}"
    place = PLACE.match(message)
    said = f"{status} {kind}" if KIND.fullmatch(kind) else str(status)
    return f"{said}: {place[0]}" if place else said


def of_exception(error: Exception, *, about_the_way: bool) -> str:
    """`about_the_way`: nothing was heard that could be quoted: the connection was not made, or stayed silent."""
    return f"{type(error).__name__}: {error}" if about_the_way else type(error).__name__
