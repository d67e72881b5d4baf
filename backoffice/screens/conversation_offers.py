"""Cards for the customer's page, from the conversation: a quote that is worked out, and what needs none.

By the same rules as everywhere (`refunds.quotes`, the verbs of the assistant's own tools). The customer presses;
nothing moves before.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from agent import offers
from agent.access import conversation_for_staff
from agent.models import Card, Conversation
from agent.states import CardKind
from backoffice.screens import address, exchange
from backoffice.screens.acting import act
from backoffice.screens.choices import Row, body_of, is_lost, line_of, may_be_exchanged, picked, rows_for, rows_of
from backoffice.screens.forms import form_screen, token_of
from backoffice.screens.gate import ADDRESS, QUEUE, REFUNDS, may, staff_screen
from orders.actors import staff_actor
from orders.address import why_not_changed
from orders.errors import Refusal
from refunds import quotes
from refunds.goods import UnitGroup, unit_groups
from refunds.present import quote_as_dict
from refunds.states import ONLY_STAFF_SAY


def beside(conversation: Conversation) -> dict[str, Any]:
    """What the page offers to offer: the goods of a quote, and which other cards have anything to be about."""
    order = conversation.order
    groups = unit_groups(order, now=timezone.now())
    others = {
        "exchange": any(may_be_exchanged(group) for group in groups),
        "resend": any(is_lost(group) for group in groups),
        "address": why_not_changed(order) is None,
    }
    return {"offer_rows": _rows(groups), "offers": others, "can_offer": any(others.values())}


def rows_for_offer(conversation: Conversation, form: QueryDict | None = None) -> list[Row]:
    """The goods that a card can be about, each with a box and the reasons that a customer may give."""
    return _rows(unit_groups(conversation.order, now=timezone.now()), form)


def _rows(groups: Sequence[UnitGroup], form: QueryDict | None = None) -> list[Row]:
    rows = [row for row in rows_of(groups, form) if row.key]
    for row in rows:
        row.reasons = [(value, label) for value, label in row.reasons if value not in ONLY_STAFF_SAY]
    return rows


@require_POST
@staff_screen(QUEUE)
def quote(request: HttpRequest, conversation_id: int) -> HttpResponse:
    """The quote box alone for htmx; without JavaScript a page with the goods and the box."""
    row = conversation_for_staff(request.user, conversation_id)
    context = {"conversation": row, "order": row.order, "token": token_of(request.POST), **_asked(request, row)}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "staff/_offer_quote.html", context)
    context |= {"here": "queue", "offer_rows": rows_for_offer(row, request.POST)}
    return render(request, "staff/offer.html", context)


def _asked(request: HttpRequest, row: Conversation) -> dict[str, Any]:
    """`quote`, or the `refusal`, or neither when nothing is ticked."""
    if not request.POST.getlist("pick"):
        return {}
    try:
        asked = offers.preview(
            conversation=row,
            actor=staff_actor(request.user),
            choices=quotes.parse_choices(body_of(request.POST)),
            form=token_of(request.POST),
        )
    except Refusal as refusal:
        return {"refusal": refusal.told_to(staff=True)}
    return {"quote": quote_as_dict(asked)}


@require_POST
@staff_screen(QUEUE)
def offer(request: HttpRequest, conversation_id: int) -> HttpResponse:
    row = conversation_for_staff(request.user, conversation_id)

    def work() -> str:
        quote_id = request.POST.get("quote", "")
        return _said(offers.offer(conversation=row, actor=staff_actor(request.user), quote_id=quote_id))

    return act(request, work, back=reverse("staff-conversation", args=[row.pk]))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(QUEUE)
def offer_exchange(request: HttpRequest, conversation_id: int) -> HttpResponse:
    def shown(row: Conversation, typed: QueryDict) -> Mapping[str, Any]:
        return {"wishes": exchange.wishes_of(row.order, typed)}

    def asked(typed: QueryDict) -> Any:
        return exchange.exchange_body(typed)["lines"]

    return _put_up(request, conversation_id, CardKind.EXCHANGE, asked, shown, "staff/exchange.html", REFUNDS)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(QUEUE)
def offer_resend(request: HttpRequest, conversation_id: int) -> HttpResponse:
    def shown(row: Conversation, typed: QueryDict) -> Mapping[str, Any]:
        return {"rows": rows_for("resend", unit_groups(row.order, now=timezone.now()), typed, fits=is_lost)}

    def asked(typed: QueryDict) -> Any:
        lines = [line_of(key, typed) for key in picked(typed)]
        return [{"line_item_id": line["line_item_id"], "quantity": line["quantity"]} for line in lines]

    return _put_up(request, conversation_id, CardKind.RESEND, asked, shown, "staff/resend.html", REFUNDS)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@staff_screen(QUEUE)
def offer_address(request: HttpRequest, conversation_id: int) -> HttpResponse:
    def shown(row: Conversation, typed: QueryDict) -> Mapping[str, Any]:
        return {"fields": address.fields_of(row.order, typed), "too_late": why_not_changed(row.order)}

    def asked(typed: QueryDict) -> Any:
        return {name: typed.get(name, "").strip() for name in address.FIELDS}

    return _put_up(request, conversation_id, CardKind.ADDRESS, asked, shown, "staff/address.html", ADDRESS)


def _put_up(
    request: HttpRequest,
    conversation_id: int,
    kind: CardKind,
    asked: Callable[[QueryDict], Any],
    shown: Callable[[Conversation, QueryDict], Mapping[str, Any]],
    template: str,
    permission: tuple[str, ...],
) -> HttpResponse:
    """The form by which staff do it themselves, asked for here to be the customer's to press."""
    if not may(request.user, permission):
        raise PermissionDenied
    row = conversation_for_staff(request.user, conversation_id)
    actor = staff_actor(request.user)
    return form_screen(
        request,
        template=template,
        back=reverse("staff-conversation", args=[row.pk]),
        context=lambda typed: {"here": "queue", "order": row.order, "offering": row, **shown(row, typed)},
        work=lambda typed: _said(offers.put_up(conversation=row, actor=actor, kind=kind, asked=asked(typed))),
        only_show="search" in request.POST,
    )


def _said(card: Card) -> str:
    return _("“%(button)s” is on the customer's page. Nothing moves before they press.") % {
        "button": card.payload["button"]
    }
