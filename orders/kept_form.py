"""What was typed into a form that was refused, kept in the session for the page that comes next.

Nobody types it twice, and a page that is loaded once more begins anew.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from django.http import HttpRequest, QueryDict

_KEPT: Final = "screens.refused_form"
# Longer than anything a form here takes: what exceeds it is not kept. A return has four fields for each of its lines.
_LONGEST_KEPT: Final = 5_000
_MOST_FIELDS: Final = 400
_NOT_TYPED: Final = frozenset({"csrfmiddlewaretoken", "next"})


def keep(request: HttpRequest, *, address: str, fields: Iterable[tuple[str, str]]) -> None:
    """`address`: where the form sends to, by which its page asks for it; `fields`: names, with what was typed."""
    typed = [(name, value) for name, value in fields if name not in _NOT_TYPED]
    short = [[name, value] for name, value in typed[:_MOST_FIELDS] if len(name) + len(value) <= _LONGEST_KEPT]
    request.session[_KEPT] = {"address": address, "fields": short}


def kept_form(request: HttpRequest, address: str) -> QueryDict | None:
    """What was typed into the form that sends to `address`, if that form was refused just before; else None."""
    if not hasattr(request, "kept_form"):
        # Taken out once: a page that is loaded again begins anew.
        request.kept_form = request.session.pop(_KEPT, None) or {}  # type: ignore[attr-defined]
    kept: Mapping[str, object] = request.kept_form  # type: ignore[attr-defined]
    if kept.get("address") != address:
        return None
    form = QueryDict(mutable=True)
    for name, value in kept["fields"]:  # type: ignore[attr-defined]
        form.appendlist(name, value)
    return form
