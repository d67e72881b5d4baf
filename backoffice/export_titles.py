"""What lists that are taken away as files are called."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

TITLES: Final[Mapping[str, str | Promise]] = {
    "orders": gettext_lazy("Orders"),
    "refunds": gettext_lazy("Refunds"),
    "returns": gettext_lazy("Returns"),
    "returned_goods": gettext_lazy("Returned goods"),
    "audit": gettext_lazy("History"),
}


def title_of(name: str) -> str:
    """A list by its name; a table of the reports and a list of the records by what stands behind the colon."""
    if name in TITLES:
        return str(TITLES[name])
    place, _colon, what = name.partition(":")
    named = {"report": _("report %(name)s"), "records": _("records %(name)s")}
    return named[place] % {"name": what} if place in named else name
