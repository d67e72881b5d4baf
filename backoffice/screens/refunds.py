"""Refunds that need a person: one that the provider refused, and those that wait for a second pair of eyes."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from backoffice.screens.acting import act
from backoffice.screens.gate import APPROVALS, RETRY, staff_screen
from orders.actors import staff_actor
from orders.money import format_money
from refunds import approvals, selectors
from refunds.access import refund_for
from refunds.models import Refund
from refunds.present import quote_as_dict
from refunds.retry import retry

PER_PAGE = 20


@require_POST
@staff_screen(RETRY)
def send_again(request: HttpRequest, refund_id: str) -> HttpResponse:
    refund = refund_for(request.user, refund_id)

    def work() -> str:
        retry(refund_id=refund.pk, actor=staff_actor(request.user))
        return _("%(refund)s is being sent once more.") % {"refund": refund.pk}

    return act(request, work, back=reverse("staff-order", args=[refund.order.number]))


@never_cache
@require_safe
@staff_screen(APPROVALS)
def waiting(request: HttpRequest) -> HttpResponse:
    refunds = selectors.waiting_for_approval().select_related("order__customer", "confirmed_by", "quote__asked_by")
    page = Paginator(refunds, PER_PAGE).get_page(request.GET.get("page"))
    quotes = {quote.pk: quote for quote in selectors.quotes().filter(refund__in=[refund.pk for refund in page])}
    rows = [
        {
            "refund": refund,
            "quote": quote_as_dict(quotes[refund.quote_id]),
            "own": request.user in (refund.confirmed_by, refund.quote.asked_by),
        }
        for refund in page
    ]
    return render(request, "staff/approvals.html", {"here": "approvals", "page": page, "rows": rows})


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


def _amount(refund: Refund) -> str:
    return format_money(refund.amount, refund.currency)
