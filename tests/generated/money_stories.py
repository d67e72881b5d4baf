"""Money that goes all the way: gateways fall silent or refuse, acquirers have their limits, a provider calls."""

import json
from datetime import timedelta
from functools import partial
from typing import Any, Final

from django.test import Client
from django.utils import timezone
from hypothesis import strategies as st

from orders import store_credit
from orders.models import Customer
from orders.tests import cast
from orders.tests.factories import PICKUP
from refunds import attention, by_hand, retry, tasks
from refunds.models import ProviderEvent, SimulatedAcquirer, SimulatedFault, SimulatedRefund
from refunds.states import FaultKind
from refunds.stripe_facts import KEY, PROVIDER, to_stripe
from refunds.tests.reporting import ADDRESS
from refunds.tests.stripe_stand_in import event as stripe_event
from refunds.tests.stripe_stand_in import signed
from tests.generated import books, rows
from tests.generated.bodies import Sold, numbers
from tests.generated.goods_stories import GoodsStories
from tests.generated.life import Life, has, story
from tests.generated.rows import Row, by_id

# Payments that the simulated gateway pays back to, by whatever name it is connected.
NOT_AT_THE_GATEWAY: Final = {"store_credit", "cash_on_delivery"}
# What acquirers cannot do. One that has not closed yet closes within two hours (`set_limits`).
LIMITS: Final[dict[str, dict[str, Any]]] = {
    "voids before closing": {"refund_before_closing": False, "void_before_closing": True},
    "nothing before closing": {"refund_before_closing": False},
    "whole charges only": {"partial_refunds": False},
    "one a day": {"refunds_per_day": 1},
}
# Which limit, and whether the whole charge is asked at once.
LIMITS_MET: Final = (
    *[("voids before closing", True), ("voids before closing", True), ("whole charges only", False)] * 2,
    ("voids before closing", False),
    ("nothing before closing", True),
    ("one a day", False),
)
MOST_ORDERS: Final = 4


def may_sell(life: Life) -> bool:
    return len(life.now["orders_order"]) < MOST_ORDERS


def something_to_send(life: Life) -> bool:
    """A refund that is on its way, or somebody buys what they cancel at once."""
    return may_sell(life) or has("refunds_refund", "pending")(life)


