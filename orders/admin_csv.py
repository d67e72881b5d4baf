"""A list of the admin as a file: the rows that are ticked, or all that fit, with the columns that the list shows."""

from collections.abc import Iterator, Sequence
from html import unescape
from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin, messages
from django.contrib.admin.utils import display_for_field, display_for_value, label_for_field, lookup_field
from django.db.models import ForeignKey, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import strip_tags
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orders import audit
from orders.actors import staff_actor
from orders.csv_text import MARK, Cell, text_of

if TYPE_CHECKING:
    from orders.admin_pages import ReadOnlyAdmin

# More would keep the page waiting: the desk's own lists are written in the background.
MOST_ROWS: Final = 5000


@admin.action(description=_("Take the chosen rows away as a file (CSV)"), permissions=["view"])
def export_csv(page: "ReadOnlyAdmin", request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
    records = list(rows[: MOST_ROWS + 1])
    if len(records) > MOST_ROWS:
        said = gettext("These are more than %(count)s rows. Narrow the list down with its filters or its days.")
        page.message_user(request, said % {"count": f"{MOST_ROWS:,}"}, messages.ERROR)
        return None
    audit.record(
        action="export.made",
        actor=staff_actor(request.user),
        subject_type="export",
        subject_id="",
        chosen={
            "kind": f"records:{page.model._meta.verbose_name_raw}",
            "filters": request.META.get("QUERY_STRING", ""),
        },
        outcome={"rows": len(records)},
    )
    response = HttpResponse(MARK + text_of(_lines(page, request, records)), content_type="text/csv; charset=utf-8")
    name = f"{page.model._meta.model_name}-{timezone.localtime():%Y%m%d-%H%M}"
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def _lines(page: "ReadOnlyAdmin", request: HttpRequest, records: Sequence[Model]) -> Iterator[list[Cell]]:
    columns = list(page.get_list_display(request))
    yield [str(label_for_field(column, page.model, page)) for column in columns]
    for record in records:
        yield [_cell(page, record, column) for column in columns]


def _cell(page: "ReadOnlyAdmin", record: Model, column: Any) -> str:
    """What the list shows, without its links. Only what the desk itself has marked up is: people write `<` as well."""
    field, _attribute, value = lookup_field(page.in_files.get(column, column), record, page)
    empty = ""
    if field is None:
        shown = display_for_value(value, empty)
    elif isinstance(field, ForeignKey):
        shown = str(getattr(record, field.name) or empty)
    else:
        shown = display_for_field(value, field, empty)
    if isinstance(shown, SafeString):
        shown = unescape(strip_tags(shown.replace("<br>", " ")))
    return " ".join(str(shown).split())
