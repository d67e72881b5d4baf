"""What is wrong with an argument that does not fit its schema, in the reader's language."""

from typing import Any, Final

import jsonschema
from django.utils.translation import gettext as translate
from django.utils.translation import gettext_noop as _

LONGEST: Final = 200
# By the keyword of the schema that is not kept; the checker's own words for every other.
_WORDS: Final = {
    "type": _("%(value)s is not of type %(wanted)s"),
    "enum": _("%(value)s is not one of %(wanted)s"),
    "required": _("it is missing"),
    "additionalProperties": _("there is no such field"),
}


def problem(wrong: jsonschema.ValidationError) -> str:
    words = _WORDS.get(str(wrong.validator))
    if words is None:
        return wrong.message[:LONGEST]
    return translate(words) % {"value": repr(wrong.instance)[:LONGEST], "wanted": _listed(wrong.validator_value)}


def _listed(wanted: Any) -> str:
    each = wanted if isinstance(wanted, list) else [wanted]
    return ", ".join("null" if one is None else str(one) for one in each)[:LONGEST]
