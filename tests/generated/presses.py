"""Presses on the cards of a conversation, made over HTTP: the customer's own, and those that must come to nothing.

What a press of the customer's has changed is held against what the card on the page said, row by row.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.test import Client
from django.utils import timezone

from agent.models import Card
from agent.states import CardKind, CardState
from orders.tests import cast
from refunds.models import RefundQuote
from tests.generated import rows
from tests.generated.rows import Row, Rows

JSON: Final = {"accept": "application/json"}
# A model may ask and propose; what was asked and proposed is no deed.
NO_DEED: Final = frozenset({"refunds_refundquote", "refunds_quoteline", "refunds_approval", "orders_auditevent"})
UNITS: Final[Mapping[str, tuple[str, ...]]] = {
    CardKind.REFUND: ("cancelled_quantity", "refunded_quantity"),
    CardKind.RETURN: ("returning_quantity",),
    CardKind.EXCHANGE: ("exchanging_quantity",),
    CardKind.RESEND: ("resending_quantity",),
    CardKind.ADDRESS: (),
}
_RETURN: Final = frozenset({"refunds_return", "refunds_returnline", "orders_shipmentline"})
_SENT_AGAIN: Final = frozenset(
    {"refunds_replacement", "refunds_replacementline", "orders_shipmentline", "orders_product"}
)
TOUCHED: Final[Mapping[str, frozenset[str]]] = {
    CardKind.REFUND: frozenset(
        {
            "refunds_refund",
            "refunds_refundallocation",
            "orders_lineitem",
            "orders_shipmentline",
            "orders_payment",
        }
    ),
    CardKind.RETURN: _RETURN,
    CardKind.EXCHANGE: _RETURN | _SENT_AGAIN,
    CardKind.RESEND: _SENT_AGAIN,
    CardKind.ADDRESS: frozenset({"orders_order"}),
}
# Of a row that was there before, what a press may change at all.
FIELDS: Final = frozenset({"refunded_amount", "reserved", "shipping_address"}).union(*UNITS.values())
TOLD_TO_THE_SHOP: Final = "orders_orderannouncement"
Problems = list[str]


@dataclass(frozen=True, slots=True)
class Pages:
    """Browsers without a screen. `strict`: the customer's own session, in a form of somebody else's site."""

    customer: Client
    strict: Client
    another: Client
    auditor: Client
    nobody: Client


def open_pages() -> Pages:
    customer, strict, another, auditor = Client(), Client(enforce_csrf_checks=True), Client(), Client()
    customer.force_login(cast.customer_user("ming"))
    strict.force_login(cast.customer_user("ming"))
    another.force_login(cast.customer_user("ming2"))
    auditor.force_login(cast.staff_user("auditor"))
    return Pages(customer, strict, another, auditor, Client())


def moved(before: Rows, after: Rows) -> dict[str, list[Row]]:
    """Rows of money and goods that are not as they were."""
    return {table: found for table, found in rows.differing(before, after).items() if table not in NO_DEED}


def press_all(dice: random.Random, pages: Pages, number: str, foreign_quote: str) -> tuple[list[str], Problems]:
    """Everybody presses what is open, most of them in vain; what was done, and what was wrong about it."""
    done, wrong = [], list[str]()
    for card in Card.objects.filter(conversation__order__number=number, state=CardState.OPEN):
        before = rows.read()
        for name, press in dice.sample(sorted(IN_VAIN.items()), 3):
            answer = press(pages, card, foreign_quote)
            done.append(name)
            if answer.status_code < 400 and not answer.get("Location", "").startswith("/accounts/login/"):
                wrong.append(f"{name}: answered with {answer.status_code}")
        wrong += [f"in vain: {table} changed" for table in moved(before, rows.read())]
        name = list(OWN)[Card.objects.filter(created_at__lt=card.created_at).count() % len(OWN)]
        done.append(name)
        wrong += OWN[name](pages, card, before)
    return done, wrong


def address_of(card: Card, verb: str = "confirm") -> str:
    number = card.conversation.order.number
    return (
        f"/refunds/quotes/{card.quote_id}/{verb}/"
        if card.quote_id
        else f"/orders/{number}/chat/cards/{card.pk}/{verb}/"
    )


# --- presses that must come to nothing ---


def _forged(pages: Pages, card: Card, foreign_quote: str) -> Any:
    return pages.customer.post("/refunds/quotes/rq_00000000000000000000/confirm/", headers=JSON)


def _foreign(pages: Pages, card: Card, foreign_quote: str) -> Any:
    return pages.customer.post(f"/refunds/quotes/{foreign_quote}/confirm/", headers=JSON)


def _forged_card(pages: Pages, card: Card, foreign_quote: str) -> Any:
    return pages.customer.post(f"/orders/{card.conversation.order.number}/chat/cards/cd_forged/confirm/", headers=JSON)


def _another_customer(pages: Pages, card: Card, foreign_quote: str) -> Any:
    return pages.another.post(address_of(card), headers=JSON)


def _auditor(pages: Pages, card: Card, foreign_quote: str) -> Any:
    return pages.auditor.post(address_of(card), headers=JSON)


def _nobody(pages: Pages, card: Card, foreign_quote: str) -> Any:
    return pages.nobody.post(address_of(card), headers=JSON)


def _from_elsewhere(pages: Pages, card: Card, foreign_quote: str) -> Any:
    return pages.strict.post(address_of(card), headers=JSON)


def _by_link(pages: Pages, card: Card, foreign_quote: str) -> Any:
    return pages.customer.get(address_of(card), headers=JSON)


IN_VAIN: Final[Mapping[str, Callable[[Pages, Card, str], Any]]] = {
    "a forged quote": _forged,
    "another customer's quote": _foreign,
    "a forged card": _forged_card,
    "another customer": _another_customer,
    "an auditor": _auditor,
    "nobody signed in": _nobody,
    "a form of another site": _from_elsewhere,
    "a link": _by_link,
}


# --- the customer's own presses ---


def _confirm(pages: Pages, card: Card, before: Rows) -> Problems:
    """What it changes is what the card says; refused, it changes nothing."""
    answer = pages.customer.post(address_of(card), headers=JSON)
    after = rows.read()
    if answer.status_code >= 400:
        return [f"refused, and {table} changed" for table in moved(before, after)]
    return beside_the_card(card, before, after)


def _twice(pages: Pages, card: Card, before: Rows) -> Problems:
    wrong = _confirm(pages, card, before)
    once = rows.read()
    pages.customer.post(address_of(card), headers=JSON)
    return wrong + [f"pressed again, and {table} changed" for table in moved(once, rows.read())]


def _decline(pages: Pages, card: Card, before: Rows) -> Problems:
    pages.customer.post(address_of(card, "decline"), headers=JSON)
    pages.customer.post(address_of(card), headers=JSON)
    return [f"declined, and {table} changed" for table in moved(before, rows.read())]


def _late(pages: Pages, card: Card, before: Rows) -> Problems:
    over = timezone.now() - timedelta(minutes=1)
    Card.objects.filter(pk=card.pk).update(expires_at=over)
    RefundQuote.objects.filter(pk=card.quote_id).update(expires_at=over)
    pages.customer.post(address_of(card), headers=JSON)
    return [f"pressed too late, and {table} changed" for table in moved(before, rows.read())]


def _leave(pages: Pages, card: Card, before: Rows) -> Problems:
    return []


OWN: Final[Mapping[str, Callable[[Pages, Card, Rows], Problems]]] = {
    "confirm": _confirm,
    "confirm twice": _twice,
    "decline": _decline,
    "late": _late,
    "leave": _leave,
}


# --- what a press stands for ---


def beside_the_card(card: Card, before: Rows, after: Rows) -> Problems:
    """What differs that the card did not say, and what it said that did not come about."""
    found = moved(before, after)
    order_id = card.conversation.order_id
    wrong = [f"{card.kind} changed {table}" for table in found.keys() - TOUCHED[card.kind] - {TOLD_TO_THE_SHOP}]
    wrong += [
        f"{table} of another order changed"
        for table, changed in found.items()
        if any(row.get("order_id", order_id) != order_id for row in changed)
    ]
    return (
        wrong
        + _fields(found, before)
        + _money(card, found, before)
        + _units(card, before, after)
        + _places(card, after)
    )


def _fields(found: Mapping[str, list[Row]], before: Rows) -> Problems:
    """Rows that were there before and have changed in anything but what is counted."""
    changed = [
        f"{table}.{name}"
        for table, rows_now in found.items()
        for row in rows_now
        for was in [rows.by_id(before[table]).get(row["id"], row)]
        for name in row
        if row[name] != was[name]
    ]
    return [f"{name} changed" for name in changed if name.rpartition(".")[2] not in FIELDS]


def _money(card: Card, found: Mapping[str, list[Row]], before: Rows) -> Problems:
    """One refund of the amount on the button, held against payments to the last dollar; or none at all."""
    is_refund = card.kind == CardKind.REFUND
    said = [(card.quote_id, card.payload["amount"])] if is_refund else []
    made = [(row["quote_id"], row["amount"]) for row in found.get("refunds_refund", [])]
    amount = sum(amount for _, amount in said)
    parts = sum(row["amount"] for row in found.get("refunds_refundallocation", []))
    was = rows.by_id(before["orders_payment"])
    held = sum(row["refunded_amount"] - was[row["id"]]["refunded_amount"] for row in found.get("orders_payment", []))
    wrong = [f"{name} of {got}, said {amount}" for name, got in (("parts", parts), ("held", held)) if got != amount]
    return wrong if made == said else [*wrong, f"refunds {made}, said {said}"]


def _units(card: Card, before: Rows, after: Rows) -> Problems:
    """By line: so many more units are held or gone, and of no line that the card does not name."""
    said: dict[str, int] = {}
    for line in card.payload["lines"]:
        said[line["line_item_id"]] = said.get(line["line_item_id"], 0) + line["quantity"]
    names = {
        row["id"]: row["line_item_id"]
        for row in after["orders_lineitem"]
        if row["order_id"] == card.conversation.order_id
    }
    more: dict[str, int] = {}
    for table, key in (("orders_lineitem", "id"), ("orders_shipmentline", "line_item_id")):
        was = rows.by_id(before[table])
        for row in after[table]:
            moved_units = sum(row[name] - was[row["id"]][name] for name in UNITS[card.kind] if name in row)
            if moved_units:
                line = names.get(row[key], f"line {row[key]} of another order")
                more[line] = more.get(line, 0) + moved_units
    return [] if more == said else [f"units {more}, said {said}"]


def _places(card: Card, after: Rows) -> Problems:
    if card.kind != CardKind.ADDRESS:
        return []
    (order,) = [row for row in after["orders_order"] if row["id"] == card.conversation.order_id]
    return [] if order["shipping_address"] == card.payload["address"] else ["sent to another place than the card said"]
