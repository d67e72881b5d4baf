"""Lists as files: asked for, watched while they are written, cancelled, taken away."""

from collections.abc import AsyncIterator
from typing import cast

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from backoffice import export_kinds, exporting
from backoffice.export_titles import title_of
from backoffice.export_writing import MOST_ROWS
from backoffice.models import Export, ExportPart, ExportState
from backoffice.screens.gate import EXPORTS, staff_screen
from orders.access import is_staff_reader
from orders.actors import staff_actor
from orders.errors import Refusal

LISTED = 50


@never_cache
@require_safe
@staff_screen(EXPORTS)
def export_list(request: HttpRequest) -> HttpResponse:
    """One's own of the last day."""
    rows = list(Export.objects.filter(asked_by=request.user.pk, expires_at__gt=timezone.now())[:LISTED])
    return render(request, "staff/exports.html", {"here": "", "exports": rows, "titles": _titles(rows)})


@require_POST
@staff_screen(EXPORTS)
def make(request: HttpRequest) -> HttpResponse:
    """A short list comes back as a file at once, a long one is written by a worker."""
    kind = export_kinds.open_to(request.POST.get("kind", ""), request.user)
    if kind is None:
        raise Http404
    actor, filters = staff_actor(request.user), kind.filters_of(request.POST)
    expected = kind.count(filters, MOST_ROWS + 1)
    if expected <= exporting.AT_ONCE:
        return exporting.short_list(kind, filters, actor)
    try:
        export = exporting.ask(kind=kind, filters=filters, expected=expected, actor=actor)
    except Refusal as refusal:
        told = refusal.told_to(staff=is_staff_reader(request))
        messages.error(request, f"{told.message} {told.hint}")
        return redirect("staff-exports")
    return redirect("staff-export", export.pk)


@never_cache
@require_safe
@staff_screen(EXPORTS)
def export_page(request: HttpRequest, export_id: int) -> HttpResponse:
    """How far it is; the page asks again for as long as it is not finished."""
    export = _own(request, export_id)
    return render(request, "staff/export.html", {"here": "", "export": export, "title": _title(export)})


@require_POST
@staff_screen(EXPORTS)
def cancel(request: HttpRequest, export_id: int) -> HttpResponse:
    export = _own(request, export_id)
    exporting.cancel(export=export)
    return redirect("staff-export", export.pk)


@never_cache
@require_safe
@staff_screen(EXPORTS)
def download(request: HttpRequest, export_id: int) -> HttpResponse:
    """The file, for whoever asked for it and may still have it."""
    export = _own(request, export_id)
    if export.state != ExportState.DONE:
        return redirect("staff-export", export.pk)
    if not export_kinds.KINDS[export.kind].is_open_to(request.user):
        raise PermissionDenied
    response = StreamingHttpResponse(_parts(export.pk), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{exporting.file_name(export.kind)}.csv"'
    return cast(HttpResponse, response)  # what the gate hands on is looked at by nobody


async def _parts(export_id: int) -> AsyncIterator[bytes]:
    """One part after the other: the file is never in memory as a whole, and no connection is kept between two."""
    number = 0
    while (text := await sync_to_async(_part)(export_id, number)) is not None:
        yield text.encode()
        number += 1


def _part(export_id: int, number: int) -> str | None:
    try:
        return ExportPart.objects.filter(export=export_id, number=number).values_list("text", flat=True).first()
    finally:
        if not connection.in_atomic_block:  # a slow reader must not keep one of the pool's
            connection.close()


def _own(request: HttpRequest, export_id: int) -> Export:
    """Somebody else's, and one whose day is over, do not exist."""
    rows = Export.objects.filter(asked_by=request.user.pk, expires_at__gt=timezone.now())
    return get_object_or_404(rows, pk=export_id)


def _title(export: Export) -> str:
    return title_of(export.kind)


def _titles(exports: list[Export]) -> dict[str, str]:
    return {export.kind: _title(export) for export in exports}
