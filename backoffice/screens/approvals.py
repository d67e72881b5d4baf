"""What waits for a second person: large refunds, returns that come to less, compensation, exceptions to the rules."""

from collections.abc import Callable
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from backoffice.screens import approval_rows, keyset
from backoffice.screens.forms import form_screen
from backoffice.screens.gate import APPROVALS, staff_screen
from orders.actors import Actor, staff_actor
from orders.http import path_of_site
from orders.money import format_money
from refunds import approvals
from refunds.access import find
from refunds.models import Approval

PER_PAGE: Final = 20


@never_cache
@require_safe
@staff_screen(APPROVALS)
def waiting(request: HttpRequest) -> HttpResponse:
    """What waits, the oldest first; `?all=1`: what was decided."""
    if request.GET.get("all"):
        rows, kept = approval_rows.decided(), {"all": "1"}
        sheet = keyset.sheet_of(rows, request.GET, per_page=PER_PAGE, moment="decided_at", kept=kept)
    else:
        sheet = keyset.sheet_of(approval_rows.waiting(), request.GET, per_page=PER_PAGE, oldest_first=True)
    if not sheet.rows and {"after", "before"} & set(request.GET):
        return redirect(f"{request.path}?{sheet.first}")  # the last of a page was decided
    context = {
        "here": "approvals",
        "decided": not sheet.oldest_first,
        "sheet": sheet,
        "rows": approval_rows.rows_of(sheet.rows, request.user),
    }
    return render(request, "staff/approvals.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(APPROVALS)
def approve(request: HttpRequest, approval_id: str) -> HttpResponse:
    """A yes, with a note if one likes; asked for with everything that it is about before one's eyes."""
    said = _("Approved: %(amount)s. It is carried out now.")
    return _decide(request, approval_id, approvals.approve, said, is_yes=True)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(APPROVALS)
def reject(request: HttpRequest, approval_id: str) -> HttpResponse:
    """A no, with its reason."""
    said = _("Rejected: %(amount)s is not paid.")
    return _decide(request, approval_id, approvals.reject, said, is_yes=False)


def _decide(
    request: HttpRequest, approval_id: str, decide: Callable[..., Any], said: str, *, is_yes: bool
) -> HttpResponse:
    actor: Actor = staff_actor(request.user)
    asked = _found(approval_id)

    def work(form: QueryDict) -> str:
        decide(approval_id=asked.pk, actor=actor, reason=form.get("reason", ""))
        return said % {"amount": format_money(asked.amount, asked.currency)}

    def context(typed: QueryDict) -> dict[str, Any]:
        # Read anew: a press that came too late has ended it.
        (row,) = approval_rows.rows_of([_found(approval_id)], request.user)
        return {"here": "approvals", "row": row, "is_yes": is_yes, "is_open": row.is_waiting and not row.own}

    back = path_of_site(request.POST.get("next") or request.GET.get("next", ""), reverse("staff-approvals"))
    return form_screen(request, template="staff/decide.html", back=back, context=context, work=work)


def _found(approval_id: str) -> Approval:
    row = find(approval_rows.everything(), approval_id)
    if row is None:
        raise Http404
    return row
