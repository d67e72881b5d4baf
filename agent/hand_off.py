"""What a colleague has to know who takes over: read from rows, so that it is there when no model wrote it, and true.

Of the order itself the page beside it tells; here stands what this conversation was about and where it got to.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as translate

from agent.models import Card, Conversation
from agent.states import Author, CardState
from orders.models import Order
from orders.money import format_money
from orders.prose import aside, labelled
from refunds import selectors
from refunds.models import QuoteLine, RefundQuote
from refunds.present import return_text
from refunds.refund_words import quote_state_words, state_text

WORDS_OF_CUSTOMER: Final = 3
CHARACTERS_OF_EACH: Final = 160
MOST_OF_A_KIND: Final = 5


@dataclass(frozen=True, slots=True)
class Fact:
    """`label`: what kind of fact; `texts`: the newest last."""

    label: str
    texts: list[str]


def summary(conversation: Conversation) -> str:
    """The facts line by line, in the shop's language: it is kept, whoever reads it."""
    with translation.override(settings.LANGUAGE_CODE):
        return "\n".join(labelled(fact.label, fact.texts) for fact in facts(conversation))


def facts(conversation: Conversation) -> list[Fact]:
    """What was said, asked about, shown and done, in the reader's language. Kinds without any are left out."""
    quotes = _quotes(conversation)
    found = [
        Fact(translate("Customer wrote"), _words(conversation)),
        Fact(translate("About"), _goods(quotes)),
        Fact(translate("Quotes"), [_quote(quote) for quote in quotes]),
        Fact(translate("Waits for the customer's press"), [_card(card) for card in _open_cards(conversation)]),
        Fact(translate("Refunds"), _refunds(conversation.order)),
        Fact(translate("Returns and exchanges"), _returns(conversation.order)),
    ]
    return [Fact(fact.label, fact.texts[-MOST_OF_A_KIND:]) for fact in found if fact.texts]


def _words(conversation: Conversation) -> list[str]:
    said = conversation.messages.filter(author=Author.CUSTOMER).order_by("-pk")[:WORDS_OF_CUSTOMER]
    return [_short(message.text) for message in reversed(said)]


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= CHARACTERS_OF_EACH else f"{words[:CHARACTERS_OF_EACH]}…"


def _quotes(conversation: Conversation) -> list[RefundQuote]:
    rows = RefundQuote.objects.filter(conversation_ref=str(conversation.pk), order_id=conversation.order_id)
    newest = rows.prefetch_related("lines__line_item").order_by("-created_at", "-pk")[:MOST_OF_A_KIND]
    return list(reversed(newest))


def _goods(quotes: Iterable[RefundQuote]) -> list[str]:
    return list(dict.fromkeys(_line(line) for quote in quotes for line in quote.lines.all()))


def _line(line: QuoteLine) -> str:
    return f"{line.line_item.name} × {line.quantity}"


def _quote(quote: RefundQuote) -> str:
    amount = format_money(quote.amount, quote.currency)
    return aside(f"{quote.pk} {quote.get_action_display()} {amount}", quote_state_words(quote))


def _open_cards(conversation: Conversation) -> list[Card]:
    return list(conversation.cards.filter(state=CardState.OPEN).order_by("created_at"))


def _card(card: Card) -> str:
    shown = card.payload.get("display", "")
    return " ".join(filter(None, [str(card.get_kind_display()), shown]))


def _refunds(order: Order) -> list[str]:
    oldest_first = reversed(selectors.refunds_shown_to_customer(order))
    return [aside(f"{row.pk} {format_money(row.amount, row.currency)}", state_text(row)) for row in oldest_first]


def _returns(order: Order) -> list[str]:
    oldest_first = reversed(selectors.returns_of(order))
    return [aside(f"{row.pk} {row.get_kind_display()}", return_text(row)) for row in oldest_first]
