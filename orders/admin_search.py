"""The search of records: each field is asked by itself, by its own index.

One question over several tables at once would read all their rows.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from django.contrib.admin.utils import get_fields_from_path, lookup_spawns_duplicates
from django.db.models import AutoField, Model, Q, QuerySet
from django.utils.text import smart_split, unescape_string_literal
from django.utils.translation import gettext as _

from orders import search
from orders.prose import listed, sentences

# Found by one field, these are named in the question for the list; more are looked for again, in each of its questions.
MANY_FOUND: Final = 2000
LONGEST_NUMBER: Final = 19
PHONE: Final = re.compile(r"\+?\d[\d -]{6,}")


def narrowed(rows: QuerySet[Any], fields: Sequence[str], search_term: str) -> QuerySet[Any]:
    """Of `rows` those that have every word in one of the fields.

    `name__exact` is the whole of a number or name, `=name` a number that is counted, `name` any part of a text.
    """
    for word in _words(search_term):
        rows = rows.filter(_has(rows.model, fields, word))
    return rows


def explained(model: type[Model], fields: Sequence[str]) -> str:
    """What may be typed, in words: what only as a whole, and what by a part of it."""
    whole, parts = ([_label(model, field) for field in fields if _is_whole(field) is way] for way in (True, False))
    told = [(_("As a whole: %(names)s."), whole), (_("Also a part: %(names)s."), parts)]
    return sentences(*(words % {"names": listed(dict.fromkeys(names))} for words, names in told if names))


def _is_whole(field: str) -> bool:
    return field.startswith("=") or field.endswith("__exact")


def _label(model: type[Model], field: str) -> str:
    """A record that only has a counted number is named itself."""
    found = get_fields_from_path(model, field.removeprefix("=").removesuffix("__exact"))[-1]
    return str(found.model._meta.verbose_name if isinstance(found, AutoField) else found.verbose_name)


def _words(search_term: str) -> list[str]:
    """What stands in quotation marks is one word, and so is a phone number; `#5531` is the number 5531."""
    typed = search_term.replace("\x00", "").strip()
    if PHONE.fullmatch(typed):
        return [typed]
    bits = [bit.lstrip("#") or bit for bit in smart_split(typed)]
    return [unescape_string_literal(bit) if bit[0] in "\"'" and bit[0] == bit[-1] != bit else bit for bit in bits]


def _has(model: type[Model], fields: Sequence[str], word: str) -> Q:
    rows = model._default_manager.order_by()
    keys: set[Any] = set()
    many = Q()
    for field, fits in _questions(model, fields, word):
        found = list(rows.filter(fits).values_list("pk", flat=True)[: MANY_FOUND + 1])
        if len(found) <= MANY_FOUND:
            keys.update(found)
        elif lookup_spawns_duplicates(model._meta, field):
            many |= Q(pk__in=rows.filter(fits).values("pk"))
        else:
            many |= fits
    if keys:
        return many | Q(search.Among("pk", list(keys)))
    return many or Q(pk__in=[])


def _questions(model: type[Model], fields: Sequence[str], word: str) -> Iterator[tuple[str, Q]]:
    for field in fields:
        if field.startswith("="):
            if word.isascii() and word.isdigit() and len(word) < LONGEST_NUMBER:
                yield field[1:], Q(**{field[1:]: int(word)})
        elif field.endswith("__exact"):
            yield field, Q(**{field: word})
        elif (fits := _part(model, field, word)) is not None:
            yield field, fits


def _part(model: type[Model], field: str, word: str) -> Q | None:
    """A part of a text: by the index that knows parts of it; what such a one belongs to is looked up first."""
    way, _, name = field.rpartition("__")
    of: type[Model] = get_fields_from_path(model, field)[-1].model
    if not search.knows_parts(of, name):
        return Q(**{f"{field}__icontains": word})
    fits = search.has_part(of, name, word)
    if fits is None or not way:
        return fits
    found = of._default_manager.filter(fits).order_by()
    known = list(found.values_list("pk", flat=True)[: search.MANY_CUSTOMERS + 1])
    if len(known) <= search.MANY_CUSTOMERS:
        return Q(search.Among(f"{way}__pk", known)) if known else None
    return Q(**{f"{way}__in": found.values("pk")})
