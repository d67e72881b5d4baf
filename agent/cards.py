"""Cards: the buttons by which a customer consents. A card shows; what it stands for is done elsewhere, on the press
(`refunds/views.py`, `backoffice/screens/cards.py`).

Cards with a quote follow their quote: whatever became of it (pressed, refused, run out, overtaken by the warehouse) is
read from its row by `catch_up`, so a lost signal is repaired by looking again.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Q
from django.http import Http404
from django.utils import timezone, translation
from django.utils.translation import gettext as translate

from agent import calls, events, history, mails, plain, rounds, turns
from agent.models import Card, Conversation, Message, ToolCall
from agent.states import CardKind, CardState, ConversationState, ToolCallState, TurnState
from agent.tools.base import CardSpec
from orders import audit
from orders.access import Shopper
from orders.actors import Actor, system_actor
from orders.errors import Refusal
from refunds import quotes
from refunds.models import Refund, RefundQuote, Return
from refunds.present import quote_as_dict, refund_as_dict, return_as_dict
from refunds.states import EndedBecause, QuoteState

SYSTEM = system_actor("cards")
# Why an open card is over although nobody pressed it: kept with the card, and told in words of its own.
WROTE_INSTEAD: Final = EndedBecause.WROTE_INSTEAD.value
CLOSED: Final = EndedBecause.CLOSED.value
# What a card without a quote would do is kept beside what it shows, and is nobody's to see.
NOT_SHOWN = frozenset({"exchange_lines", "resend_lines", "address"})


def open_card(*, conversation: Conversation, call: ToolCall | None, spec: CardSpec) -> Card:
    """Put a card on the page. Inside `events.writing`; what it shows is fixed here, in the conversation's language."""
    card = Card(conversation=conversation, tool_call=call, kind=spec.kind, quote=spec.quote, expires_at=spec.expires_at)
    with translation.override(conversation.language):
        card.payload = {**_shown(card), **spec.payload}
    card.save(force_insert=True)
    _tell(conversation, card, SYSTEM)
    mails.expiring(card)
    return card


def waiting_like(conversation: Conversation, spec: CardSpec) -> Card | None:
    """The open card that says just this, of the same quote or of one for the same. Inside `events.writing`.

    Whoever lost the answer asks again, and two tabs ask by themselves: they would put one card beside the other.
    """
    waiting = conversation.cards.filter(state=CardState.OPEN, kind=spec.kind, expires_at__gt=timezone.now())
    for card in waiting.filter(quote__isnull=spec.quote is None).select_related("quote").order_by("created_at"):
        if _is_for(card, spec.quote) and all(card.payload.get(name) == each for name, each in spec.payload.items()):
            return card
    return None


def _is_for(card: Card, quote: RefundQuote | None) -> bool:
    if card.quote is None or quote is None:
        return card.quote is quote
    return card.quote == quote or quotes.is_the_same(card.quote, quote)


def _shown(card: Card) -> dict[str, Any]:
    """What the card says: title and button, and for a quote its goods, amount and reasons."""
    if card.quote is None:
        title, button, explanation = _words_without_quote(card.kind)
        money: dict[str, Any] = {"amount": None, "display": "", "steps": [], "to": []}
        return {"title": title, "button": button, "explanation": explanation, **money}
    quote = quote_as_dict(card.quote)
    kept = ("amount", "currency", "display", "lines", "steps", "explanation", "to")
    shown = {key: quote[key] for key in kept}
    if card.quote.amount == 0 and card.kind == CardKind.REFUND:
        nothing = translate("Confirm the cancellation, nothing is due back")
        return {"title": translate("Confirm the cancellation"), "button": nothing, **shown}
    words = {
        CardKind.REFUND: (translate("Confirm your refund"), translate("Confirm refund %(amount)s")),
        CardKind.RETURN: (translate("Confirm your return"), translate("Confirm return, %(amount)s after receipt")),
    }
    title, button = words[CardKind(card.kind)]
    return {"title": title, "button": button % {"amount": quote["display"]}, **shown}


def _words_without_quote(kind: str) -> tuple[str, str, str]:
    """Title, button and explanation of a card that costs nothing."""
    if kind == CardKind.RESEND:
        return (
            translate("Confirm sending again"),
            translate("Confirm sending again"),
            translate("We send you the goods again in place of the lost parcel. It costs nothing."),
        )
    if kind == CardKind.ADDRESS:
        return (
            translate("Confirm the new address"),
            translate("Confirm new address"),
            translate("What is not packed yet is sent there. If it is packed before you confirm, nothing changes."),
        )
    return (
        translate("Confirm the exchange"),
        translate("Confirm exchange"),
        translate("We send you the same product again once yours has come back. It costs nothing."),
    )


