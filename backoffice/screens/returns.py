"""Goods on their way back: what is open, and the buttons of whoever opens the parcel."""

from collections.abc import Callable

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from backoffice import words
from backoffice.screens.acting import act, next_path
from backoffice.screens.gate import ORDERS, REDEEM, SHIPMENTS, staff_screen
from orders.actors import Actor, staff_actor
from refunds import returns, selectors
from refunds.acceptance import accept as accept_goods
from refunds.models import Return
from refunds.states import ReturnKind, ReturnState

PER_PAGE = 25
LONGEST_SEARCH = 40
FOUND = "found."


@never_cache
@require_safe
@staff_screen(ORDERS)
def return_list(request: HttpRequest) -> HttpResponse:
    """Open returns, the oldest first; `?all=1` shows all, `?q=` finds one by the end of its number."""
    search = request.GET.get("q", "").strip()[:LONGEST_SEARCH].replace("\x00", "")
    show_all = bool(request.GET.get("all") or search)
    rows = selectors.returns() if show_all else selectors.open_returns()
    if search:
        rows = rows.filter(pk__iendswith=search)
    page = Paginator(rows.select_related("order__customer", "refund"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "here": "returns",
        "page": page,
        "returns": page.object_list,
        "show_order": True,
        "findings": words.FOUND,
        "show_all": show_all,
        "search": search,
        "query": "all=1&" if show_all else "",
    }
    return render(request, "staff/returns.html", context)


def _step(request: HttpRequest, return_id: str, do: Callable[[Actor, str], Return], said: str) -> HttpResponse:
    def work() -> str:
        do(staff_actor(request.user), request.POST.get("note", ""))
        return said % {"number": return_id}

    return act(request, work, back=next_path(request, reverse("staff-returns")))


@require_POST
@staff_screen(SHIPMENTS)
def receive(request: HttpRequest, return_id: str) -> HttpResponse:
    def do(actor: Actor, note: str) -> Return:
        return returns.receive(return_id=return_id, actor=actor, note=note)

    return _step(request, return_id, do, _("The goods of %(number)s have arrived."))


@require_POST
@staff_screen(SHIPMENTS)
def accept(request: HttpRequest, return_id: str) -> HttpResponse:
    """An exchange is ready to be sent; a refund is worked out anew and paid, or waits for a second person."""

    def work() -> str:
        item = accept_goods(
            return_id=return_id,
            actor=staff_actor(request.user),
            note=request.POST.get("note", ""),
            found=found_in(request.POST),
        )
        return accepted_words(item) % {"number": return_id}

    return act(request, work, back=next_path(request, reverse("staff-returns")))


def found_in(form: QueryDict) -> dict[str, str]:
    """`found.li_1` = `changed_mind`, for each line where the goods show something else than the customer said."""
    return {name.removeprefix(FOUND): str(value) for name, value in form.items() if name.startswith(FOUND) and value}


def accepted_words(item: Return) -> str:
    if item.kind == ReturnKind.EXCHANGE:
        return _("The goods of %(number)s are accepted. Send the replacement now.")
    if item.state == ReturnState.REFUNDED:
        return _("The goods of %(number)s are accepted, and the money is on its way.")
    return _("The goods of %(number)s are accepted. The refund waits for a second person to approve it.")


@require_POST
@staff_screen(REDEEM)
def withdraw(request: HttpRequest, return_id: str) -> HttpResponse:
    """In the customer's name, who has said so by phone or by mail."""

    def do(actor: Actor, note: str) -> Return:
        return returns.withdraw(return_id=return_id, actor=actor, note=note)

    return _step(request, return_id, do, _("%(number)s is withdrawn: the customer keeps the goods."))


@require_POST
@staff_screen(SHIPMENTS)
def send_replacement(request: HttpRequest, return_id: str) -> HttpResponse:
    def do(actor: Actor, note: str) -> Return:
        return returns.complete_exchange(return_id=return_id, actor=actor, note=note)

    return _step(request, return_id, do, _("The replacement for %(number)s is on its way."))


@require_POST
@staff_screen(SHIPMENTS)
def reject(request: HttpRequest, return_id: str) -> HttpResponse:
    def do(actor: Actor, note: str) -> Return:
        return returns.reject(return_id=return_id, actor=actor, note=note)

    return _step(request, return_id, do, _("%(number)s is not taken back; the goods count as delivered again."))
