"""What waits for a second person: large refunds, returns that come to less, compensation, exceptions to the rules."""

from collections.abc import Callable
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from backoffice.screens import approval_rows, refund_rows
from backoffice.screens.acting import act, next_path
from backoffice.screens.gate import APPROVALS, staff_screen
from orders.actors import Actor, staff_actor
from orders.money import format_money
from refunds import approvals
from refunds.access import find
from refunds.models import Approval

PER_PAGE = 20
FIRST_TO_LOOK_AT = 5


@never_cache
@require_safe
@staff_screen(APPROVALS)
def waiting(request: HttpRequest) -> HttpResponse:
    """What waits, the oldest first, and above it the oldest refunds that need a look; `?all=1`: what was decided."""
    decided = bool(request.GET.get("all"))
    approvals_ = approval_rows.decided() if decided else approval_rows.waiting()
    page = Paginator(approvals_, PER_PAGE).get_page(request.GET.get("page"))
    to_look_at: Any = [] if decided else refund_rows.needing_a_look()[:FIRST_TO_LOOK_AT]
    context = {
        "here": "approvals",
        "decided": decided,
        "query": "all=1&" if decided else "",
        "page": page,
        "rows": approval_rows.rows_of(page, request.user),
        "refund_rows": refund_rows.rows_of(to_look_at),
    }
    return render(request, "staff/approvals.html", context)


@require_POST
@staff_screen(APPROVALS)
def approve(request: HttpRequest, approval_id: str) -> HttpResponse:
    said = _("Approved: %(amount)s. It is carried out now.")
    return _decide(request, approval_id, approvals.approve, said)


@require_POST
@staff_screen(APPROVALS)
def reject(request: HttpRequest, approval_id: str) -> HttpResponse:
    said = _("Rejected: %(amount)s is not paid.")
    return _decide(request, approval_id, approvals.reject, said)


def _decide(request: HttpRequest, approval_id: str, decide: Callable[..., Any], said: str) -> HttpResponse:
    asked = _found(approval_id)
    actor: Actor = staff_actor(request.user)

    def work() -> str:
        decide(approval_id=asked.pk, actor=actor, reason=request.POST.get("reason", ""))
        return said % {"amount": format_money(asked.amount, asked.currency)}

    return act(request, work, back=next_path(request, reverse("staff-approvals")))


def _found(approval_id: str) -> Approval:
    row = find(Approval.objects.all(), approval_id)
    if row is None:
        raise Http404
    return row
