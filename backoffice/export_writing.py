"""Long lists as files: a worker writes them batch by batch, tells how far it is, and stops when it is told to.

Each batch is kept together with the place it reaches, so that a list whose worker was killed is gone on with behind
what is written: no row twice, none left out.
"""

from datetime import timedelta
from typing import Any, Final

import structlog
from django.db import transaction
from django.utils import timezone, translation

from agent import stopping
from backoffice import export_kinds
from backoffice.models import UNFINISHED, Export, ExportPart, ExportState
from orders.csv_text import MARK, text_of

log = structlog.get_logger(__name__)
BATCH: Final = 1000
MOST_ROWS: Final = 500_000
KEPT_FOR: Final = timedelta(days=1)
# A worker writes a batch in far less: what has not been touched for so long has lost its worker.
LOST_AFTER: Final = timedelta(minutes=2)


def write_waiting() -> None:
    """Write what waits, one list after the other, the oldest first; and what another worker has left."""
    while not stopping.requested.is_set() and (export := _claim()) is not None:
        try:
            _write(export)
        except Exception:
            log.exception("export.failed", export_id=export.pk)
            _finish(export, ExportState.FAILED, error="broke")


def _claim() -> Export | None:
    """The oldest that waits, or whose worker is gone, for this worker alone."""
    lost = timezone.now() - LOST_AFTER
    with transaction.atomic():
        rows = Export.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
        waiting = rows.filter(state__in=UNFINISHED).exclude(state=ExportState.RUNNING, touched_at__gte=lost)
        export = waiting.select_related("asked_by").order_by("pk").first()
        if export is not None:
            export.state, export.touched_at = ExportState.RUNNING, timezone.now()
            export.save(update_fields=["state", "touched_at"])
    return export


def _write(export: Export) -> None:
    """Batch by batch behind what is written already, in the language of whoever asked."""
    kind = export_kinds.KINDS[export.kind]
    if not kind.is_open_to(export.asked_by):
        return _finish(export, ExportState.FAILED, error="not_allowed")
    with translation.override(export.language):
        while True:
            records, cursor = kind.batch(export.filters, export.cursor, BATCH)
            head = [kind.columns()] if export.cursor is None else []
            text = text_of([*head, *map(kind.cells, records)])
            if not _keep(export, text if export.cursor else MARK + text, len(records), cursor):
                return None
            if len(records) < BATCH or export.rows_done >= MOST_ROWS:
                return _finish(export, ExportState.DONE)
            if stopping.requested.is_set():
                return _leave(export)


def _keep(export: Export, text: str, rows: int, cursor: Any) -> bool:
    """Keep a batch and how far it reaches, both or neither; False where it was cancelled, or is another worker's."""
    before = {"state": ExportState.RUNNING, "rows_done": export.rows_done, "cursor": export.cursor}
    if export.cursor is None:
        before = {"state": ExportState.RUNNING, "rows_done": 0, "cursor__isnull": True}
    done = export.rows_done + rows
    with transaction.atomic():
        kept = Export.objects.filter(pk=export.pk, **before).update(
            rows_done=done, cursor=cursor or export.cursor or [], touched_at=timezone.now()
        )
        if kept:
            ExportPart.objects.create(export=export, number=ExportPart.objects.filter(export=export).count(), text=text)
    export.rows_done, export.cursor = done, cursor or export.cursor or []
    return bool(kept)


def _finish(export: Export, state: ExportState, *, error: str = "") -> None:
    Export.objects.filter(pk=export.pk, state=ExportState.RUNNING).update(
        state=state, error=error, finished_at=timezone.now(), expires_at=timezone.now() + KEPT_FOR
    )


def _leave(export: Export) -> None:
    """This worker goes down: the next one goes on behind what is written."""
    Export.objects.filter(pk=export.pk, state=ExportState.RUNNING).update(state=ExportState.QUEUED)


def sweep() -> None:
    """Let go of files that were kept long enough."""
    Export.objects.filter(expires_at__lt=timezone.now()).exclude(state__in=UNFINISHED).delete()