def card_as_dict(card: Card) -> dict[str, Any]:
    """The card as the page and its event stream have it (`docs/architecture.md`, events)."""
    order_number = card.conversation.order.number
    shown = {key: value for key, value in card.payload.items() if key not in NOT_SHOWN}
    return {
        **shown,
        "card_id": card.pk,
        "kind": card.kind,
        "quote_id": card.quote_id,
        "order_number": order_number,
        "expires_at": card.expires_at.isoformat(),
        "state": card.state,
    }


def open_card_for(shopper: Shopper, order_number: str, card_id: str) -> Card:
    """The shopper's card without a quote, whatever its state. Raises Http404 for others' and missing ones alike."""
    card = (
        Card.objects.select_related("conversation__order", "conversation__customer")
        .filter(
            pk=card_id, quote=None, conversation__order__number=order_number, conversation__customer=shopper.customer
        )
        .first()
    )
    allowed = shopper.order_numbers is None or order_number in shopper.order_numbers
    if card is None or not allowed:
        raise Http404
    return card


def state_words(state: str, payload: Mapping[str, Any]) -> str:
    """How the card stands. One that was taken back because the customer wrote is not called declined: nobody said no.

    `payload`: the card's, or the data of its event.
    """
    if because_they_wrote(state, payload):
        return translate("taken back")
    return str(dict(CardState.choices).get(state, state))


def because_they_wrote(state: str, payload: Mapping[str, Any]) -> bool:
    """Taken back, with nobody having said no, when the customer wrote something else."""
    return state == CardState.DECLINED and payload.get("because") == WROTE_INSTEAD


def require_open(card: Card) -> None:
    """Raises `Refusal` with what to do next when the card can no longer be pressed."""
    if card.state == CardState.OPEN and card.expires_at > timezone.now():
        return
    shown = CardState.EXPIRED.label if card.state == CardState.OPEN else state_words(card.state, card.payload)
    said = translate("This card can no longer be confirmed (%(state)s).") % {"state": shown}
    if because_they_wrote(card.state, card.payload):
        said = translate("You wrote something new meanwhile, so this card was taken back. Nothing was changed.")
    raise Refusal("card_closed", said, hint=translate("Write in the chat what you would like, and you get a new one."))


def close_card(
    *, card: Card, state: str, actor: Actor, result: Mapping[str, Any], is_error: bool = False, go_on: bool = True
) -> None:
    """End a card, answer its tool call with `result`, and let the turn go on when all its calls are answered.

    A card that has ended already stays as it was.
    """
    with events.writing(card.conversation_id, "card_ended") as conversation:
        end_card(conversation, card, state=state, actor=actor, result=result, is_error=is_error)
        resume(conversation, go_on=go_on)


def end_card(
    conversation: Conversation,
    card: Card,
    *,
    state: str,
    actor: Actor,
    result: Mapping[str, Any],
    is_error: bool = False,
    because: str = "",
) -> bool:
    """As `close_card`, inside `events.writing` and without resuming. False: it had ended already.

    `because`: kept with the card where its state alone does not say how it came to that.
    """
    rows = Card.objects.filter(pk=card.pk, state=CardState.OPEN)
    kept: dict[str, Any] = {"payload": {**card.payload, "because": because}} if because else {}
    ended = rows.update(state=state, ended_at=timezone.now(), **kept)
    if ended != 1:
        return False
    card.refresh_from_db()
    _tell(conversation, card, actor)
    if card.tool_call:
        calls.answer(card.tool_call, result, is_error=is_error)
    return True


def resume(conversation: Conversation, *, go_on: bool) -> None:
    """When no call of the waiting turn is open any more: queue it again, or (nothing new to say) end it.

    What the customer wrote while the card was still open, though over, is not left without an answer; nor is a press
    whose neighbour ran out after it.
    """
    turn = turns.live_turn(conversation)
    if turn is None or turn.state != TurnState.WAITING:
        return
    if conversation.tool_calls.filter(state=ToolCallState.SUSPENDED).exists():
        return
    may_go_on = conversation.owner_id is None and conversation.state == ConversationState.OPEN
    last = history.newest_reply(conversation)
    if may_go_on and (go_on or history.unheard(conversation, last) or (last and _any_but_run_out(last))):
        turns.queue_turn(conversation)
    else:
        turns.move(conversation, turn, TurnState.WAITING, TurnState.DONE)


