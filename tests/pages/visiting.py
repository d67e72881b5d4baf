"""Who visits the pages in these tests, and how they say and press things without a browser."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from agent import cards, events, intake
from agent.models import Card, Conversation
from agent.states import CardKind
from agent.tools.base import CardSpec
from orders.actors import customer_actor
from orders.models import Order
from orders.tests import cast
from refunds import quotes
from refunds.models import RefundQuote
from refunds.states import Asker

JSON = {"Accept": "application/json"}
ENGLISH = {"Accept-Language": "en"}


def signed_in(name: str, *, language: str = "zh-TW", **options: Any) -> Client:
    """A browser in which one of the cast has signed in."""
    client = Client(headers={"Accept-Language": language, "Accept": "text/html"}, **options)
    client.force_login(cast.customer_user(name) if name in cast.WITH_ACCOUNT else cast.staff_user(name))
    return client


def program(name: str, **options: Any) -> Client:
    """A program that talks to the API with the session of one of the cast."""
    client = Client(headers=JSON, **options)
    client.force_login(cast.staff_user(name))
    return client


def stranger(language: str = "zh-TW") -> Client:
    return Client(headers={"Accept-Language": language, "Accept": "text/html"})


def said(order: Order, text: str = "哈囉", *, language: str = "zh-hant") -> Conversation:
    """The customer has said something; the conversation it is in."""
    return intake.say(order=order, customer=order.customer, text=text, language=language).conversation


def quoted(order: Order, *lines: Mapping[str, Any]) -> RefundQuote:
    """A quote that the customer may confirm: the case of order 5531, if nothing else is said."""
    asked = list(lines) or [{"line_item_id": "li_2", "quantity": 1, "reason": "late_delivery"}]
    return quotes.ask(
        order=order,
        choices=quotes.parse_choices({"lines": asked}),
        actor=customer_actor(order.customer),
        asker=Asker.CUSTOMER,
        asker_ref="the customer",
    )


def refund_card(order: Order) -> Card:
    conversation = said(order)
    quote = quoted(order)
    return _card(conversation, CardSpec(kind=CardKind.REFUND, quote=quote, expires_at=quote.expires_at))


def exchange_card(order: Order, *, minutes: int = 15) -> Card:
    lines = [{"line_item_id": "li_1", "name": "藍牙耳機", "quantity": 1, "reason": "defective"}]
    chosen = [{key: line[key] for key in ("line_item_id", "quantity", "reason")} for line in lines]
    ends = timezone.now() + timedelta(minutes=minutes)
    payload = {"exchange_lines": chosen, "lines": lines}
    return _card(said(order), CardSpec(kind=CardKind.EXCHANGE, expires_at=ends, payload=payload))


def _card(conversation: Conversation, spec: CardSpec) -> Card:
    with events.writing(conversation.pk) as locked:
        return cards.open_card(conversation=locked, call=None, spec=spec)


def text_of(answer: Any) -> str:
    return str(answer.content.decode())
