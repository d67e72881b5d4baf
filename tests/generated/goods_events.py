"""What may happen to goods: they are sold, packed, moved, asked for, sent back, exchanged and sent again."""

from dataclasses import replace
from functools import partial
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import initialize

from orders.errors import Refusal
from orders.ingest import take_in
from orders.models import Order
from orders.products import take_in_product
from orders.shipments import upsert_shipment
from orders.tests import cast
from refunds import (
    acceptance,
    ending,
    quotes,
    redeem,
    replacements,
    resend,
    returns,
)
from refunds.choices import LineChoice
from refunds.goods import UnitGroup
from refunds.states import Asker, FoundState
from tests.generated.bodies import CATEGORIES, PRICES, REASONS, Sold, body_of, numbers, orders, payments_of, sku
from tests.generated.life import Life, event, has, has_units, stories

MAX_ORDERS: Final = 2
Wanted = list[tuple[int, int, str]]
ACTIONS: Final = {"unfulfilled": "cancel", "lost": "lost", "delivered": "return"}
few = st.integers(1, 3)
states = st.sampled_from(["packed", "shipped", "delivered", "delivered", "delivered", "lost"])
parcels = st.lists(states, min_size=1, max_size=3)
picks = st.lists(st.tuples(numbers, few, st.sampled_from(REASONS)), min_size=1, max_size=3)
askers = st.sampled_from(["owner", "owner", "owner", "staff", "supervisor", "ming2"])
findings: st.SearchStrategy[list[str]] = st.just([]) | st.lists(
    st.sampled_from([*FoundState, *["accepted"] * 6]), max_size=6
)


