"""Lists as files. What is short is written while one waits; what is long by a worker (`export_writing.py`).

Every file that leaves is in the history (`export.made`): who, which list, how narrowed, how many rows.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from backoffice import tasks
from backoffice.export_kinds import Kind
from backoffice.export_writing import KEPT_FOR, MOST_ROWS
from backoffice.models import UNFINISHED, Export, ExportPart, ExportState
from orders import audit
from orders.actors import Actor
from orders.csv_text import MARK, Cell, text_of
from orders.errors import Refusal
from orders.jobs import enqueue_on_commit

# Up to so many rows are sent at once; more are written by a worker.
AT_ONCE: Final = 1000
# How many lists one person can have written at the same time.
AT_THE_SAME_TIME: Final = 3


def at_once(
    *, rows: Iterable[Sequence[Cell]], name: str, kind: str, filters: dict[str, str], actor: Actor
) -> HttpResponse:
    """The rows, the first of which are the names of the columns, as a file to keep; and its line in the history."""
    found = list(rows)
    _record(actor, kind, filters, len(found) - 1, subject_id="")
    return as_file(MARK + text_of(found), name)


def as_file(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def file_name(kind: str) -> str:
    return f"{kind}-{timezone.localtime():%Y%m%d-%H%M}"


def short_list(kind: Kind, filters: dict[str, str], actor: Actor) -> HttpResponse:
    """A list of at most `AT_ONCE` rows as a file."""
    records, _cursor = kind.batch(filters, None, AT_ONCE)
    rows = [kind.columns(), *map(kind.cells, records)]
    return at_once(rows=rows, name=file_name(kind.name), kind=kind.name, filters=filters, actor=actor)


def ask(*, kind: Kind, filters: dict[str, str], expected: int, actor: Actor) -> Export:
    """Have a worker write the list. Raises Refusal `export_too_long`, `exports_under_way`."""
    user = actor.require_staff(kind.permission_of(actor))
    if expected > MOST_ROWS:
        raise Refusal(
            "export_too_long",
            _("This list has more than %(count)s rows.") % {"count": f"{MOST_ROWS:,}"},
            hint=_("Narrow it down, for example by its days, and ask again."),
        )
    with transaction.atomic():
        # Two clicks are one question at a time: the person's own row is the lock.
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if Export.objects.filter(asked_by=user, state__in=UNFINISHED).count() >= AT_THE_SAME_TIME:
            raise Refusal(
                "exports_under_way",
                _("You have %(count)s lists being written already.") % {"count": AT_THE_SAME_TIME},
                hint=_("Wait until one of them is ready, or cancel one."),
            )
        export = Export.objects.create(
            kind=kind.name,
            filters=filters,
            asked_by=user,
            language=translation.get_language() or "",
            rows_expected=expected,
            expires_at=timezone.now() + KEPT_FOR,
        )
        _record(actor, kind.name, filters, expected, subject_id=str(export.pk))
        enqueue_on_commit(tasks.write_exports)
    return export


def cancel(*, export: Export) -> None:
    """Stop writing; what was written goes. Harmless where it is finished already."""
    with transaction.atomic():
        moved = Export.objects.filter(pk=export.pk, state__in=UNFINISHED).update(
            state=ExportState.CANCELLED, finished_at=timezone.now()
        )
        if moved:
            ExportPart.objects.filter(export=export).delete()


def _record(actor: Actor, kind: str, filters: dict[str, str], rows: int, *, subject_id: str) -> None:
    audit.record(
        action="export.made",
        actor=actor,
        subject_type="export",
        subject_id=subject_id,
        chosen={"kind": kind, **filters},
        outcome={"rows": rows},
    )
