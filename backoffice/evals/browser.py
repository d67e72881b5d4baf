"""The customer's browser: signed in, it presses the same buttons, at the same addresses, as on the page."""

from functools import cache
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.test import Client

from agent.models import Card
from orders.models import Customer


@cache
def _client() -> Client:
    """One for all plays: to load the middleware anew for each would cost more than the play."""
    return Client(SERVER_NAME=settings.ALLOWED_HOSTS[0], HTTP_ACCEPT="application/json", raise_request_exception=False)


class Browser:
    """Presses answer with the status of the page and its body: a refusal is an answer, as for a customer."""

    def __init__(self, customer: Customer) -> None:
        assert customer.user is not None, "whoever presses is signed in"
        self.user = customer.user

    def press(self, card: Card) -> dict[str, Any]:
        return self._end(card, "confirm")

    def decline(self, card: Card) -> dict[str, Any]:
        return self._end(card, "decline")

    def press_quote(self, quote_id: str) -> dict[str, Any]:
        return self._post(f"/refunds/quotes/{quote_id}/confirm/")

    def _end(self, card: Card, how: str) -> dict[str, Any]:
        if card.quote_id:
            return self._post(f"/refunds/quotes/{card.quote_id}/{how}/")
        return self._post(f"/orders/{quote(card.conversation.order.number, safe='')}/chat/cards/{card.pk}/{how}/")

    def _post(self, path: str) -> dict[str, Any]:
        client = _client()
        client.force_login(self.user)
        answer = client.post(path)
        try:
            body = answer.json()
        except ValueError:
            body = {}
        return {"status": answer.status_code, **(body if isinstance(body, dict) else {})}
