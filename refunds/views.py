"""The buttons 「確認退款」 and 「確認退貨」: a press redeems a quote, the other one declines it. By POST alone.

A script gets JSON, the one error object when it is refused; a plain form gets a redirect to the page it came from, with
a message.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import quote as quote_path

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from orders.access import is_signed_out
from orders.actors import Actor, NotAllowed
from orders.errors import Refusal
from orders.http import ask_to_sign_in, path_of_site, wants_json
from orders.kept_form import keep
from orders.prose import sentences
from refunds import access, quotes, redeem
from refunds.models import RefundQuote
from refunds.present import refund_as_dict, return_as_dict

# What a press came to: the JSON body and its status, and the words for a page.
Answer = tuple[dict[str, Any], int, str]


@require_POST
def confirm(request: HttpRequest, quote_id: str) -> HttpResponse:
    return _pressed(request, quote_id, _confirm)


@require_POST
def decline(request: HttpRequest, quote_id: str) -> HttpResponse:
    return _pressed(request, quote_id, _decline)


def _confirm(request: HttpRequest, quote: RefundQuote, actor: Actor) -> Answer:
    redeemed = redeem.redeem(quote_id=quote.pk, actor=actor, note=request.POST.get("note", ""))
    status = 201 if redeemed.created else 200
    if redeemed.refund is not None:
        refund = refund_as_dict(redeemed.refund)
        return {"refund": refund}, status, _("Refund %(refund_id)s of %(display)s: %(state_text)s.") % refund
    assert redeemed.return_request is not None
    request_ = return_as_dict(redeemed.return_request)
    return {"return": request_}, status, _("Return %(return_id)s: %(instructions)s") % request_


def _decline(request: HttpRequest, quote: RefundQuote, actor: Actor) -> Answer:
    redeem.decline(quote_id=quote.pk, actor=actor)
    quote.refresh_from_db(fields=["state", "ended_because"])
    body = {"quote_id": quote.pk, "state": quote.state}
    if quote.was_taken_back:
        return {**body, "because": quote.ended_because}, 200, quotes.why_not(quote).message
    return body, 200, _("Nothing was refunded: the quote was declined.")


def _pressed(
    request: HttpRequest, quote_id: str, act: Callable[[HttpRequest, RefundQuote, Actor], Answer]
) -> HttpResponse:
    if is_signed_out(request):
        return ask_to_sign_in(request)
    quote = access.quote_for(request, quote_id)
    actor = access.actor_for(request, quote.order, via="page")
    try:
        body, status, words = act(request, quote, actor)
    except Refusal as refusal:
        body, status, words = _refused(refusal.told_to(staff=actor.kind == "staff"))
        if actor.kind == "staff" and not wants_json(request):
            _keep(request, quote)
    except NotAllowed:
        body, status, words = _refused(Refusal("not_allowed", _("Your account may not do this."), status=403))
    if wants_json(request):
        return JsonResponse(body, status=status, json_dumps_params={"ensure_ascii": False})
    level = messages.SUCCESS if status < 400 else messages.ERROR
    messages.add_message(request, level, words)
    return HttpResponseRedirect(_where_to(request, quote, actor))


def _refused(refusal: Refusal) -> Answer:
    return refusal.as_dict(), refusal.status, sentences(refusal.message, refusal.hint)


def _keep(request: HttpRequest, quote: RefundQuote) -> None:
    """For the order's page: the reason that was typed, and the goods as they were ticked for this quote."""
    fields = [("note", request.POST.get("note", ""))]
    pieces = Counter[str]()
    for line in quote.lines.select_related("line_item"):
        key = f"{line.line_item.line_item_id}.{quote.action}"
        pieces[key] += line.quantity
        fields.append((f"reason.{key}", line.reason))
    for key, count in pieces.items():
        fields += [("pick", key), (f"quantity.{key}", str(count))]
    keep(request, address=_staff_page(quote), fields=fields)


def _staff_page(quote: RefundQuote) -> str:
    return f"/staff/orders/{quote_path(quote.order.number, safe='')}/"


def _where_to(request: HttpRequest, quote: RefundQuote, actor: Actor) -> str:
    """The customer's order page; for staff `next`, if it is one of our pages, else the order's page for staff."""
    if actor.kind == "customer":
        return f"/orders/{quote_path(quote.order.number, safe='')}/"
    return path_of_site(request.POST.get("next", ""), _staff_page(quote))