class MoneyStories(GoodsStories):
    """Each step may be refused, and the next is tried only where that makes sense."""

    # --- refunds to do it to -------------------------------------------------------------------------------------

    def refund_to_send(self, number: int, *tenders: str) -> Row | None:
        """A refund of which nothing was sent yet, in as many parts; else somebody buys, pays with these and cancels."""
        if not self.unsent(len(tenders)) and may_sell(self):
            self.cancel(self.sell_to_cancel(tenders), 1000)
        found = self.unsent(len(tenders)) or self.unsent(1)
        return found[number % len(found)] if found else None

    def sell_to_cancel(self, tenders: tuple[str, ...]) -> int:
        self.sell(Sold("TWD", (("A", 2),), (), PICKUP, tenders, (40, 70)[: len(tenders) - 1]), "ming")
        return int(self.now["orders_order"][-1]["id"])

    def unsent(self, parts: int) -> list[Row]:
        begun = {attempt["allocation_id"] for attempt in self.now["refunds_gatewayattempt"]}
        found = []
        for refund in self.now["refunds_refund"]:
            of_it = self.parts(refund)
            untouched = refund["state"] == "pending" and not any(part["id"] in begun for part in of_it)
            if untouched and len(of_it) >= parts and self.at_the_gateway(refund):
                found.append(refund)
        return found

    def parts(self, refund: Row) -> list[Row]:
        return [part for part in self.now["refunds_refundallocation"] if part["refund_id"] == refund["id"]]

    def at_the_gateway(self, refund: Row) -> list[Row]:
        """The parts that the simulated gateway is to pay, in their order."""
        payments = by_id(self.now["orders_payment"])
        return [part for part in self.parts(refund) if payments[part["payment_id"]]["method"] not in NOT_AT_THE_GATEWAY]

    def cancel(self, order_id: int, most: int) -> None:
        """Up to `most` pieces of each line that is not packed, by the customer, and by a second person if need be."""
        self.look_at_units()
        there = [group for group in self.units if (group.line.order_id, group.state) == (order_id, "unfulfilled")]
        if not there or not self.ask_about(there, most):
            return
        self.press_the_newest()
        for approval in self.of(order_id, "refunds_approval"):
            if (approval["state"], approval["kind"]) == ("waiting", "amount"):
                self.say_yes(approval)

    def send_now(self, refund: Row) -> None:
        self.attempt(partial(tasks.send_refund, refund["id"]))

    def goes_wrong(self, kind: str, payment_id: str) -> None:
        """The next call about this payment, and no other."""
        SimulatedFault.objects.all().delete()
        SimulatedFault.objects.create(kind=kind, remaining=1, seconds=0, charge_ref=payment_id)
        self.now = rows.read()

    def state_of(self, refund: Row) -> str:
        return str(by_id(self.now["refunds_refund"])[refund["id"]]["state"])

    # --- what gateways do ----------------------------------------------------------------------------------------

    @story(
        something_to_send,
        number=numbers,
        kind=st.sampled_from([FaultKind.TIMEOUT_AFTER, FaultKind.TIMEOUT_BEFORE]),
        learns=st.sampled_from(["asked", "asked", "asked", "told", "nothing"]),
    )
    def fall_silent(self, number: int, kind: str, learns: str) -> None:
        """Nobody knows whether it was paid, until the gateway is asked or its provider calls."""
        refund = self.refund_to_send(number, "card")
        if refund is None:
            return
        part = self.at_the_gateway(refund)[-1]
        self.goes_wrong(kind, part["payment_id"])
        self.send_now(refund)
        if learns == "told":
            self.tell_of(part)
        for _ in range(3 if learns == "asked" else 0):
            self.attempt(partial(rows.time_passes, 60))
            self.attempt(tasks.sweep)
        if self.state_of(refund) == "failed":
            self.once_more(refund)

    def tell_of(self, part: Row) -> None:
        keys = {each["idempotency_key"] for each in self.now["refunds_gatewayattempt"] if each["payment_id"]}
        for paid in self.now["refunds_simulatedrefund"]:
            if paid["idempotency_key"] in keys and paid["idempotency_key"].startswith(part["id"]):
                self.provider_calls("refund.updated", paid)

    def once_more(self, refund: Row, payment_id: str | None = None) -> None:
        facts = {"refund_id": refund["id"], "actor": self.people["supervisor"], "payment_id": payment_id}
        if self.attempt(partial(retry.retry, **facts)):
            self.send_now(refund)

    @story(
        something_to_send,
        weight=8,
        number=numbers,
        then=st.sampled_from(["once more", "once more", "another payment", "by hand"]),
    )
    def refuse_one_part(self, number: int, then: str) -> None:
        """Of a refund to several payments, if there is one: the last is refused, and the others are paid."""
        refund = self.refund_to_send(number, "card", "wallet", "store_credit")
        if refund is None:
            return
        part = self.at_the_gateway(refund)[-1]
        self.goes_wrong(FaultKind.REFUSE, part["payment_id"])
        self.send_now(refund)
        if then == "by hand":
            self.pay_a_part_by_hand(refund)
        else:
            self.once_more(refund, self.another(refund, number) if then == "another payment" else None)

    def pay_a_part_by_hand(self, refund: Row) -> None:
        facts = {"refund_id": refund["id"], "external_ref": f"cash {self.tried}", "note": "現金"}
        self.attempt(partial(by_hand.paid_by_hand, **facts, actor=self.people["supervisor"]))

    def another(self, refund: Row, number: int) -> str | None:
        used = {part["payment_id"] for part in self.parts(refund)}
        free = [each["id"] for each in self.of(refund["order_id"], "orders_payment") if each["id"] not in used]
        return free[number % len(free)] if free else None

    # --- what acquirers cannot do --------------------------------------------------------------------------------

    @story(may_sell, limits=st.sampled_from(LIMITS_MET), stays=st.sampled_from([True, False, False]))
    def find_limits(self, limits: tuple[str, bool], stays: bool) -> None:
        """A new order is cancelled, at once or piece by piece. It is taken back as a whole, or waits for another day,
        or is a person's; and it may stay so."""
        name, whole = limits
        order_id = self.sell_to_cancel(("card",))
        for _ in range(1 if whole else 2):
            self.cancel(order_id, 1000 if whole else 1)
            self.set_limits(LIMITS[name])
            self.send_what_is_pending(order_id)
        self.attempt(partial(rows.time_passes, 86_400))
        self.attempt(tasks.sweep)
        for refund in self.of(order_id, "refunds_refund"):
            if refund["state"] == "failed":
                self.pay_a_part_by_hand(refund)
        if not stays:
            self.set_limits({})

    def send_what_is_pending(self, order_id: int) -> None:
        for refund in self.of(order_id, "refunds_refund"):
            if refund["state"] == "pending":
                self.send_now(refund)

    def set_limits(self, limits: dict[str, Any]) -> None:
        SimulatedAcquirer.objects.all().delete()
        if limits:
            closing = (timezone.localtime() + timedelta(hours=2)).hour
            SimulatedAcquirer.objects.create(pk=1, closing_hour=closing, **limits)
        self.now = rows.read()

    # --- what a provider reports ---------------------------------------------------------------------------------

    @story(
        lambda life: bool(reported_payments(life)),
        weight=2,
        number=numbers,
        twelfths=st.integers(1, 12),
        kind=st.sampled_from(["refund.created", "charge.refunded"]),
    )
    def pay_at_the_desk(self, number: int, twelfths: int, kind: str) -> None:
        """Somebody gives money back on the provider's own pages; the provider calls."""
        there = reported_payments(self)
        payment = there[number % len(there)]
        given = [each for each in self.now["refunds_simulatedrefund"] if each["charge_ref"] == payment["id"]]
        amount = (payment["amount"] - books.total(given)) * twelfths // 12
        if amount < 1:
            return
        SimulatedRefund.objects.create(
            provider_refund_id=f"desk_{self.tried}",
            idempotency_key=f"desk:{self.tried}",
            charge_ref=payment["id"],
            amount=amount,
            currency=by_id(self.now["orders_order"])[payment["order_id"]]["currency"],
        )
        self.now = rows.read()
        self.provider_calls(kind, self.newest("refunds_simulatedrefund", provider_refund_id=f"desk_{self.tried}"))

    @story(something_to_send, weight=4, number=numbers, twice=st.booleans())
    def come_back_to_the_shop(self, number: int, twice: bool) -> None:
        """What the provider has paid fails at the bank after all. A person admits it, and it is sent once more."""
        if not self.may_come_back():
            refund = self.refund_to_send(number, "wallet")
            if refund is not None:
                self.send_now(refund)
        paid = self.may_come_back()
        for attempt in paid[:1]:
            entry = self.newest("refunds_simulatedrefund", idempotency_key=attempt["idempotency_key"])
            SimulatedRefund.objects.filter(pk=entry["id"]).delete()
            self.now = rows.read()
            for _ in range(1 + twice):
                self.provider_calls("refund.failed", entry, status="failed")
            self.admit(attempt)

    def may_come_back(self) -> list[Row]:
        """What a provider that calls has paid once, and with no trouble yet."""
        return [
            attempt
            for attempt in self.now["refunds_gatewayattempt"]
            if (attempt["provider"], attempt["outcome"], attempt["trouble"]) == (PROVIDER, "succeeded", "")
            and attempt["number"] == 1
        ]

    def admit(self, attempt: Row) -> None:
        part = by_id(self.now["refunds_refundallocation"])[attempt["allocation_id"]]
        refund = by_id(self.now["refunds_refund"])[part["refund_id"]]
        facts = {"refund_id": refund["id"], "actor": self.people["supervisor"], "note": "銀行退回"}
        if self.attempt(partial(attention.admit_failure, **facts)):
            self.once_more(refund)

    def provider_calls(self, kind: str, paid: Row, **changes: Any) -> None:
        """With the provider's signature, over the door that providers call; and the job does its work."""
        self.attempt(partial(self.call, kind, paid, changes))

    def call(self, kind: str, paid: Row, changes: dict[str, Any]) -> None:
        currency = paid["currency"]
        told: dict[str, Any] = {"currency": currency.lower()}
        if kind == "charge.refunded":
            given = [each for each in self.now["refunds_simulatedrefund"] if each["charge_ref"] == paid["charge_ref"]]
            told |= {"id": paid["charge_ref"], "amount_refunded": to_stripe(books.total(given), currency)}
        else:
            told |= {"id": paid["provider_refund_id"], "amount": to_stripe(paid["amount"], currency)}
            told |= {"charge": paid["charge_ref"], "status": "succeeded", "created": int(timezone.now().timestamp())}
            told |= {"metadata": {KEY: paid["idempotency_key"]}} | changes
        body = json.dumps(stripe_event(kind, told, f"evt_{self.tried}"))
        headers = {"Stripe-Signature": signed(body)}
        answer = Client().post(ADDRESS, body, content_type="application/json", headers=headers)
        assert answer.status_code == 200
        tasks.apply_event(ProviderEvent.objects.get(event_id=f"evt_{self.tried}").pk)

    # --- store credit is spent -----------------------------------------------------------------------------------

    @story(lambda life: any(row["balance"] for row in life.now["orders_storecreditaccount"]), number=numbers)
    def buy_with_store_credit(self, number: int) -> None:
        """All of it or a part, at a checkout."""
        account = next(row for row in self.now["orders_storecreditaccount"] if row["balance"])
        customer = Customer.objects.get(pk=account["customer_id"])
        amount = -max(1, account["balance"] * (number + 1) // 12)
        facts: dict[str, Any] = {"customer": customer, "currency": account["currency"], "amount": amount}
        reference = f"basket:{self.tried}"
        self.attempt(partial(store_credit.post, **facts, kind="spent", reference=reference, actor=cast.SHOP))


def reported_payments(life: Life) -> list[Row]:
    """Those whose provider calls."""
    return [payment for payment in life.now["orders_payment"] if payment["provider"] == PROVIDER]
