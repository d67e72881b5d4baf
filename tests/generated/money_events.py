"""What may happen to money and to the rules: decisions, compensation, payments here and elsewhere, faults, time."""

from datetime import timedelta
from functools import partial
from typing import Any

from django.utils import timezone
from hypothesis import strategies as st

from orders import store_credit
from orders.models import Customer, Order
from orders.tests import cast
from refunds import approvals, by_hand, compensation, elsewhere, overrides, policies, retry, tasks
from refunds.history import policy_for
from refunds.models import SimulatedFault
from refunds.states import FaultKind
from tests.generated import books, rows
from tests.generated.bodies import numbers
from tests.generated.goods_events import GoodsEvents, Wanted, choice_of, picks, told
from tests.generated.life import always, event, has, has_units

jobs = st.sampled_from(["restock", "spend", "publish", *FaultKind, "refuse", "timeout_after"])
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
deciders = st.sampled_from(["supervisor", "admin", "admin", "admin", "staff"])


class MoneyEvents(GoodsEvents):
    """Sensible or not; `Life.attempt` looks at what became of it."""

    # --- deciding ------------------------------------------------------------------------------------------------

    @event(
        has("refunds_approval", "waiting"),
        weight=3,
        number=numbers,
        yes=st.sampled_from([True, True, False]),
        who=deciders,
    )
    def decide(self, number: int, yes: bool, who: str) -> None:
        approval = self.pick("refunds_approval", number, "waiting")
        do = approvals.approve if yes else approvals.reject
        self.attempt(partial(do, approval_id=approval["id"], actor=self.people[who], reason="說明"))

    @event(always, number=numbers, twelfths=numbers, at_once=st.booleans())
    def compensate(self, number: int, twelfths: int, at_once: bool) -> None:
        """A part of the cap, or of what is left if that is less; at times more; and at times it is decided at once."""
        order = self.order(number)
        cap = policy_for(order).compensation_cap
        most = cap if number == 11 else min(cap, self.left(order))
        self.grant(order, 1 + most * twelfths // 12, at_once=at_once)

    @event(has_units("delivered"), number=numbers, twelfths=numbers)
    def compensate_beside_a_promise(self, number: int, twelfths: int) -> None:
        """What is delivered is to come back, and somebody grants a part of what the payments have left."""
        order = self.ask_for(number, [(which, 1000, "other") for which in range(11)], "owner", "delivered")
        self.press_the_newest()
        most = min(policy_for(order).compensation_cap, self.left(order))
        self.grant(order, 1 + most * twelfths // 12, at_once=True)

    def left(self, order: Order) -> int:
        """What the payments have neither given back nor let anybody have."""
        payments = self.of(order.pk, "orders_payment")
        return books.total(payments) - books.total(payments, "refunded_amount")

    def grant(self, order: Order, amount: int, *, at_once: bool) -> None:
        facts: dict[str, Any] = {"order": order, "amount": amount, "reason": "等太久"}
        ref = f"goodwill:{self.tried}"
        self.attempt(partial(compensation.propose, **facts, actor=self.people["staff"], request_ref=ref))
        asked = [row for row in self.now["refunds_approval"] if row["request_ref"] == ref]
        if at_once and asked:
            self.attempt(partial(approvals.approve, approval_id=asked[0]["id"], actor=self.people["admin"]))

    @event(has_units("window_over"), number=numbers, wanted=picks)
    def ask_for_an_exception(self, number: int, wanted: Wanted) -> None:
        order, chosen = self.choices(number, wanted, "window_over")
        self.attempt(partial(overrides.ask, order=order, choices=chosen, reason="熟客", actor=self.people["staff"]))

    # --- money ---------------------------------------------------------------------------------------------------

    @event(has("refunds_refund", "pending"), weight=2, number=numbers)
    def send(self, number: int) -> None:
        refund = self.pick("refunds_refund", number, "pending")
        self.attempt(partial(tasks.send_refund, refund["id"]))

    @event(has("refunds_refund", "failed"), weight=2, number=numbers, payment=st.none() | numbers)
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
        has_units("unfulfilled", "delivered", "window_over", "lost"),
        number=numbers,
        wanted=picks,
        for_what=st.sampled_from(["goods", "not told", "nothing"]),
    )
    def pay_elsewhere(self, number: int, wanted: Wanted, for_what: str) -> None:
        """A person has given money back by hand, and says for which goods, or for none, or does not say."""
        order, chosen = self.choices(number, wanted, "unfulfilled", "delivered", "window_over", "lost")
        payments = self.of(order.pk, "orders_payment")
        if not payments:
            return
        payment = payments[number % len(payments)]
        amount = 1 + (payment["amount"] - payment["refunded_amount"]) * number // 11
        body: dict[str, Any] = {
            "external_ref": f"by hand {self.tried}",
            "amount": amount,
            "payment_id": payment["id"],
            "note": "轉帳",
        }
        if for_what != "not told":
            body |= {"lines": told(chosen) if for_what == "goods" else [], "for_goods": for_what == "goods"}
        self.attempt(partial(elsewhere.record, order=order, body=body, actor=self.people["supervisor"]))

    @event(lambda life: any(row["needs_assignment"] for row in life.now["refunds_refund"]), weight=4, wanted=picks)
    def say_for_what(self, wanted: Wanted) -> None:
        refund = next(row for row in self.now["refunds_refund"] if row["needs_assignment"])
        there = [group for group in self.units if group.line.order_id == refund["order_id"]]
        lines = [choice_of(there[number % len(there)], number, units, why) for number, units, why in wanted[:1]]
        facts: dict[str, Any] = {"lines": told(lines), "actor": self.people["supervisor"], "note": "對帳"}
        self.attempt(partial(elsewhere.assign, refund_id=refund["id"], **facts))

    # --- what the shop does besides ------------------------------------------------------------------------------

    @event(always, weight=2, job=jobs, number=numbers, changes=new_rules)
    def odd_jobs(self, job: str, number: int, changes: dict[str, Any]) -> None:
        if job == "restock":
            self.restock(number)
        elif job == "spend":
            self.spend_store_credit(number)
        elif job == "publish":
            self.publish(self.order(number).currency, changes, taken_back=number % 3 == 0)
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

    def publish(self, currency: str, changes: dict[str, Any], *, taken_back: bool) -> None:
        """Drafted and edited by one person, published by another, and at times withdrawn before it is in force."""
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
        if taken_back:
            self.attempt(partial(policies.withdraw, **facts, reason="寫錯了", actor=who))
