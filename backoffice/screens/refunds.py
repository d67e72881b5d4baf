"""Refunds that need a person: what the provider refused, what is overdue, and where books differ."""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from backoffice.screens import alerts, decided, keyset, refund_rows
from backoffice.screens.acting import asked_next
from backoffice.screens.forms import form_screen
from backoffice.screens.gate import ELSEWHERE, REFUNDS, RETRY, staff_screen
from backoffice.screens.refund_rows import RefundRow
from orders.actors import Actor, staff_actor
from orders.strict import validated
from refunds import by_hand, selectors
from refunds.access import refund_for
from refunds.attention import admit_failure, settle
from refunds.deciding_bodies import ByHandBody
from refunds.elsewhere_undone import undo
from refunds.models import Refund
from refunds.retry import retry
from refunds.states import RefundKind, RefundState

PER_PAGE = 20
MOST_ALERTS = 20
SENDABLE: Final = attrgetter("can_be_sent_again")


def _asked(
    request: HttpRequest,
    refund_id: str,
    do: Callable[[Refund, Actor, QueryDict], object],
    said: str,
    template: str,
    *,
    is_open: Callable[[RefundRow], bool],
) -> HttpResponse:
    """`do` it with the refund as the member of staff, from a form that shows it: a dialog, or a page of its own.

    `said` tells of it and names the refund. `is_open`: whether it can be done still.
    """
    refund = refund_for(request.user, refund_id)

    def work(typed: QueryDict) -> str:
        do(refund, staff_actor(request.user), typed)
        return said % {"refund": refund.pk}

    def context(_typed: QueryDict) -> dict[str, Any]:
        # Read anew: what was refused may have moved meanwhile.
        rows = refund_rows.with_attempts(selectors.refunds_of(refund.order)).filter(pk=refund.pk)
        (row,) = refund_rows.rows_of(rows)
        over = partial(decided.of_refund, refund)
        return {
            "here": "refunds",
            "row": row,
            "order": refund.order,
            **decided.shown(is_open=is_open(row), decided=over),
        }

    back = asked_next(request, reverse("staff-order", args=[refund.order.number]))
    return form_screen(request, template=template, back=back, context=context, work=work)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(RETRY)
def send_again(request: HttpRequest, refund_id: str) -> HttpResponse:
    def do(refund: Refund, actor: Actor, typed: QueryDict) -> None:
        payment_id, note = typed.get("payment_id") or None, typed.get("note", "")
        retry(refund_id=refund.pk, actor=actor, payment_id=payment_id, note=note)

    said = _("%(refund)s is being sent once more.")
    return _asked(request, refund_id, do, said, "staff/refund_retry.html", is_open=SENDABLE)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(RETRY)
def settled(request: HttpRequest, refund_id: str) -> HttpResponse:
    """Somebody has cleared up with the provider what no machine may."""

    def do(refund: Refund, actor: Actor, typed: QueryDict) -> None:
        settle(refund_id=refund.pk, actor=actor, note=typed.get("note", ""), stands=typed.get("stands") or None)

    said = _("%(refund)s counts as paid, once and as asked.")
    return _asked(request, refund_id, do, said, "staff/refund_settled.html", is_open=attrgetter("has_to_be_settled"))


def _can_be_undone(row: RefundRow) -> bool:
    return row.refund.kind == RefundKind.ELSEWHERE and row.refund.state == RefundState.SUCCEEDED


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(ELSEWHERE)
def undone(request: HttpRequest, refund_id: str) -> HttpResponse:
    """A refund made elsewhere did not take place."""

    def do(refund: Refund, actor: Actor, typed: QueryDict) -> None:
        undo(refund_id=refund.pk, actor=actor, note=typed.get("note", ""))

    said = _("%(refund)s is taken back: its goods and its money count as they did before.")
    return _asked(request, refund_id, do, said, "staff/refund_undo.html", is_open=_can_be_undone)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(RETRY)
def failed_after_all(request: HttpRequest, refund_id: str) -> HttpResponse:
    """What the provider had paid and then reported as failed has failed: it can be sent once more."""

    def do(refund: Refund, actor: Actor, typed: QueryDict) -> None:
        admit_failure(refund_id=refund.pk, actor=actor, note=typed.get("note", ""))

    said = _("%(refund)s has failed after all. Send it once more, or choose another payment.")
    return _asked(request, refund_id, do, said, "staff/refund_failed.html", is_open=attrgetter("may_have_failed"))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(ELSEWHERE)
def paid_by_hand(request: HttpRequest, refund_id: str) -> HttpResponse:
    """Somebody has given back in cash or by transfer what no machine could."""

    def do(refund: Refund, actor: Actor, typed: QueryDict) -> None:
        told = {name: typed.get(name, "").strip() for name in ("external_ref", "note")}
        by_hand.paid_by_hand(refund_id=refund.pk, actor=actor, **validated(ByHandBody, told))

    said = _("What was paid by hand of %(refund)s counts as paid.")
    return _asked(request, refund_id, do, said, "staff/refund_by_hand.html", is_open=SENDABLE)


@never_cache
@require_safe
@staff_screen(REFUNDS)
def to_look_at(request: HttpRequest) -> HttpResponse:
    """What nobody has settled yet, and refunds that no machine brings any further, each the oldest first.

    The oldest alerts stand above the first page of refunds; `?alerts=1`: all of them, page by page.
    """
    if request.GET.get("alerts"):
        return _alerts(request)
    sheet = keyset.sheet_of(refund_rows.needing_a_look(), request.GET, per_page=PER_PAGE, oldest_first=True)
    shown = [] if sheet.earlier else list(alerts.to_see_to()[: MOST_ALERTS + 1])
    context = {
        "here": "refunds",
        "tab": "look",
        "sheet": sheet,
        "refund_rows": refund_rows.rows_of(sheet.rows),
        "alerts": alerts.rows_of(shown[:MOST_ALERTS]),
        "has_more_alerts": len(shown) > MOST_ALERTS,
    }
    return render(request, "staff/refunds.html", context)


def _alerts(request: HttpRequest) -> HttpResponse:
    sheet = keyset.sheet_of(
        alerts.to_see_to(),
        request.GET,
        per_page=MOST_ALERTS,
        moment="raised_at",
        oldest_first=True,
        kept={"alerts": "1"},
    )
    if not sheet.rows:
        return redirect("staff-refunds")
    context = {"here": "refunds", "tab": "look", "alert_sheet": sheet, "alerts": alerts.rows_of(sheet.rows)}
    return render(request, "staff/refunds.html", context)
