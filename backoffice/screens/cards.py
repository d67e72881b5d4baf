"""The buttons of cards without a quote: an exchange is made by `refunds`, then the card is closed in the chat.

Here the two come together: `agent` may not act, and `refunds` does not know of cards.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agent import cards, events
from agent.models import Card
from agent.states import CardState
from backoffice.screens.customer import shopper_screen
from orders.access import Shopper
from orders.actors import Actor, customer_actor
from orders.errors import Refusal
from orders.http import wants_json
from refunds.models import Return
from refunds.present import return_as_dict
from refunds.quotes import parse_choices
from refunds.returns import request_exchange


@require_POST
@shopper_screen
def confirm(request: HttpRequest, shopper: Shopper, number: str, card_id: str) -> HttpResponse:
    """Once: pressing again shows the same exchange again."""
    card = cards.open_card_for(shopper, number, card_id)
    try:
        made = exchange_of(card, customer_actor(shopper.customer, card_id=card.pk))
    except Refusal as refusal:
        return refused(request, number, refusal)
    if not wants_json(request):
        messages.success(request, _("Your exchange is arranged: return number %(number)s.") % {"number": made.pk})
    return answer(request, number, {"return": return_as_dict(made)})


def exchange_of(card: Card, actor: Actor) -> Return:
    """The exchange this card stands for. Raises Refusal when it cannot be had any more.

    The conversation's lock keeps a press and a refusal of the same moment apart; pressing again finds the exchange by
    the card's id.
    """
    with events.writing(card.conversation_id):
        made = Return.objects.filter(request_ref=card.pk).first()
        if made is None:
            card.refresh_from_db()
            cards.require_open(card)
            choices = parse_choices({"lines": card.payload["exchange_lines"]})
            made = request_exchange(order=card.conversation.order, lines=choices, actor=actor, request_ref=card.pk)
        result = {"status": "confirmed", "return": return_as_dict(made)}
        cards.close_card(card=card, state=CardState.CONFIRMED, actor=actor, result=result)
    return made


@require_POST
@shopper_screen
def decline(request: HttpRequest, shopper: Shopper, number: str, card_id: str) -> HttpResponse:
    card = cards.open_card_for(shopper, number, card_id)
    try:
        decline_card(card, customer_actor(shopper.customer, card_id=card.pk))
    except Refusal as refusal:
        return refused(request, number, refusal)
    return answer(request, number, {"state": CardState.DECLINED})


def decline_card(card: Card, actor: Actor) -> None:
    """Once; again changes nothing. Raises Refusal when the card was pressed, or ended otherwise, before."""
    with events.writing(card.conversation_id):
        card.refresh_from_db()
        if card.state == CardState.DECLINED:
            return
        cards.require_open(card)
        cards.close_card(card=card, state=CardState.DECLINED, actor=actor, result={"status": "declined"})


def refused(request: HttpRequest, number: str, refusal: Refusal) -> HttpResponse:
    if wants_json(request):
        return JsonResponse(refusal.as_dict(), status=refusal.status)
    messages.error(request, " ".join(filter(None, [refusal.message, refusal.hint])))
    return redirect("order", number=number)


def answer(request: HttpRequest, number: str, body: dict[str, Any]) -> HttpResponse:
    return JsonResponse(body) if wants_json(request) else redirect("order", number=number)
