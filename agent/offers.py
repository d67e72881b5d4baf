"""A person puts a quote, an exchange, lost goods or another address on the customer's page, as a card without a tool
call. It moves nothing: the customer's own press does, by the same address and the same rules as for a card of the
assistant's.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django.utils import timezone, translation
from django.utils.translation import gettext as translate

from agent import cards, events, mails, people
from agent.models import Card, Conversation
from agent.states import CardKind, ConversationState
from agent.tools.address import address_card
from agent.tools.ask import exchange_card
from agent.tools.base import CardSpec
from agent.tools.resend import resend_card
from orders import audit
from orders.actors import Actor
from orders.errors import NotFound, Refusal
from orders.models import Order
from orders.money import format_money
from refunds import quotes
from refunds.choices import LineChoice
from refunds.models import RefundQuote
from refunds.states import ONLY_STAFF_SAY, Asker, QuoteAction, QuoteState

ASK: Final = "refunds.ask_quote"
TOLD_MODEL: Final = (
    "A colleague has put a card on the customer's page: quote {quote}, {amount}. list_refunds says what became of it."
)
TOLD_OF_GOODS: Final = (
    "A colleague has put a card on the customer's page: {kind}. It waits for the customer's press, and get_order says "
    "what became of it."
)
Build = Callable[[Order, Any], CardSpec | None]
# What is offered without a quote, who may, and what makes the card: the same as for the assistant's tools.
WITHOUT_QUOTE: Final[Mapping[CardKind, tuple[str, Build]]] = {
    CardKind.EXCHANGE: (ASK, exchange_card),
    CardKind.RESEND: (ASK, resend_card),
    CardKind.ADDRESS: ("orders.change_address", address_card),
}


def preview(*, conversation: Conversation, actor: Actor, choices: Sequence[LineChoice], form: str) -> RefundQuote:
    """The live quote of a form (`form`, at most 40 characters). What the same form asked before is superseded,
    unless it stands on the customer's page by now.

    Raises as `quotes.ask`.
    """
    user = actor.require_staff(people.PERMISSION)
    mine = f"staff:{user.pk}:{form}"
    if Card.objects.filter(quote__order_id=conversation.order_id, quote__asker_ref=mine).exists():
        mine = f"staff:{user.pk}:{secrets.token_urlsafe(16)}"
    return quotes.ask(
        order=conversation.order,
        choices=choices,
        actor=actor,
        asker=Asker.STAFF,
        asker_ref=mine,
        conversation_ref=str(conversation.pk),
    )


def offer(*, conversation: Conversation, actor: Actor, quote_id: str) -> Card:
    """Show the quote on the customer's page. The actor owns the conversation from then on, as whoever answers does.

    The same quote again gives the same card; so does one for the same, of another tab or of anybody else, while that
    card waits. Raises `NotAllowed`, `NotFound` for a quote that the actor did not ask for here, and `Refusal` where the
    quote cannot be confirmed any more, or not by a customer.
    """
    user = actor.require_staff(people.PERMISSION)
    actor.require(ASK)
    with events.writing(conversation.pk, "card_offered") as locked:
        asked_here = {"asker": Asker.STAFF, "asked_by": user, "conversation_ref": str(locked.pk)}
        # Locked, so that nothing becomes of it before its card is there to follow.
        rows = RefundQuote.objects.select_for_update(no_key=True).filter(order_id=locked.order_id, **asked_here)
        quote = rows.filter(pk=quote_id).first()
        if quote is None:
            raise NotFound(translate("There is no such quote here."), hint=translate("Choose the goods again."))
        if known := Card.objects.filter(conversation=locked, quote=quote).first():
            return known
        _require_offerable(locked, quote)
        people.take_over(conversation=locked, actor=actor)
        locked.refresh_from_db()
        kind = CardKind.RETURN if quote.action == QuoteAction.RETURN else CardKind.REFUND
        spec = CardSpec(kind=kind, quote=quote, expires_at=quote.expires_at)
        if waiting := cards.waiting_like(locked, spec):
            return waiting
        card = cards.open_card(conversation=locked, call=None, spec=spec)
        amount = format_money(quote.amount, quote.currency)
        _answered_by(locked, actor, card, quote_id=card.quote_id, amount=amount)
        told = TOLD_MODEL.format(quote=quote.pk, amount=amount)
        people.tell_model(locked, told, about=f"card {card.pk}", state=card.state)
        return card


def put_up(*, conversation: Conversation, actor: Actor, kind: CardKind, asked: Any) -> Card:
    """Show a card without a quote on the customer's page: `asked` are the lines of an exchange or of lost goods, or the
    fields of an address. The actor owns the conversation from then on.

    While the same waits there, whoever put it up, it is the same card. Raises `NotAllowed` and `Refusal`: whatever the
    customer's own press would be refused for, a colleague's conversation, and wrong_state for the address that the
    order has already.
    """
    actor.require_staff(people.PERMISSION)
    permission, build = WITHOUT_QUOTE[kind]
    actor.require(permission)
    with events.writing(conversation.pk, "card_offered") as locked:
        _require_conversation(locked)
        spec = _in_the_customers_words(locked, lambda: build(locked.order, asked))
        if spec is None:
            raise Refusal("wrong_state", translate("The order goes to this address already."))
        people.take_over(conversation=locked, actor=actor)
        if known := cards.waiting_like(locked, spec):
            return known
        locked.refresh_from_db()
        card = cards.open_card(conversation=locked, call=None, spec=spec)
        _answered_by(locked, actor, card, kind=kind, button=card.payload["button"])
        people.tell_model(locked, TOLD_OF_GOODS.format(kind=kind), about=f"card {card.pk}", state=card.state)
        return card


def _in_the_customers_words(conversation: Conversation, build: Callable[[], CardSpec | None]) -> CardSpec | None:
    """What the card says is in the conversation's language; why there is none is in that of whoever asked."""
    with translation.override(conversation.language):
        try:
            return build()
        except Refusal:
            pass
    return build()


def _require_conversation(conversation: Conversation) -> None:
    if conversation.state == ConversationState.CLOSED:
        raise Refusal("conversation_closed", translate("This conversation is closed."))


def _require_offerable(conversation: Conversation, quote: RefundQuote) -> None:
    _require_conversation(conversation)
    if quote.state != QuoteState.OPEN or quote.expires_at <= timezone.now():
        raise Refusal(
            "quote_stale",
            translate("This quote does not hold any more."),
            hint=translate("Choose the goods again: the amount is worked out afresh."),
        )
    if quote.overrides or quote.lines.filter(reason__in=ONLY_STAFF_SAY).exists():
        raise Refusal(
            "only_staff_may_confirm",
            translate("A customer cannot confirm this: its reason is only for the shop to give."),
            hint=translate("Confirm it yourself on the order's page."),
        )


def _answered_by(conversation: Conversation, actor: Actor, card: Card, **chosen: Any) -> None:
    """The card is an answer: nobody waits any longer, and whoever has left the page is told that it is there."""
    mails.answered_by_card(card)
    audit.record(
        action="card.offered",
        actor=actor,
        subject_type="card",
        subject_id=card.pk,
        order_id=conversation.order_id,
        chosen=chosen,
        outcome=people.end_wait(conversation),
        correlation={"conversation_id": conversation.pk},
    )
