"""A quote for the customer's page, from the conversation: goods are ticked, worked out, and put there as a card.

By the same rules as everywhere (`refunds.quotes`). The customer presses; nothing moves before.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agent import offers
from agent.access import conversation_for_staff
from agent.models import Conversation
from backoffice.screens.acting import act
from backoffice.screens.choices import Row, body_of, rows_of
from backoffice.screens.forms import token_of
from backoffice.screens.gate import QUEUE, staff_screen
from orders.actors import staff_actor
from orders.errors import Refusal
from refunds import quotes
from refunds.goods import unit_groups
from refunds.present import quote_as_dict
from refunds.states import ONLY_STAFF_SAY


def rows_for_offer(conversation: Conversation, form: QueryDict | None = None) -> list[Row]:
    """The goods that a card can be about, each with a box and the reasons that a customer may give."""
    rows = [row for row in rows_of(unit_groups(conversation.order, now=timezone.now()), form) if row.key]
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
        card = offers.offer(conversation=row, actor=staff_actor(request.user), quote_id=quote_id)
        return _("“%(button)s” is on the customer's page. Nothing moves before they press.") % {
            "button": card.payload["button"]
        }

    return act(request, work, back=reverse("staff-conversation", args=[row.pk]))
