"""The API's parser. A module of its own: REST framework loads it while `rest_framework.views` is being imported."""

import io
import json
from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext as _
from rest_framework import exceptions, status
from rest_framework.parsers import JSONParser

from orders.errors import InvalidInput, Refusal
from orders.json_values import half_a_character, is_shallow

MAX_BODY_BYTES: Final = 2_500_000


class JsonBodies(JSONParser):
    """JSON of a bounded size and depth: what is nested without end would otherwise end the worker's stack."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        bounded = io.BytesIO(stream.read(MAX_BODY_BYTES + 1))
        if bounded.getbuffer().nbytes > MAX_BODY_BYTES:
            raise too_large(MAX_BODY_BYTES)
        try:
            body = super().parse(bounded, media_type, parser_context)
        except RecursionError:
            raise exceptions.ParseError(_("The body is nested too deeply.")) from None
        except exceptions.ParseError as error:
            raise exceptions.ParseError(_what_is_wrong(error.__context__)) from None
        if not is_shallow(body):
            raise exceptions.ParseError(_("The body is nested too deeply."))
        broken = half_a_character(body)
        if broken is not None:
            raise InvalidInput(broken or "body", _("This text contains half of a character, which cannot be kept."))
        return body


def too_large(most: int) -> Refusal:
    """`most`: how many bytes a body may have."""
    return Refusal(
        "body_too_large",
        _("The body is too large: it may have at most %(most)s bytes.") % {"most": f"{most:,}"},
        hint=_("Send less at once."),
        status=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE,
    )


def _what_is_wrong(error: BaseException | None) -> str:
    if isinstance(error, json.JSONDecodeError):
        where = {"line": error.lineno, "column": error.colno}
        return _("The body is no valid JSON at line %(line)s, character %(column)s.") % where
    return _("The body is no valid JSON: it must be UTF-8 text, and its numbers ordinary ones.")
