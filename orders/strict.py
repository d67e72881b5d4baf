"""Strict reading of JSON bodies: a value of the wrong kind is refused, never converted, and the field is named.

`validated(SomeBody, body)` returns the values or raises `InvalidInput` with the first wrong field as a path, such as
`lines[0].quantity`. The fields are DRF's, so that the OpenAPI page describes them too.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django.core.validators import RegexValidator
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.settings import api_settings

from orders.errors import InvalidInput

MAX_AMOUNT: Final = 10**12
CLOCK_TOLERANCE: Final = timedelta(minutes=1)
# Besides control characters: line separators, and marks that reorder text so that it reads as something else.
_HIDDEN: Final = frozenset("\u2028\u2029\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNREADABLE_CATEGORIES: Final = frozenset({"Cc", "Cs"})


def readable(text: str, *, allow: str = "") -> bool:
    """False if `text` holds control characters, half characters or direction marks, except those in `allow`."""
    return not any(
        (unicodedata.category(character) in _UNREADABLE_CATEGORIES or character in _HIDDEN) and character not in allow
        for character in text
    )


def refuse_unreadable(text: str) -> None:
    if not readable(text):
        raise serializers.ValidationError(gettext_lazy("Control characters are not allowed here."))


class StrictInteger(serializers.IntegerField):
    """An int: 1.5, 1.0, "1", true and null are refused."""

    default_error_messages = {"invalid": gettext_lazy("This must be a whole number.")}

    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int:
            self.fail("invalid")
        return data


class Amount(StrictInteger):
    """Money: an integer of the currency's smallest unit, not negative."""

    def __init__(self, *, min_value: int = 0, **options: Any) -> None:
        super().__init__(min_value=min_value, max_value=MAX_AMOUNT, **options)


class StrictText(serializers.CharField):
    """A string of readable characters on one line. Numbers are not made into strings."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators.append(refuse_unreadable)

    def to_internal_value(self, data: Any) -> str:
        if type(data) is not str:
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictPattern(StrictText):
    """A string that matches `pattern` as a whole; `message` says what it must look like."""

    def __init__(self, pattern: str, message: Any, **options: Any) -> None:
        super().__init__(**options)
        self.validators.append(RegexValidator(rf"^(?:{pattern})\Z", message))


class AwareDateTime(serializers.DateTimeField):
    """A moment with its offset, between the year 2000 and now; a clock may be a minute fast."""

    default_error_messages = {
        "naive": gettext_lazy("The time needs an offset, as in 2026-11-20T10:00:00+08:00."),
        "too_early": gettext_lazy("This lies before the year 2000."),
        "future": gettext_lazy("This lies in the future."),
    }

    def to_internal_value(self, value: Any) -> datetime:
        moment = self._parsed(value)
        if moment.utcoffset() is None:
            self.fail("naive")
        if moment.year < 2000:
            self.fail("too_early")
        if moment > timezone.now() + CLOCK_TOLERANCE:
            self.fail("future")
        return moment.astimezone(UTC)

    def _parsed(self, value: Any) -> datetime:
        try:
            moment = parse_datetime(value) if type(value) is str else None
        except ValueError:
            moment = None
        if moment is None:
            self.fail("invalid", format="YYYY-MM-DDThh:mm:ss+hh:mm")
        return moment


class Percent(serializers.DecimalField):
    """A percentage from 0 to 100 with at most three decimals, as a JSON number or as a string of digits."""

    default_error_messages = {"invalid": gettext_lazy("This must be a number with at most three decimals.")}
    _shape = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?")

    def __init__(self, **options: Any) -> None:
        super().__init__(max_digits=6, decimal_places=3, min_value=Decimal(0), max_value=Decimal(100), **options)

    def to_internal_value(self, data: Any) -> Decimal:
        text = data if type(data) is str else str(data) if type(data) in {int, float} else ""
        if not self._shape.fullmatch(text):
            self.fail("invalid")
        return Decimal(text)


class StrictBody(serializers.Serializer[Any]):
    """An object in which a field that nobody reads is a mistake and is refused."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if isinstance(data, Mapping):
            unknown = next((str(key) for key in data if key not in self.fields), None)
            if unknown is not None:
                raise serializers.ValidationError({_printable(unknown): [_("There is no such field.")]})
        values: dict[str, Any] = super().to_internal_value(data)
        return values


def many(kind: type[StrictBody], **options: Any) -> serializers.ListSerializer[Any]:
    """A list of `kind`; options are those of DRF's list (`max_length`, `allow_empty`, `required`)."""
    make: Any = kind
    fields: serializers.ListSerializer[Any] = make(many=True, **options)
    return fields


def validated(kind: type[StrictBody], body: object, **context: Any) -> dict[str, Any]:
    """The values of `body` as `kind` describes them. Raises InvalidInput, naming the first field that is wrong."""
    serializer = kind(data=body, context=context)
    if not serializer.is_valid():
        raise InvalidInput(*first_problem(serializer.errors))
    values: dict[str, Any] = serializer.validated_data
    return values


def first_problem(detail: Any) -> tuple[str, str]:
    """The first complaint in DRF's nested error detail and where it is: `("lines[0].quantity", "…")`."""
    return next(_errors(detail), ("", _("This cannot be read.")))


def _errors(detail: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every (path, message) in DRF's nested error detail, in the order of the fields."""
    if isinstance(detail, str):
        yield path, _(detail) if detail else ""  # some of the framework's sentences come untranslated
    elif isinstance(detail, Mapping):
        for key, below in detail.items():
            yield from _errors(below, _joined(path, key))
    else:
        for index, below in enumerate(detail):
            yield from _errors(below, path if isinstance(below, str) else _joined(path, index))


def _joined(path: str, key: object) -> str:
    if key == api_settings.NON_FIELD_ERRORS_KEY:
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)


def _printable(name: str) -> str:
    """A name that came from outside, safe to show: word characters, at most 64 of them."""
    return re.sub(r"[^\w.\-]", "?", name)[:64] or "?"
