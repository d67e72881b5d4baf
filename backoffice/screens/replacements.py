"""Goods that are sent in the place of others: what the warehouse has to send, and how it says that it has."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from backoffice.screens import keyset, replacement_rows
from backoffice.screens.acting import act, next_path
from backoffice.screens.gate import ORDERS, SHIPMENTS, staff_screen
from orders.actors import staff_actor
from refunds import replacements
from refunds.access import find
from refunds.models import Replacement

PER_PAGE = 25


@never_cache
@require_safe
@staff_screen(ORDERS)
def replacement_list(request: HttpRequest) -> HttpResponse:
    """What has to be sent, the oldest first; `?all=1`: everything, the newest first."""
    show_all = bool(request.GET.get("all"))
    rows = replacement_rows.everything() if show_all else replacement_rows.to_send()
    kept = {"all": "1"} if show_all else {}
    sheet = keyset.sheet_of(rows, request.GET, per_page=PER_PAGE, oldest_first=not show_all, kept=kept)
    context = {
        "here": "returns",
        "tab": "sent" if show_all else "to_send",
        "sheet": sheet,
        "replacements": sheet.rows,
        "show_order": True,
    }
    return render(request, "staff/replacements.html", context)


@require_POST
@staff_screen(SHIPMENTS)
def send(request: HttpRequest, replacement_id: str) -> HttpResponse:
    """Its parcel is made, with the number by which the customer can follow it."""
    row = _found(replacement_id)

    def work() -> str:
        sent = replacements.send(
            replacement_id=row.pk,
            actor=staff_actor(request.user),
            carrier=request.POST.get("carrier", "").strip(),
            tracking_number=request.POST.get("tracking_number", "").strip(),
            note=request.POST.get("note", ""),
        )
        return _("Replacement %(number)s is on its way.") % {"number": sent.pk}

    return act(request, work, back=next_path(request, reverse("staff-replacements")))


@require_POST
@staff_screen(SHIPMENTS)
def release(request: HttpRequest, replacement_id: str) -> HttpResponse:
    """It is not sent after all; the goods are the shop's again, and the customer's units are free for another way."""
    row = _found(replacement_id)

    def work() -> str:
        note = request.POST.get("note", "")
        replacements.release(replacement_id=row.pk, actor=staff_actor(request.user), note=note)
        return _("Replacement %(number)s is not sent; the goods are back in stock.") % {"number": row.pk}

    return act(request, work, back=next_path(request, reverse("staff-replacements")))


def _found(replacement_id: str) -> Replacement:
    row = find(Replacement.objects.all(), replacement_id)
    if row is None:
        raise Http404
    return row
