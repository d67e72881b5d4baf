"""The API's parser. A module of its own: REST framework loads it while `rest_framework.views` is being imported."""

import io
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.parsers import JSONParser

from orders.errors import InvalidInput

MAX_BODY_BYTES: Final = 2_500_000
MAX_DEPTH: Final = 32


class JsonBodies(JSONParser):
    """JSON of a bounded size and depth: what is nested without end would otherwise end the worker's stack."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        bounded = io.BytesIO(stream.read(MAX_BODY_BYTES + 1))
        if bounded.getbuffer().nbytes > MAX_BODY_BYTES:
            raise exceptions.ParseError(_("The body is too large."))
        try:
            body = super().parse(bounded, media_type, parser_context)
        except RecursionError:
            raise exceptions.ParseError(_("The body is nested too deeply.")) from None
        if not _is_shallow(body):
            raise exceptions.ParseError(_("The body is nested too deeply."))
        broken = _half_a_character(body)
        if broken is not None:
            raise InvalidInput(broken or "body", _("This text contains half of a character, which cannot be kept."))
        return body


def _is_shallow(body: Any) -> bool:
    level = [body]
    for _depth in range(MAX_DEPTH):
        level = [each for value in level for each in _below(value)]
        if not level:
            return True
    return False


def _half_a_character(body: Any, path: str = "") -> str | None:
    """The path of the first text with a lone surrogate, which JSON can spell and UTF-8 cannot; None: all is well."""
    if isinstance(body, str):
        return path if any("\ud800" <= character <= "\udfff" for character in body) else None
    for key, value in body.items() if isinstance(body, dict) else enumerate(body if isinstance(body, list) else ()):
        if isinstance(body, dict) and _half_a_character(key) is not None:
            return path
        below = f"{path}[{key}]" if isinstance(body, list) else f"{path}.{key}".lstrip(".")
        if (found := _half_a_character(value, below)) is not None:
            return found
    return None


def _below(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
