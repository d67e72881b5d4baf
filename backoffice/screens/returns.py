"""Goods on their way back: what is open, and the desk of whoever opens the parcel."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backoffice import words
from backoffice.screens import decided, keyset, return_rows
from backoffice.screens.acting import act, asked_next, next_path
from backoffice.screens.forms import form_screen
from backoffice.screens.gate import ORDERS, REDEEM, SHIPMENTS, staff_screen
from orders.actors import Actor, staff_actor
from orders.kept_form import kept_form
from refunds import returns, selectors
from refunds.acceptance import accept as accept_goods
from refunds.access import find
from refunds.models import Return
from refunds.states import ReturnKind, ReturnState

PER_PAGE = 25
LONGEST_SEARCH = 40
FOUND = "found."


@never_cache
@require_safe
@staff_screen(ORDERS)
def return_list(request: HttpRequest) -> HttpResponse:
    """Open returns, the oldest first; `?all=1` shows all. `?q=`, typed or scanned, is a number or its end: opens it."""
    search = request.GET.get("q", "").strip()[:LONGEST_SEARCH].replace("\x00", "")
    show_all = bool(request.GET.get("all") or search)
    rows = return_rows.everything() if show_all else return_rows.open_ones()
    if search:
        if (found := _only(search)) is not None:
            return redirect("staff-return", return_id=found)
        rows = rows.filter(pk__in=selectors.ending_with(search).values("pk"))
    kept = {"q": search} if search else {"all": "1"} if show_all else {}
    sheet = keyset.sheet_of(rows, request.GET, per_page=PER_PAGE, oldest_first=not show_all, kept=kept)
    context = {
        "here": "returns",
        "tab": "all" if show_all else "open",
        "sheet": sheet,
        "returns": sheet.rows,
        "show_order": True,
        "search": search,
        "export": {"q": search} if search else {} if show_all else {"state": "open"},
    }
    return render(request, "staff/returns.html", context)


def _only(search: str) -> str | None:
    """The return with this number; else the only one whose number ends so."""
    for ending in (Return.objects.filter(pk=search.lower()), selectors.ending_with(search)):
        if len(found := list(ending.values_list("pk", flat=True)[:2])) == 1:
            return found[0]
    return None


@never_cache
@require_safe
@staff_screen(ORDERS)
def return_page(request: HttpRequest, return_id: str) -> HttpResponse:
    """One return at the desk: what was announced, what was found, and what can be done now."""
    item = _return(return_rows.everything(), return_id)
    return render(request, "staff/return.html", return_context(request, item))


def return_context(request: HttpRequest, item: Return) -> dict[str, Any]:
    replacement = getattr(item, "replacement", None)
    typed = kept_form(request, reverse("staff-return-receive", args=[item.pk]))
    steps = list(return_rows.steps_of(item))
    came = [step.at for step in steps if step.action == f"return.{item.state}"]
    return {
        "here": "returns",
        "item": item,
        "order": item.order,
        "goods": return_rows.goods_of(item, typed),
        "states": return_rows.STATES,
        "replacements": [replacement] if replacement else [],
        "findings": words.FOUND,
        "steps": steps,
        "since": came[-1] if came else item.created_at,
        "can_reject": _can_be_rejected(item),
        "at_hand": item.state in {ReturnState.REQUESTED, ReturnState.RECEIVED},
    }


def _return(rows: QuerySet[Return], return_id: str) -> Return:
    item = find(rows, return_id)
    if item is None:
        raise Http404
    return item


def _step(request: HttpRequest, return_id: str, do: Callable[[Actor, str], Return], said: str) -> HttpResponse:
    def work() -> str:
        do(staff_actor(request.user), request.POST.get("note", ""))
        return said % {"number": return_id}

    return _act(request, return_id, work)


def _act(request: HttpRequest, return_id: str, work: Callable[[], str]) -> HttpResponse:
    _return(Return.objects.all(), return_id)
    return act(request, work, back=next_path(request, reverse("staff-return", args=[return_id])))


@require_POST
@staff_screen(SHIPMENTS)
def receive(request: HttpRequest, return_id: str) -> HttpResponse:
    """What was found of each line, piece by piece; without a word about it, everything is as announced."""

    def do(actor: Actor, note: str) -> Return:
        counted = return_rows.counted(request.POST)
        return returns.receive(return_id=return_id, actor=actor, note=note, found=counted)

    return _step(request, return_id, do, _("What was found of %(number)s is written down."))


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

    return _act(request, return_id, work)


def found_in(form: QueryDict) -> dict[str, str]:
    """`found.li_1` = `changed_mind`, for each line where the goods show something else than the customer said."""
    return {name.removeprefix(FOUND): str(value) for name, value in form.items() if name.startswith(FOUND) and value}


def accepted_words(item: Return) -> str:
    if item.kind == ReturnKind.EXCHANGE:
        return _("The goods of %(number)s are accepted. Send the replacement now.")
    if item.state == ReturnState.REFUNDED:
        return _("The goods of %(number)s are accepted, and the money is on its way.")
    return _("The goods of %(number)s are accepted. The refund waits for a second person to approve it.")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(REDEEM)
def withdraw(request: HttpRequest, return_id: str) -> HttpResponse:
    """In the customer's name, who has said so by phone or by mail."""

    def work(actor: Actor, note: str) -> str:
        returns.withdraw(return_id=return_id, actor=actor, note=note)
        return _("%(number)s is withdrawn: the customer keeps the goods.") % {"number": return_id}

    return _asked(request, return_id, work, "staff/return_withdraw.html", is_open=_is_on_its_way)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(SHIPMENTS)
def reject(request: HttpRequest, return_id: str) -> HttpResponse:
    """A no, with its reason."""

    def work(actor: Actor, note: str) -> str:
        returns.reject(return_id=return_id, actor=actor, note=note)
        return _("%(number)s is not taken back; the goods count as delivered again.") % {"number": return_id}

    return _asked(request, return_id, work, "staff/return_reject.html", is_open=_can_be_rejected)


def _is_on_its_way(item: Return) -> bool:
    return item.state == ReturnState.REQUESTED


def _can_be_rejected(item: Return) -> bool:
    return item.state in returns.REJECTABLE[item.kind]


def _asked(
    request: HttpRequest,
    return_id: str,
    work: Callable[[Actor, str], str],
    template: str,
    *,
    is_open: Callable[[Return], bool],
) -> HttpResponse:
    """From a form with the goods before one's eyes: a dialog, or a page of its own."""
    _return(Return.objects.all(), return_id)

    def context(_typed: QueryDict) -> dict[str, Any]:
        item = _return(return_rows.everything(), return_id)
        over = partial(decided.of_row, "return", item.pk)
        return {**return_context(request, item), **decided.shown(is_open=is_open(item), decided=over)}

    return form_screen(
        request,
        template=template,
        back=asked_next(request, reverse("staff-return", args=[return_id])),
        context=context,
        work=lambda typed: work(staff_actor(request.user), typed.get("note", "")),
    )
