"""What staff must see although nobody asked: money that is overdue, and books that differ."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from backoffice.screens import decided, keyset
from backoffice.screens.acting import asked_next
from backoffice.screens.forms import form_screen
from backoffice.screens.gate import BOOKS, RETRY, staff_screen
from orders.actors import staff_actor
from refunds import alerts
from refunds.fact_words import difference_in_words, facts_in_words
from refunds.models import BooksCompared, StaffAlert

PER_PAGE = 30


def to_see_to() -> QuerySet[StaffAlert]:
    """What nobody has settled yet, the oldest first."""
    rows = StaffAlert.objects.filter(settled_at=None).select_related("order__customer", "refund", "attempt")
    return rows.order_by("raised_at", "pk")


@dataclass(frozen=True, slots=True)
class AlertRow:
    """`facts`: what is known of it, as pairs of words and values."""

    alert: StaffAlert
    facts: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class BooksRow:
    """One comparison, each of its differences as a sentence."""

    books: BooksCompared
    differences: list[str]


def rows_of(alerts_: Iterable[StaffAlert]) -> list[AlertRow]:
    return [AlertRow(alert, facts_in_words(alert.facts)) for alert in alerts_]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(RETRY)
def settle(request: HttpRequest, alert_id: int) -> HttpResponse:
    """What came of it; asked for with its facts before one's eyes."""
    row = _alert(alert_id)

    def work(typed: QueryDict) -> str:
        alerts.settle(alert_id=row.pk, actor=staff_actor(request.user), note=typed.get("note", ""))
        return _("Settled: %(alert)s.") % {"alert": row.get_kind_display()}

    def context(_typed: QueryDict) -> dict[str, Any]:
        # Read anew: somebody may have settled it meanwhile.
        now = _alert(alert_id)
        over = partial(decided.of_row, "alert", now.pk)
        return {
            "here": "refunds",
            "row": rows_of([now])[0],
            **decided.shown(is_open=now.settled_at is None, decided=over),
        }

    back = asked_next(request, reverse("staff-refunds"))
    return form_screen(request, template="staff/alert_settle.html", back=back, context=context, work=work)


def _alert(alert_id: int) -> StaffAlert:
    return get_object_or_404(StaffAlert.objects.select_related("order__customer", "refund", "attempt"), pk=alert_id)


@never_cache
@require_safe
@staff_screen(BOOKS)
def books(request: HttpRequest) -> HttpResponse:
    """The comparisons of our books with the providers', the newest first."""
    sheet = keyset.sheet_of(BooksCompared.objects.all(), request.GET, per_page=PER_PAGE, moment="until")
    rows = [BooksRow(row, [difference_in_words(each) for each in row.differences]) for row in sheet.rows]
    return render(request, "staff/books.html", {"here": "refunds", "tab": "books", "sheet": sheet, "rows": rows})
