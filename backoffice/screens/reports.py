"""Reports: what was given back and why, who answered customers and how soon, what waits, and what it costs."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from backoffice import exporting
from backoffice.screens import report_period
from backoffice.screens.gate import REPORTS, staff_screen
from backoffice.screens.report_tables import Report, table_of
from orders.actors import staff_actor


@never_cache
@require_safe
@staff_screen(REPORTS)
def reports(request: HttpRequest) -> HttpResponse:
    asked = report_period.read(request.GET)
    report = Report(asked)
    context = {
        "here": "reports",
        "asked": asked,
        "periods": [
            {"days": days, "query": report_period.Asked(asked.period, days, asked.currency).address()}
            for days in report_period.USUAL
        ],
        "currencies": [
            {"code": code, "query": asked.address(currency=code), "is_shown": code == report.currency}
            for code in report.currencies
        ],
        "currency": report.currency,
        "query": asked.address(currency=report.currency),
        "headlines": report.headlines(),
        "tables": report.tables(),
        "before": report.before,
        "export": {"from": asked.period.first.isoformat(), "to": asked.period.last.isoformat()},
    }
    return render(request, "staff/reports.html", context)


@never_cache
@require_safe
@staff_screen(REPORTS)
def table_file(request: HttpRequest, key: str) -> HttpResponse:
    """One table of the report as a file."""
    asked = report_period.read(request.GET)
    table = table_of(Report(asked), key)
    if table is None:
        raise Http404(_("There is no such report."))
    days = f"{asked.period.first:%Y%m%d}-{asked.period.last:%Y%m%d}"
    return exporting.at_once(
        rows=[table.file_columns, *(row.file for row in table.rows)],
        name=f"{table.key}-{days}",
        kind=f"report:{table.key}",
        filters={"from": asked.period.first.isoformat(), "to": asked.period.last.isoformat()},
        actor=staff_actor(request.user),
    )
