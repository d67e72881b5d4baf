"""A customer's talk over HTTP, for flows that need no browser."""

from typing import Any

from backoffice.local.stack import Stack
from tests.browser.orders_for_tests import another_5531
from tests.stack import Visitor, rows, wait_until

SENTENCE = "耳機左耳沒聲音，耳機殼也還沒寄到，我不想等了"


def say(customer: Visitor, number: str, text: str = SENTENCE) -> None:
    answer = customer.post(f"/orders/{number}/chat/messages/", {"text": text}, headers={"Accept": "application/json"})
    assert answer.status_code == 202, answer.text


def cards(stack: Stack, number: str) -> dict[str, dict[str, Any]]:
    """The newest card of each kind on the order's page."""
    found = rows(
        stack,
        "select k.id, k.kind, k.state, k.quote_id, k.payload from agent_card k "
        "join agent_conversation c on c.id = k.conversation_id join orders_order o on o.id = c.order_id "
        "where o.number = %s order by k.created_at",
        number,
    )
    return {row["kind"]: row for row in found}


def open_refund_card(stack: Stack, number: str, timeout: float = 60) -> dict[str, Any]:
    """Wait for the card of the refund to be there and open."""

    def is_open() -> dict[str, Any] | None:
        card = cards(stack, number).get("refund")
        return card if card and card["state"] == "open" else None

    return wait_until(is_open, timeout=timeout)


def refund_of(stack: Stack, number: str) -> dict[str, Any] | None:
    found = rows(
        stack,
        "select r.id, r.amount, r.state, p.id as payment_id from refunds_refund r "
        "join orders_order o on o.id = r.order_id join orders_payment p on p.order_id = o.id where o.number = %s",
        number,
    )
    assert len(found) <= 1, found
    return found[0] if found else None


def paid_out(stack: Stack, number: str) -> list[int]:
    """What the gateway's own ledger has really paid out for the order."""
    found = rows(
        stack,
        "select s.amount from refunds_simulatedrefund s join orders_payment p on p.id = s.charge_ref "
        "join orders_order o on o.id = p.order_id where o.number = %s",
        number,
    )
    return [row["amount"] for row in found]


def confirm(customer: Visitor, quote_id: str) -> None:
    answer = customer.post(f"/refunds/quotes/{quote_id}/confirm/", headers={"Accept": "application/json"})
    assert answer.status_code in {200, 201}, answer.text


__all__ = ["SENTENCE", "another_5531", "cards", "confirm", "open_refund_card", "paid_out", "refund_of", "say"]
