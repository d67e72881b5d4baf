"""Staff's list of orders: search, filters that stand in the address, pages that stay fast however many there are."""

from typing import Any, Final

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agent.models import Conversation
from agent.states import ConversationState
from backoffice.screens import keyset, order_filters, receipt
from backoffice.screens.gate import ORDERS, REFUNDS, may, staff_screen
from backoffice.screens.order_filters import Filters
from orders import search as finding
from orders.models import Order

LONGEST_SEARCH: Final = 100
COUNTED_UP_TO: Final = 1000
# What a public number begins with, what of an order it names, and where the order's page shows it.
NUMBERED: Final = {
    "rf": "refunds",
    "rt": "returns",
    "rp": "replacements",
    "ap": "approvals",
    "rq": "refund_quotes",
    "sh": "shipments",
    "pay": "payments",
}


@never_cache
@require_safe
@staff_screen(ORDERS)
def order_list(request: HttpRequest) -> HttpResponse:
    """`?q=` is searched for; the whole number of one thing leads straight to it, unless `?all=1` asks for the list."""
    search = request.GET.get("q", "").strip()[:LONGEST_SEARCH].replace("\x00", "")
    if search and "all" not in request.GET and (address := direct(search)):
        return redirect(address)
    filters = order_filters.read(request.GET, search=search, with_money=may(request.user, REFUNDS))
    orders = order_filters.narrowed(Order.objects.all(), filters)
    page = keyset.page_of(orders, request.GET, _fetch(search))
    context = {
        "here": "orders",
        "rows": rows_of(page.keys),
        "search": search,
        "filters": filters,
        "states": state_tabs(filters),
        "newer": page.newer and filters.address(before=page.newer, **_kept(request)),
        "older": page.older and filters.address(after=page.older, **_kept(request)),
        "first": filters.address(**_kept(request)),
        "count": count_of(orders, page, filters),
    }
    return render(request, "staff/orders.html", context)


def direct(search: str) -> str | None:
    """The page of the one thing that has this whole number: an order's, a return's, a refund's, a parcel's."""
    prefix = search.partition("_")[0].lower()
    if "_" in search and (relation := NUMBERED.get(prefix)):
        key = search.lower()
        number = Order.objects.filter(**{f"{relation}__pk": key}).values_list("number", flat=True).first()
        if number and prefix == "rt":
            return reverse("staff-return", args=[key])
        return f"{reverse('staff-order', args=[number])}#{key}" if number else None
    number = finding.only_one(search)
    return reverse("staff-order", args=[number]) if number else None


def _fetch(search: str) -> keyset.Fetch:
    if not search:
        return keyset.newest
    return lambda orders, limit, oldest: finding.matching(orders, search, limit=limit, oldest=oldest)


def rows_of(keys: list[int]) -> list[dict[str, Any]]:
    """The orders as rows, newest first, each with whether a conversation about it is open."""
    talks = Conversation.objects.filter(order=OuterRef("pk"), state=ConversationState.OPEN)
    orders: QuerySet[Order] = Order.objects.filter(pk__in=keys).annotate(has_open_talk=Exists(talks))
    shown = orders.select_related("customer").prefetch_related(*receipt.LISTED).order_by("-placed_at", "-pk")
    return receipt.list_rows(shown)


def state_tabs(filters: Filters) -> list[dict[str, Any]]:
    tabs = [{"label": _("All orders"), "address": filters.address(state=""), "is_here": not filters.state}]
    return tabs + [
        {"label": label, "address": filters.address(state=key), "is_here": filters.state == key}
        for key, (label, _where) in order_filters.STATES.items()
    ]


def count_of(orders: QuerySet[Order], page: keyset.Slice, filters: Filters) -> str:
    """How many fit, in words. Counting stops early, and a search that has more than a page is not counted at all."""
    if filters.search:
        return "" if page.newer or page.older else _in_words(len(page.keys))
    count = orders.order_by()[: COUNTED_UP_TO + 1].count()
    if count > COUNTED_UP_TO:
        return _("more than %(count)s orders") % {"count": f"{COUNTED_UP_TO:,}"}
    return _in_words(count)


def _in_words(count: int) -> str:
    return ngettext("%(count)s order", "%(count)s orders", count) % {"count": f"{count:,}"}


def _kept(request: HttpRequest) -> dict[str, str]:
    return {"all": "1"} if "all" in request.GET else {}
