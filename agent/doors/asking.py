"""What a customer's program asks for: quotes, and buttons on the customer's own page. It presses none of them.

A card is put up as a colleague's is (`agent/offers.py`), without a tool call of the chat: no turn waits for it, none
goes on when it is pressed, and whatever the customer writes instead declines it like any other.
"""

from typing import Any, Final

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as translate

from agent import cards, people
from agent.models import Card
from agent.states import CardState
from agent.tools.base import CardSpec, Context, Tool
from orders import audit
from orders.errors import Refusal

MOST_OPEN_CARDS: Final = 5
TOLD_MODEL: Final = (
    "A program of the customer's own has put a card on their page: {what}. It waits for the customer's press, and "
    "get_order says what became of it."
)
NEXT: Final = (
    "Nothing has been done yet, and no call can confirm it. Give the customer the address in confirm_at: it is done "
    "when they press the button there themselves, before expires_at. get_order and list_refunds say what became of it."
)


def run(tool: Tool, context: Context) -> dict[str, Any]:
    """The result of a tool that does more than read. Inside `intake.talking`: the conversation is locked.

    Raises whatever the tool raises, and Refusal person_answers or too_many_cards.
    """
    conversation = context.conversation
    if conversation.owner_id is not None:
        raise _person_answers()
    outcome = tool.handler(context, context.call.arguments)
    return _on_the_page(context, outcome) if isinstance(outcome, CardSpec) else outcome


def _on_the_page(context: Context, spec: CardSpec) -> dict[str, Any]:
    """The card, and where it is pressed. The same wish again gives the same card."""
    conversation = context.conversation
    card = cards.waiting_like(conversation, spec)
    if card is None:
        if conversation.cards.filter(state=CardState.OPEN).count() >= MOST_OPEN_CARDS:
            raise _too_many_cards()
        card = cards.open_card(conversation=conversation, call=None, spec=spec)
        _record(context, card)
        what = " ".join(filter(None, [card.kind, card.payload.get("display", ""), card.quote_id or ""]))
        people.tell_model(conversation, TOLD_MODEL.format(what=what), about=f"card {card.pk}", state=card.state)
    address = reverse("order", args=[context.order.number])
    return {
        "status": "pending_confirmation",
        "confirm_at": f"{settings.SITE_URL.rstrip('/')}{address}",
        "card_id": card.pk,
        "kind": card.kind,
        "button": card.payload["button"],
        "display": card.payload["display"],
        "steps": card.payload["steps"],
        "expires_at": timezone.localtime(card.expires_at).isoformat(timespec="seconds"),
        "next": NEXT,
    }


def _record(context: Context, card: Card) -> None:
    audit.record(
        action="card.asked_outside",
        actor=context.actor,
        subject_type="card",
        subject_id=card.pk,
        order=context.order,
        chosen={"kind": card.kind, "quote_id": card.quote_id},
    )


def _person_answers() -> Refusal:
    return Refusal(
        "person_answers",
        translate("A colleague has this conversation: until they give it back, nothing else is put on the page."),
        hint=translate("Ask the customer to write to them in the chat on the order's page."),
    )


def _too_many_cards() -> Refusal:
    return Refusal(
        "too_many_cards",
        translate("%(count)s buttons wait on the customer's page already.") % {"count": MOST_OPEN_CARDS},
        hint=translate("Ask the customer to confirm or decline those first."),
    )
