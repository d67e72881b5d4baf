"""Goods that are sent in the place of others: what the warehouse has to send, and how it says that it has."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from backoffice.screens import decided, keyset, replacement_rows
from backoffice.screens.acting import asked_next
from backoffice.screens.forms import form_screen
from backoffice.screens.gate import ORDERS, SHIPMENTS, staff_screen
from orders.actors import staff_actor
from refunds import replacements
from refunds.access import find
from refunds.models import Replacement
from refunds.states import ReplacementState

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


def _asked(request: HttpRequest, row: Replacement, work: Callable[[QueryDict], str], template: str) -> HttpResponse:
    def context(_typed: QueryDict) -> dict[str, Any]:
        # Read anew: somebody may have sent it meanwhile.
        item = replacement_rows.everything().get(pk=row.pk)
        over = partial(decided.of_row, "replacement", item.pk)
        is_open = item.state == ReplacementState.RESERVED
        return {"here": "returns", "item": item, **decided.shown(is_open=is_open, decided=over)}

    back = asked_next(request, reverse("staff-replacements"))
    return form_screen(request, template=template, back=back, context=context, work=work)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(SHIPMENTS)
def send(request: HttpRequest, replacement_id: str) -> HttpResponse:
    """Its parcel is made, with the number by which the customer can follow it."""
    row = _found(replacement_id)

    def work(typed: QueryDict) -> str:
        sent = replacements.send(
            replacement_id=row.pk,
            actor=staff_actor(request.user),
            carrier=typed.get("carrier", "").strip(),
            tracking_number=typed.get("tracking_number", "").strip(),
            note=typed.get("note", ""),
        )
        return _("Replacement %(number)s is on its way.") % {"number": sent.pk}

    return _asked(request, row, work, "staff/replacement_send.html")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(SHIPMENTS)
def release(request: HttpRequest, replacement_id: str) -> HttpResponse:
    """It is not sent after all; the goods are the shop's again, and the customer's units are free for another way."""
    row = _found(replacement_id)

    def work(typed: QueryDict) -> str:
        note = typed.get("note", "")
        replacements.release(replacement_id=row.pk, actor=staff_actor(request.user), note=note)
        return _("Replacement %(number)s is not sent; the goods are back in stock.") % {"number": row.pk}

    return _asked(request, row, work, "staff/replacement_release.html")


def _found(replacement_id: str) -> Replacement:
    row = find(Replacement.objects.all(), replacement_id)
    if row is None:
        raise Http404
    return row
