"""Refunds that need a person: those that the provider refused, and those that wait for a second pair of eyes."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from backoffice.screens import refund_rows
from backoffice.screens.acting import act, next_path
from backoffice.screens.gate import APPROVALS, REFUNDS, RETRY, staff_screen
from orders.actors import staff_actor
from orders.money import format_money
from refunds import approvals, selectors
from refunds.access import refund_for
from refunds.attention import settle
from refunds.models import Refund
from refunds.present import quote_as_dict
from refunds.retry import retry

PER_PAGE = 20
FIRST_TO_LOOK_AT = 5


@require_POST
@staff_screen(RETRY)
def send_again(request: HttpRequest, refund_id: str) -> HttpResponse:
    refund = refund_for(request.user, refund_id)

    def work() -> str:
        retry(
            refund_id=refund.pk,
            actor=staff_actor(request.user),
            payment_id=request.POST.get("payment_id") or None,
            note=request.POST.get("note", ""),
        )
        return _("%(refund)s is being sent once more.") % {"refund": refund.pk}

    return act(request, work, back=next_path(request, reverse("staff-order", args=[refund.order.number])))


@require_POST
@staff_screen(RETRY)
def settled(request: HttpRequest, refund_id: str) -> HttpResponse:
    """Somebody has cleared up with the provider what no machine may."""
    refund = refund_for(request.user, refund_id)

    def work() -> str:
        settle(refund_id=refund.pk, actor=staff_actor(request.user), note=request.POST.get("note", ""))
        return _("%(refund)s counts as paid, once and as asked.") % {"refund": refund.pk}

    return act(request, work, back=next_path(request, reverse("staff-order", args=[refund.order.number])))


@never_cache
@require_safe
@staff_screen(REFUNDS)
def to_look_at(request: HttpRequest) -> HttpResponse:
    """Refunds that no machine brings any further, the oldest first."""
    page = Paginator(refund_rows.needing_a_look(), PER_PAGE).get_page(request.GET.get("page"))
    context = {"here": "refunds", "page": page, "refund_rows": refund_rows.rows_of(page)}
    return render(request, "staff/refunds.html", context)


@never_cache
@require_safe
@staff_screen(APPROVALS)
def waiting(request: HttpRequest) -> HttpResponse:
    """Refunds for a second person, the oldest first; above them the oldest of those that need a look."""
    refunds = selectors.waiting_for_approval().select_related(
        "order__customer", "confirmed_by", "quote__asked_by", "return_request__quote"
    )
    page = Paginator(refunds, PER_PAGE).get_page(request.GET.get("page"))
    quotes = {quote.pk: quote for quote in selectors.quotes().filter(refund__in=[refund.pk for refund in page])}
    rows = [
        {
            "refund": refund,
            "quote": quote_as_dict(quotes[refund.quote_id]),
            "own": request.user in (refund.confirmed_by, refund.quote.asked_by),
            "promised": promised_by_return(refund),
        }
        for refund in page
    ]
    context = {
        "here": "approvals",
        "page": page,
        "rows": rows,
        "refund_rows": refund_rows.rows_of(refund_rows.needing_a_look()[:FIRST_TO_LOOK_AT]),
    }
    return render(request, "staff/approvals.html", context)


@require_POST
@staff_screen(APPROVALS)
def approve(request: HttpRequest, refund_id: str) -> HttpResponse:
    refund = refund_for(request.user, refund_id)

    def work() -> str:
        reason = request.POST.get("reason", "")
        approvals.approve(refund_id=refund.pk, actor=staff_actor(request.user), reason=reason)
        return _("Approved: %(amount)s is being sent.") % {"amount": _amount(refund)}

    return act(request, work, back=reverse("staff-approvals"))


@require_POST
@staff_screen(APPROVALS)
def reject(request: HttpRequest, refund_id: str) -> HttpResponse:
    refund = refund_for(request.user, refund_id)

    def work() -> str:
        reason = request.POST.get("reason", "")
        approvals.reject(refund_id=refund.pk, actor=staff_actor(request.user), reason=reason)
        return _("Rejected: %(amount)s is not paid, and the goods count as kept.") % {"amount": _amount(refund)}

    return act(request, work, back=reverse("staff-approvals"))


def promised_by_return(refund: Refund) -> str:
    """What the customer was promised for the goods that came back, if that is not what they come to; else empty."""
    item = getattr(refund, "return_request", None)
    if item is None or item.quote.amount == refund.amount:
        return ""
    return format_money(item.quote.amount, item.quote.currency)


def _amount(refund: Refund) -> str:
    return format_money(refund.amount, refund.currency)
