"""The API's parser. A module of its own: REST framework loads it while `rest_framework.views` is being imported."""

import io
from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.parsers import JSONParser

from orders.errors import InvalidInput
from orders.json_values import half_a_character, is_shallow

MAX_BODY_BYTES: Final = 2_500_000


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
        if not is_shallow(body):
            raise exceptions.ParseError(_("The body is nested too deeply."))
        broken = half_a_character(body)
        if broken is not None:
            raise InvalidInput(broken or "body", _("This text contains half of a character, which cannot be kept."))
        return body
