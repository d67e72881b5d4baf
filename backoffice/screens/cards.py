"""The buttons of cards without a quote: what the card stands for is done by its service, then the card is closed.

Here the two come together: `agent` may not act, and services do not know of cards.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agent import cards, events
from agent.models import Card
from agent.states import CardKind, CardState
from backoffice.screens.customer import shopper_screen
from orders.access import Shopper
from orders.actors import Actor, customer_actor
from orders.address import change_address
from orders.errors import Refusal
from orders.http import wants_json
from orders.prose import sentences
from refunds import present
from refunds.exchange_check import parse_exchange
from refunds.resend import resend
from refunds.resend_check import parse_resend
from refunds.returns import request_exchange


@dataclass(frozen=True, slots=True)
class Done:
    """What a press has come to: `result` for the agent and for scripts, `said` for the customer."""

    result: dict[str, Any]
    said: str


@require_POST
@shopper_screen
def confirm(request: HttpRequest, shopper: Shopper, number: str, card_id: str) -> HttpResponse:
    """Once: pressing again shows the same again."""
    card = cards.open_card_for(shopper, number, card_id)
    try:
        done = carry_out(card, customer_actor(shopper.customer, card_id=card.pk))
    except Refusal as refusal:
        return refused(request, number, refusal)
    if not wants_json(request):
        messages.success(request, done.said)
    return answer(request, number, {**done.result, "said": done.said})


def carry_out(card: Card, actor: Actor) -> Done:
    """What the card stands for, looked at again and done. Raises Refusal when it cannot be had any more.

    The conversation's lock keeps a press and a refusal of the same moment apart. A refusal that stays one (the goods
    were packed or sold meanwhile) ends the card, so that nobody presses in vain and the agent hears why.
    """
    done = refusal = None
    with events.writing(card.conversation_id, "card_pressed"):
        card.refresh_from_db()
        if card.state != CardState.CONFIRMED:
            cards.require_open(card)
        try:
            with transaction.atomic():
                done = ACTS[card.kind](card, actor)
        except Refusal as no:
            if no.retryable:
                raise
            refusal = no
        if done is not None:
            cards.close_card(card=card, state=CardState.CONFIRMED, actor=actor, result=done.result)
        elif refusal is not None:
            words = refusal.as_dict()
            cards.close_card(card=card, state=CardState.WITHDRAWN, actor=cards.SYSTEM, result=words, is_error=True)
    if done is None:
        assert refusal is not None, "a press is carried out or refused"
        raise refusal
    return done


def _exchange(card: Card, actor: Actor) -> Done:
    """The same card again finds its return."""
    lines = parse_exchange({"lines": card.payload["exchange_lines"]})
    made = request_exchange(order=card.conversation.order, lines=lines, actor=actor, request_ref=card.pk)
    said = _("Your exchange is arranged: return number %(number)s.") % {"number": made.pk}
    return Done({"status": "confirmed", "return": present.return_as_dict(made)}, said)


def _resend(card: Card, actor: Actor) -> Done:
    """The same card again finds its replacement."""
    lines = parse_resend({"lines": card.payload["resend_lines"]})
    made = resend(order=card.conversation.order, lines=lines, actor=actor, request_ref=card.pk)
    said = _("The goods are sent again: replacement number %(number)s.") % {"number": made.pk}
    return Done({"status": "confirmed", "replacement": present.replacement_as_dict(made)}, said)


def _address(card: Card, actor: Actor) -> Done:
    """The same card again changes nothing: the address may have been changed once more since."""
    address = card.payload["address"]
    if card.state != CardState.CONFIRMED:
        change_address(order=card.conversation.order, body=address, actor=actor, request_ref=card.pk)
    return Done({"status": "confirmed", "shipping_address": address}, _("The goods go to the new address."))


ACTS: Final[Mapping[str, Callable[[Card, Actor], Done]]] = {
    CardKind.EXCHANGE: _exchange,
    CardKind.RESEND: _resend,
    CardKind.ADDRESS: _address,
}


@require_POST
@shopper_screen
def decline(request: HttpRequest, shopper: Shopper, number: str, card_id: str) -> HttpResponse:
    card = cards.open_card_for(shopper, number, card_id)
    try:
        decline_card(card, customer_actor(shopper.customer, card_id=card.pk))
    except Refusal as refusal:
        return refused(request, number, refusal)
    because = {"because": card.payload["because"]} if "because" in card.payload else {}
    return answer(request, number, {"state": CardState.DECLINED, **because})


def decline_card(card: Card, actor: Actor) -> None:
    """Once; again changes nothing. Raises Refusal when the card was pressed, or ended otherwise, before."""
    with events.writing(card.conversation_id, "card_declined"):
        card.refresh_from_db()
        if card.state == CardState.DECLINED:
            return
        cards.require_open(card)
        cards.close_card(card=card, state=CardState.DECLINED, actor=actor, result={"status": "declined"})


def refused(request: HttpRequest, number: str, refusal: Refusal) -> HttpResponse:
    if wants_json(request):
        return JsonResponse(refusal.as_dict(), status=refusal.status)
    messages.error(request, sentences(refusal.message, refusal.hint))
    return redirect("order", number=number)


def answer(request: HttpRequest, number: str, body: dict[str, Any]) -> HttpResponse:
    return JsonResponse(body) if wants_json(request) else redirect("order", number=number)