def _any_but_run_out(reply: Message) -> bool:
    """Has a card of this reply been pressed, refused, or overtaken? The model has not spoken since."""
    return Card.objects.filter(tool_call__message=reply).exclude(state=CardState.EXPIRED).exists()


def _tell(conversation: Conversation, card: Card, actor: Actor) -> None:
    audit.record(
        action=f"card.{card.state}",
        actor=actor,
        subject_type="card",
        subject_id=card.pk,
        order_id=conversation.order_id,
        chosen={"quote_id": card.quote_id} if card.quote_id else dict(card.payload),
        outcome={"because": card.payload["because"]} if "because" in card.payload else None,
        correlation={"conversation_id": conversation.pk},
    )
    events.add(conversation, "card", card_as_dict(card))


def catch_up(card: Card) -> None:
    """Bring a card with a quote in line with what has become of the quote. Harmless when there is nothing to do.

    A quote whose time is over may still be in the middle of being redeemed: until its row says what became of it, the
    card stays as it is.
    """
    quote = RefundQuote.objects.get(pk=card.quote_id)
    with translation.override(card.conversation.language):
        ending = _ending(quote)
    if ending is None:
        return
    state, result, is_error = ending
    # Nobody is there to talk to when time simply ran out.
    close_card(
        card=card,
        state=state,
        actor=SYSTEM,
        result=result,
        is_error=is_error,
        go_on=state != CardState.EXPIRED,
    )


def _ending(quote: RefundQuote) -> tuple[str, dict[str, Any], bool] | None:
    if quote.state == QuoteState.REDEEMED:
        return CardState.CONFIRMED, {"status": "confirmed", **_redeemed(quote)}, False
    if quote.state == QuoteState.DECLINED:
        return CardState.DECLINED, {"status": "declined"}, False
    if quote.state == QuoteState.EXPIRED:
        return CardState.EXPIRED, {"status": "expired", "hint": "Quote again if it is still wanted."}, False
    if quote.state == QuoteState.SUPERSEDED:
        return CardState.WITHDRAWN, quotes.why_not(quote).as_dict(), True
    return None


def _redeemed(quote: RefundQuote) -> dict[str, Any]:
    """The refund or the return that the quote became, with the reasons of the amount."""
    explained = {key: quote_as_dict(quote)[key] for key in ("explanation", "steps")}
    refund = Refund.objects.filter(quote=quote).first()
    if refund is not None:
        return {"refund": refund_as_dict(refund), **explained}
    return {"return": return_as_dict(Return.objects.get(quote=quote)), **explained}


def decline_open(conversation: Conversation, *, actor: Actor, why: str) -> None:
    """Take back what is open because something else was said. Inside `events.writing`. `why` is for the model.

    No button was pressed: the state is that of a declined card, and what is kept beside it says how that came about.
    A quote that was pressed at the same moment stays pressed: its card is left to `catch_up`.
    """
    if not plain.row(_ANY_OPEN, conversation.pk, CardState.OPEN.value):
        return
    for card in conversation.cards.filter(state=CardState.OPEN):
        if card.quote_id and not quotes.decline(quote_id=card.quote_id, actor=actor, because=WROTE_INSTEAD):
            continue
        result = {"status": "declined", "because": why}
        end_card(conversation, card, state=CardState.DECLINED, actor=actor, result=result, because=WROTE_INSTEAD)


# Asked with every message.
_ANY_OPEN = "select 1 from agent_card where conversation_id = %s and state = %s limit 1"


def withdraw_open(conversation: Conversation, *, actor: Actor) -> None:
    """Take back what is open because the conversation ends. As `decline_open`."""
    for card in conversation.cards.filter(state=CardState.OPEN):
        if card.quote_id and not quotes.decline(quote_id=card.quote_id, actor=SYSTEM, because=CLOSED):
            continue
        end_card(conversation, card, state=CardState.WITHDRAWN, actor=actor, result={"status": "withdrawn"})


def cards_behind() -> list[Card]:
    """Open cards whose quote has ended (a signal was lost), or that have none and whose own time is over."""
    ended = ~Q(quote__state=QuoteState.OPEN) & Q(quote__isnull=False)
    over = Q(quote__isnull=True, expires_at__lte=timezone.now())
    behind = Card.objects.filter(ended | over, state=CardState.OPEN).select_related("conversation__order")
    return rounds.next_of("cards behind", behind)


def expire(card: Card) -> None:
    """A card whose time is over. With a quote, the quote says what became of it."""
    if card.quote_id:
        catch_up(card)
        return
    close_card(card=card, state=CardState.EXPIRED, actor=SYSTEM, result={"status": "expired"}, go_on=False)