class GoodsEvents(Life):
    """Sensible or not; `Life.attempt` looks at what became of it."""

    @initialize(
        stock=st.lists(st.none() | st.integers(0, 3), min_size=4, max_size=4),
        sold=orders(),
        states=parcels,
        themes=stories(),
    )
    def open_shop(self, stock: list[int | None], sold: Sold, states: list[str], themes: list[str]) -> None:
        """An order of which some lines have left already, so that there is something to send back."""
        self.stories = themes
        for name, pieces in zip(PRICES[sold.currency], stock, strict=True):
            self.stock_up(sold.currency, name, pieces)
        self.sell(sold, "ming")
        for line, state in zip(self.now["orders_lineitem"], states, strict=False):
            some = [{"line_item_id": line["line_item_id"], "quantity": 1 + line["quantity"] // 2}]
            self.move(self.order(0), {"external_id": line["line_item_id"], "state": state, "lines": some})

    def move(self, order: Order, body: dict[str, Any]) -> None:
        self.attempt(partial(upsert_shipment, order=order, body=body, actor=self.people["warehouse"]))

    def stock_up(self, currency: str, name: str, pieces: int | None) -> None:
        price = PRICES[currency][name]
        facts = {"sku": sku(currency, name), "name": name, "price": price, "currency": currency, "stock": pieces}
        self.attempt(partial(take_in_product, body={**facts, "category": CATEGORIES[name]}, actor=cast.SHOP))

    @event(
        lambda life: len(life.now["orders_order"]) < MAX_ORDERS, sold=orders(), who=st.sampled_from(["ming", "ming2"])
    )
    def sell(self, sold: Sold, who: str) -> None:
        """Take-in says what an order costs by refusing one that nobody has paid."""
        body = body_of(sold, f"9{len(self.now['orders_order'])}", cast.CUSTOMERS[who], [])
        try:
            take_in(body=body, actor=cast.SHOP)
        except Refusal as refusal:
            body["payments"] = payments_of(sold, refusal.details["price"])
        self.attempt(partial(take_in, body=body, actor=cast.SHOP))

    # --- goods ---------------------------------------------------------------------------------------------------

    @event(has_units("unfulfilled"), weight=2, number=numbers, wanted=picks, state=states)
    def pack(self, number: int, wanted: Wanted, state: str) -> None:
        """Into a new parcel, which may be anywhere by now."""
        order, chosen = self.choices(number, wanted, "unfulfilled")
        lines = [{"line_item_id": choice.line_item_id, "quantity": choice.quantity} for choice in chosen]
        body = {"external_id": f"parcel:{self.tried}", "state": state, "lines": lines}
        self.move(order, body)

    @event(
        has("orders_shipment", "packed", "shipped", "lost"),
        weight=2,
        number=numbers,
        state=st.sampled_from(["shipped", "delivered", "delivered", "lost"]),
    )
    def move_parcel(self, number: int, state: str) -> None:
        parcel = self.pick("orders_shipment", number, "packed", "shipped", "lost")
        body = {"external_id": parcel["external_id"], "state": state}
        self.move(Order.objects.get(pk=parcel["order_id"]), body)

    # --- asking and pressing -------------------------------------------------------------------------------------

    def choices(self, number: int, wanted: Wanted, *states: str) -> tuple[Order, list[LineChoice]]:
        """Units in the state of the first one picked, as many as there are at most; at times more, or some twice."""
        there = [group for group in self.units if group.state in states]
        first = there[number % len(there)]
        order_id, state = first.line.order_id, first.state
        fitting = [group for group in there if (group.line.order_id, group.state) == (order_id, state)]
        picked = {which % len(fitting) if which < 11 else which: (units, why) for which, units, why in wanted}
        chosen = [choice_of(fitting[which % len(fitting)], which, units, why) for which, (units, why) in picked.items()]
        return Order.objects.get(pk=order_id), chosen

    @event(has_units(*ACTIONS), number=numbers, wanted=picks, who=askers)
    def ask(self, number: int, wanted: Wanted, who: str) -> None:
        self.ask_for(number, wanted, who, *ACTIONS)

    def ask_for(self, number: int, wanted: Wanted, who: str, *states: str) -> Order:
        order, chosen = self.choices(number, wanted, *states)
        actor = self.actor(who, order.pk)
        asker = Asker.STAFF if actor.kind == "staff" else Asker.CUSTOMER
        ref = quotes.asker_ref(actor)
        self.attempt(partial(quotes.ask, order=order, choices=chosen, actor=actor, asker=asker, asker_ref=ref))
        return order

    @event(has("refunds_refundquote"), weight=2, number=numbers, who=askers)
    def press(self, number: int, who: str) -> None:
        quote = self.pick("refunds_refundquote", number, "open")
        actor = self.actor(who, quote["order_id"])
        self.attempt(partial(redeem.redeem, quote_id=quote["id"], actor=actor, note="說明"))

    @event(has_units(*ACTIONS), weight=3, number=numbers, wanted=picks)
    def ask_and_press(self, number: int, wanted: Wanted) -> None:
        """What customers do most of the time."""
        self.ask(number, wanted, "owner")
        self.press_the_newest()

    @event(has_units(*ACTIONS), weight=3, number=numbers)
    def give_all_of_it_back(self, number: int) -> None:
        """All units of an order that stand where the first one stands."""
        self.ask(number, [(which, 1000, "other") for which in range(11)], "owner")
        self.press_the_newest()

    def press_the_newest(self) -> None:
        if self.now["refunds_refundquote"]:
            quote = self.now["refunds_refundquote"][-1]
            actor = self.actor("owner", quote["order_id"])
            self.attempt(partial(redeem.redeem, quote_id=quote["id"], actor=actor))

    @event(has("refunds_refundquote", "open"), number=numbers, who=askers)
    def decline(self, number: int, who: str) -> None:
        quote = self.pick("refunds_refundquote", number, "open")
        self.attempt(partial(ending.decline, quote_id=quote["id"], actor=self.actor(who, quote["order_id"])))

    # --- goods on their way back ---------------------------------------------------------------------------------

    @event(has("refunds_return", "requested", "received"), number=numbers, found=findings)
    def receive(self, number: int, found: list[str]) -> None:
        request = self.pick("refunds_return", number, "requested")
        told = self.found_of(request["id"], found) if found else None
        self.attempt(partial(returns.receive, return_id=request["id"], actor=self.people["warehouse"], found=told))

    def found_of(self, return_id: str, found: list[str]) -> dict[str, dict[str, int]]:
        """One finding for every announced unit, in turn."""
        names = {line["id"]: line["line_item_id"] for line in self.now["orders_lineitem"]}
        told: dict[str, dict[str, int]] = {}
        kinds = (found[index % len(found)] for index in range(1000))
        for line in self.now["refunds_returnline"]:
            if line["return_request_id"] == return_id:
                counts = told.setdefault(names[line["line_item_id"]], {})
                for kind in (str(next(kinds)) for _ in range(line["quantity"])):
                    counts[kind] = counts.get(kind, 0) + 1
        return told

    @event(has("refunds_return", "requested"), weight=3, number=numbers, found=findings)
    def come_back(self, number: int, found: list[str]) -> None:
        """What becomes of most of them."""
        self.receive(number, found)
        self.accept(number, None)

    @event(has("refunds_return", "received"), weight=2, number=numbers, reason=st.none() | st.sampled_from(REASONS))
    def accept(self, number: int, reason: str | None) -> None:
        request = self.pick("refunds_return", number, "received")
        names = {line["id"]: line["line_item_id"] for line in self.now["orders_lineitem"]}
        lines = [line for line in self.now["refunds_returnline"] if line["return_request_id"] == request["id"]]
        found = {names[line["line_item_id"]]: reason for line in lines} if reason else None
        self.attempt(partial(acceptance.accept, return_id=request["id"], actor=self.people["warehouse"], found=found))

    @event(has("refunds_return", "requested", "received", "accepted"), weight=2, number=numbers)
    def reject(self, number: int) -> None:
        request = self.pick("refunds_return", number, "requested", "received", "accepted")
        self.attempt(partial(returns.reject, return_id=request["id"], actor=self.people["warehouse"], note="外盒不見"))

    @event(has("refunds_return", "requested"), weight=2, number=numbers, who=askers)
    def withdraw(self, number: int, who: str) -> None:
        request = self.pick("refunds_return", number, "requested")
        self.attempt(partial(returns.withdraw, return_id=request["id"], actor=self.actor(who, request["order_id"])))

    @event(
        has_units("delivered"),
        weight=2,
        number=numbers,
        wanted=picks,
        instead=st.none() | st.sampled_from("ABC"),
        who=askers,
    )
    def exchange(self, number: int, wanted: Wanted, instead: str | None, who: str) -> None:
        order, chosen = self.choices(number, wanted, "delivered")
        product_id = sku(order.currency, instead) if instead else None
        lines = [replace(choice, action="exchange", product_id=product_id) for choice in chosen]
        actor, ref = self.actor(who, order.pk), f"card:{self.tried}"
        self.attempt(partial(returns.request_exchange, order=order, lines=lines, actor=actor, request_ref=ref))

    @event(has_units("lost"), number=numbers, wanted=picks, who=askers)
    def send_again(self, number: int, wanted: Wanted, who: str) -> None:
        order, chosen = self.choices(number, wanted, "lost")
        actor, ref = self.actor(who, order.pk), f"resend:{self.tried}"
        self.attempt(partial(resend.resend, order=order, lines=chosen, actor=actor, request_ref=ref))

    @event(has("refunds_replacement", "reserved"), weight=3, number=numbers)
    def send_replacement(self, number: int) -> None:
        """Mostly one whose goods have come back, as an exchange's must."""
        accepted = {row["id"] for row in self.now["refunds_return"] if row["state"] == "accepted"}
        there = [row for row in self.now["refunds_replacement"] if row["state"] == "reserved"]
        ready = [row for row in there if row["return_request_id"] in {None, *accepted}]
        replacement = (ready or there)[number % len(ready or there)]
        self.attempt(partial(replacements.send, replacement_id=replacement["id"], actor=self.people["warehouse"]))

    @event(has("refunds_replacement", "reserved"), number=numbers)
    def release_replacement(self, number: int) -> None:
        replacement = self.pick("refunds_replacement", number, "reserved")
        actor = self.people["warehouse"]
        self.attempt(partial(replacements.release, replacement_id=replacement["id"], actor=actor, note="不寄了"))


def told(chosen: list[LineChoice]) -> list[dict[str, Any]]:
    return [{"line_item_id": choice.line_item_id, "quantity": choice.quantity} for choice in chosen]


def choice_of(group: UnitGroup, number: int, units: int, reason: str) -> LineChoice:
    quantity = units if number == 11 else min(units, group.quantity)
    return LineChoice(group.line.line_item_id, quantity, reason, ACTIONS.get(group.state))
