"""Whatever happens in a shop, in any order, its books agree: a state machine on the real database and services.

Orders under random terms are packed, shipped, delivered and lost; people ask, press, refuse, send back, exchange,
withdraw, decide; the gateway refuses or falls silent; time passes. After every step all of `books.py` must hold, the
history must have told every move, and what was refused must have changed nothing. `EXAMPLES=500` searches further.

That the books notice what is wrong is shown in `test_the_books_notice.py`.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, run_state_machine_as_test

from orders import store_credit
from orders.errors import Refusal
from orders.ingest import take_in
from orders.models import Customer, Order
from orders.products import take_in_product
from orders.shipments import upsert_shipment
from orders.tests import cast
from refunds import (
    acceptance,
    approvals,
    by_hand,
    compensation,
    elsewhere,
    ending,
    overrides,
    policies,
    quotes,
    redeem,
    replacements,
    resend,
    retry,
    returns,
    tasks,
)
from refunds.choices import LineChoice
from refunds.goods import UnitGroup, unit_groups
from refunds.models import SimulatedFault
from refunds.states import Asker, FaultKind, FoundState
from tests.generated import rows
from tests.generated.bodies import CATEGORIES, PRICES, REASONS, Sold, body_of, numbers, orders, payments_of, sku
from tests.generated.books import CHECKS
from tests.generated.life import OF_UNITS, Life, always, event, has, has_units

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES: Final = int(os.environ.get("EXAMPLES") or "0")
# A failing life is told as it was found. To make it shorter takes many lives more, so only who searches waits for that.
PHASES: Final = [Phase.generate, *([Phase.shrink] if EXAMPLES else [])]
GENERATED: Final = settings(
    max_examples=EXAMPLES or 25,
    stateful_step_count=30,
    derandomize=not EXAMPLES,
    phases=PHASES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
MAX_ORDERS: Final = 2
Wanted = list[tuple[int, int, str]]
ACTIONS: Final = {"unfulfilled": "cancel", "lost": "lost", "delivered": "return"}
few = st.integers(1, 3)
states = st.sampled_from(["packed", "shipped", "delivered", "delivered", "delivered", "lost"])
parcels = st.lists(states, max_size=3)
picks = st.lists(st.tuples(numbers, few, st.sampled_from(REASONS)), min_size=1, max_size=3)
askers = st.sampled_from(["owner", "owner", "owner", "staff", "supervisor", "ming2"])
findings: st.SearchStrategy[list[str]] = st.just([]) | st.lists(
    st.sampled_from([*FoundState, *["accepted"] * 6]), max_size=6
)
jobs = st.sampled_from(["compensate", "restock", "spend", "publish", *FaultKind, "refuse", "timeout_after"])
new_rules = st.fixed_dictionaries(
    {},
    optional={
        "return_fee": st.sampled_from([0, 10, 100]),
        "tender_order": st.sampled_from([["store_credit", "*"], ["*", "card"]]),
        "excluded_categories": st.sampled_from([[], ["underwear"]]),
        "approval_above": st.sampled_from([0, 100]),
        "compensation_cap": st.sampled_from([0, 60]),
    },
)
deciders = st.sampled_from(["supervisor", "admin", "admin", "staff"])


class AShopsLife(Life):
    """Rules try what people may want, sensible or not; `Life.attempt` looks at what became of it."""

    @initialize(stock=st.lists(st.none() | st.integers(0, 3), min_size=4, max_size=4), sold=orders(), states=parcels)
    def open_shop(self, stock: list[int | None], sold: Sold, states: list[str]) -> None:
        """An order of which some lines have left already, so that there is something to send back."""
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
        number = f"9{len(self.now['orders_order'])}"
        body = body_of(sold, number, cast.CUSTOMERS[who], [])
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
        weight=3,
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
        chosen = [_choice(fitting[which % len(fitting)], which, units, why) for which, (units, why) in picked.items()]
        return Order.objects.get(pk=order_id), chosen

    @event(has_units(*ACTIONS), weight=2, number=numbers, wanted=picks, who=askers)
    def ask(self, number: int, wanted: Wanted, who: str) -> None:
        order, chosen = self.choices(number, wanted, *ACTIONS)
        actor = self.actor(who, order.pk)
        asker = Asker.STAFF if actor.kind == "staff" else Asker.CUSTOMER
        ref = quotes.asker_ref(actor)
        self.attempt(partial(quotes.ask, order=order, choices=chosen, actor=actor, asker=asker, asker_ref=ref))

    @event(has("refunds_refundquote"), weight=3, number=numbers, who=askers)
    def press(self, number: int, who: str) -> None:
        quote = self.pick("refunds_refundquote", number, "open")
        actor = self.actor(who, quote["order_id"])
        self.attempt(partial(redeem.redeem, quote_id=quote["id"], actor=actor, note="說明"))

    @event(has_units(*ACTIONS), weight=3, number=numbers, wanted=picks)
    def ask_and_press(self, number: int, wanted: Wanted) -> None:
        """What customers do most of the time."""
        self.ask(number, wanted, "owner")
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

    @event(has("refunds_return", "requested"), weight=4, number=numbers, found=findings)
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

    @event(has("refunds_return", "requested", "received", "accepted"), number=numbers)
    def reject(self, number: int) -> None:
        request = self.pick("refunds_return", number, "requested", "received", "accepted")
        self.attempt(partial(returns.reject, return_id=request["id"], actor=self.people["warehouse"], note="外盒不見"))

    @event(has("refunds_return", "requested"), number=numbers, who=askers)
    def withdraw(self, number: int, who: str) -> None:
        request = self.pick("refunds_return", number, "requested")
        self.attempt(partial(returns.withdraw, return_id=request["id"], actor=self.actor(who, request["order_id"])))

    @event(
        has_units("delivered"),
        weight=3,
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

    @event(has_units("lost"), weight=2, number=numbers, wanted=picks, who=askers)
    def send_again(self, number: int, wanted: Wanted, who: str) -> None:
        order, chosen = self.choices(number, wanted, "lost")
        actor, ref = self.actor(who, order.pk), f"resend:{self.tried}"
        self.attempt(partial(resend.resend, order=order, lines=chosen, actor=actor, request_ref=ref))

    @event(has("refunds_replacement", "reserved"), weight=4, number=numbers)
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

    # --- deciding ------------------------------------------------------------------------------------------------

    @event(has("refunds_approval", "waiting"), weight=3, number=numbers, yes=st.booleans(), who=deciders)
    def decide(self, number: int, yes: bool, who: str) -> None:
        approval = self.pick("refunds_approval", number, "waiting")
        do = approvals.approve if yes else approvals.reject
        self.attempt(partial(do, approval_id=approval["id"], actor=self.people[who], reason="說明"))

    def compensate(self, number: int) -> None:
        amount = [1, 50, 50, 100, 100, 250, 250, 299, 299, 299, 299, 10**6][number]
        facts: dict[str, Any] = {"order": self.order(number), "amount": amount, "reason": "等太久"}
        who = self.people["supervisor" if number % 3 else "staff"]
        self.attempt(partial(compensation.propose, **facts, actor=who, request_ref=f"goodwill:{self.tried}"))

    @event(has_units("window_over"), number=numbers, wanted=picks)
    def ask_for_an_exception(self, number: int, wanted: Wanted) -> None:
        order, chosen = self.choices(number, wanted, "window_over")
        self.attempt(partial(overrides.ask, order=order, choices=chosen, reason="熟客", actor=self.people["staff"]))

    # --- money ---------------------------------------------------------------------------------------------------

    @event(has("refunds_refund", "pending"), weight=3, number=numbers)
    def send(self, number: int) -> None:
        refund = self.pick("refunds_refund", number, "pending")
        self.attempt(partial(tasks.send_refund, refund["id"]))

    @event(has("refunds_refund", "failed"), weight=3, number=numbers, payment=st.none() | numbers)
    def send_once_more(self, number: int, payment: int | None) -> None:
        refund = self.pick("refunds_refund", number, "failed")
        payments = self.of(refund["order_id"], "orders_payment")
        target = None if payment is None else payments[payment % len(payments)]["id"]
        self.attempt(partial(retry.retry, refund_id=refund["id"], actor=self.people["supervisor"], payment_id=target))

    @event(has("refunds_refund", "failed"), number=numbers, who=deciders)
    def pay_by_hand(self, number: int, who: str) -> None:
        """What the gateway refuses, a person may have paid in another way."""
        refund = self.pick("refunds_refund", number, "failed")
        facts: dict[str, Any] = {"refund_id": refund["id"], "external_ref": f"transfer {self.tried}", "note": "轉帳"}
        self.attempt(partial(by_hand.paid_by_hand, **facts, actor=self.people[who]))

    @event(always, seconds=st.sampled_from([10, 60, 60, 20 * 60, 86_400, 8 * 86_400, 15 * 86_400]), sweep=st.booleans())
    def time_passes(self, seconds: int, sweep: bool) -> None:
        self.attempt(partial(rows.time_passes, seconds))
        if sweep:
            self.attempt(tasks.sweep)

    @event(
        has_units("unfulfilled", "delivered", "window_over", "lost"), number=numbers, wanted=picks, named=st.booleans()
    )
    def pay_elsewhere(self, number: int, wanted: Wanted, named: bool) -> None:
        """A person has given money back by hand, and says for which goods, or does not."""
        order, chosen = self.choices(number, wanted, "unfulfilled", "delivered", "window_over", "lost")
        payments = self.of(order.pk, "orders_payment")
        if not payments:
            return
        payment = payments[number % len(payments)]
        amount = 1 + (payment["amount"] - payment["refunded_amount"]) * number // 11
        body = {"external_ref": f"by hand {self.tried}", "amount": amount, "payment_id": payment["id"], "note": "轉帳"}
        if named:
            body["lines"] = _told(chosen)
        self.attempt(partial(elsewhere.record, order=order, body=body, actor=self.people["supervisor"]))

    @event(lambda life: any(row["needs_assignment"] for row in life.now["refunds_refund"]), weight=4, wanted=picks)
    def say_for_what(self, wanted: Wanted) -> None:
        refund = next(row for row in self.now["refunds_refund"] if row["needs_assignment"])
        there = [group for group in self.units if group.line.order_id == refund["order_id"]]
        lines = [_choice(there[number % len(there)], number, units, why) for number, units, why in wanted[:1]]
        facts: dict[str, Any] = {"lines": _told(lines), "actor": self.people["supervisor"], "note": "對帳"}
        self.attempt(partial(elsewhere.assign, refund_id=refund["id"], **facts))

    # --- what the shop does besides ------------------------------------------------------------------------------

    @event(always, weight=2, job=jobs, number=numbers, changes=new_rules)
    def odd_jobs(self, job: str, number: int, changes: dict[str, Any]) -> None:
        if job == "compensate":
            self.compensate(number)
        elif job == "restock":
            self.restock(number)
        elif job == "spend":
            self.spend_store_credit(number)
        elif job == "publish":
            self.publish(self.order(number).currency, changes)
        elif not any(fault["remaining"] for fault in self.now["refunds_simulatedfault"]):
            SimulatedFault.objects.create(kind=job, remaining=1 + number % 2, seconds=0)
            self.now = rows.read()

    def restock(self, number: int) -> None:
        counted = [row for row in self.now["orders_product"] if row["stock"] is not None]
        for product in counted[number : number + 1]:
            self.stock_up(product["currency"], product["name"], product["stock"] + 1)

    def spend_store_credit(self, number: int) -> None:
        """At a checkout, which takes at times more than there is."""
        for account in self.now["orders_storecreditaccount"][number % 2 :]:
            customer = Customer.objects.get(pk=account["customer_id"])
            amount = -1 - account["balance"] * number // 10
            facts: dict[str, Any] = {"customer": customer, "currency": account["currency"], "amount": amount}
            reference = f"checkout:{self.tried}"
            self.attempt(partial(store_credit.post, **facts, kind="spent", reference=reference, actor=cast.SHOP))

    def publish(self, currency: str, changes: dict[str, Any]) -> None:
        """Drafted and edited by one person, published by another."""
        if len([row for row in self.now["refunds_refundpolicy"] if row["currency"] == currency]) > 2:
            return
        who = self.people["supervisor"]
        self.attempt(partial(policies.draft, currency=currency, actor=who))
        version = max(row["version"] for row in self.now["refunds_refundpolicy"] if row["currency"] == currency)
        facts: dict[str, Any] = {"currency": currency, "version": version}
        self.attempt(partial(policies.edit, **facts, body=changes, actor=who))
        soon = timezone.now() + timedelta(minutes=6)
        self.attempt(partial(policies.publish, **facts, in_force_from=soon, actor=who))
        self.attempt(partial(policies.publish, **facts, in_force_from=soon, actor=self.people["admin"]))

    # --- what must always hold -----------------------------------------------------------------------------------

    @invariant()
    def the_books_agree(self) -> None:
        for check in CHECKS:
            check(self.now)

    @invariant()
    def the_history_tells_every_move(self) -> None:
        self.history.follow(self.now)

    @invariant()
    def every_unit_stands_somewhere(self) -> None:
        there = {table: rows_now for table, rows_now in self.now.items() if table in OF_UNITS}
        if there == self.of_units:
            return
        self.of_units = there
        orders = Order.objects.order_by("pk")
        self.units = [group for order in orders for group in unit_groups(order, now=timezone.now())]
        for line in self.now["orders_lineitem"]:
            units = [group.quantity for group in self.units if group.line.pk == line["id"]]
            assert all(quantity > 0 for quantity in units)
            assert sum(units) == line["quantity"]


def _told(chosen: list[LineChoice]) -> list[dict[str, Any]]:
    return [{"line_item_id": choice.line_item_id, "quantity": choice.quantity} for choice in chosen]


def _choice(group: UnitGroup, number: int, units: int, reason: str) -> LineChoice:
    quantity = units if number == 11 else min(units, group.quantity)
    return LineChoice(group.line.line_item_id, quantity, reason, ACTIONS.get(group.state))


@pytest.fixture(autouse=True)
def policies_are_kept() -> Iterator[None]:
    rows.keep_policies()
    yield
    rows.clear()
    rows.forget_policies()


@pytest.mark.timeout(0 if EXAMPLES else 300)
def test_whatever_happens_in_a_shop_its_books_agree() -> None:
    run_state_machine_as_test(AShopsLife, settings=GENERATED)
