"""Goods that go all the way: exchanged, lost and sent again, let in as an exception, given back to the last piece."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from hypothesis import strategies as st

from orders.models import Order
from refunds import acceptance, approvals, ending, overrides, quotes, replacements, resend, returns, tasks
from refunds.choices import LineChoice
from refunds.goods import UnitGroup
from refunds.states import Asker
from tests.generated import rows
from tests.generated.bodies import numbers, sku
from tests.generated.goods_events import ACTIONS, choice_of
from tests.generated.life import has_units, story
from tests.generated.money_events import MoneyEvents
from tests.generated.rows import Row

# Products of the same price (`bodies.PRICES`).
OTHERS: Final = {"A": "B", "B": "A"}
A_WEEK: Final = 8 * 86_400
# Settling, delivering and asking once more, until nothing is left of an order: more rounds than any order needs.
ROUNDS: Final = 8
yes_mostly = st.sampled_from([True, True, False])


class GoodsStories(MoneyEvents):
    """Each step may be refused, and the next is tried only where that makes sense."""

    def standing(self, number: int, *states: str, names: Iterable[str] = ()) -> UnitGroup | None:
        """Units in one of these states, of products with these names if any are given."""
        self.look_at_units()
        there = [group for group in self.units if group.state in states]
        there = [group for group in there if not names or group.line.sku[-1] in names]
        return there[number % len(there)] if there else None

    def parcel(self, order_id: int, external_id: str, state: str) -> None:
        self.move(Order.objects.get(pk=order_id), {"external_id": external_id, "state": state})

    def have_in_stock(self, currency: str, *names: str) -> None:
        wanted = {sku(currency, name) for name in names}
        for product in self.now["orders_product"]:
            if product["sku"] in wanted and product["stock"] is not None and product["stock"] <= product["reserved"]:
                self.stock_up(currency, product["sku"][-1], product["stock"] + 1)

    # --- exchanged, and sent again -------------------------------------------------------------------------------

    @story(
        has_units("delivered"),
        weight=8,
        number=numbers,
        other=st.sampled_from([True, True, False]),
        reason=st.sampled_from(["defective", "wrong_item", "changed_mind"]),
    )
    def exchange_to_the_end(self, number: int, other: bool, reason: str) -> None:
        """For the same again, or for another product of the same price; the new one arrives."""
        group = self.standing(number, "delivered", names=OTHERS if other else ()) or self.standing(number, "delivered")
        if group is None:
            return
        order, name = Order.objects.get(pk=group.line.order_id), group.line.sku[-1]
        instead = OTHERS.get(name) if other else None
        self.have_in_stock(order.currency, name, *OTHERS.get(name, ""))
        product_id = sku(order.currency, instead) if instead else None
        lines = [LineChoice(group.line.line_item_id, 1, reason, "exchange", product_id)]
        actor, ref = self.actor("owner", order.pk), f"exchange:{self.tried}"
        if self.attempt(partial(returns.request_exchange, order=order, lines=lines, actor=actor, request_ref=ref)):
            self.bring_back(self.newest("refunds_return", request_ref=ref))

    def bring_back(self, request: Row) -> None:
        """The goods of an open return are received and taken back; what is owed instead is sent, and arrives."""
        facts = {"return_id": request["id"], "actor": self.people["warehouse"]}
        if request["state"] == "requested":
            self.attempt(partial(returns.receive, **facts))
        if request["state"] != "accepted" and not self.attempt(partial(acceptance.accept, **facts)):
            self.attempt(partial(returns.reject, **facts, note="外盒不見"))
        replacement = self.row("refunds_replacement", return_request_id=request["id"], state="reserved")
        if replacement is not None:
            self.send_instead(replacement, "delivered")

    def send_instead(self, replacement: Row, becomes: str) -> None:
        if self.attempt(partial(replacements.send, replacement_id=replacement["id"], actor=self.people["warehouse"])):
            self.parcel(replacement["order_id"], replacement["id"], becomes)

    @story(
        has_units("lost", "packed", "shipped"),
        weight=6,
        number=numbers,
        then=st.sampled_from(["delivered", "delivered", "lost", "the first arrives"]),
    )
    def lose_and_send_again(self, number: int, then: str) -> None:
        """A parcel is lost. The next one arrives, or is lost too; or the first one does before the next has left."""
        group = self.standing(number, "lost") or self.standing(number, "packed", "shipped")
        if group is None or group.shipment is None:
            return
        order_id, first = group.line.order_id, group.shipment.external_id
        for state in ("shipped", "lost"):
            if group.state not in {state, "lost"}:
                self.parcel(order_id, first, state)
        order = Order.objects.get(pk=order_id)
        self.have_in_stock(order.currency, group.line.sku[-1], *OTHERS.get(group.line.sku[-1], ""))
        lines = [LineChoice(group.line.line_item_id, 1, "lost", "lost")]
        actor, ref = self.actor("owner", order_id), f"again:{self.tried}"
        if not self.attempt(partial(resend.resend, order=order, lines=lines, actor=actor, request_ref=ref)):
            return
        replacement = self.newest("refunds_replacement", request_ref=ref)
        if then == "the first arrives":
            self.parcel(order_id, first, "delivered")
            self.give_up(replacement)
        else:
            self.send_instead(replacement, then)

    def give_up(self, replacement: Row) -> None:
        facts = {"replacement_id": replacement["id"], "actor": self.people["warehouse"]}
        if not self.attempt(partial(replacements.send, **facts)):
            self.attempt(partial(replacements.release, **facts, note="第一件已送達"))

    # --- asked, and answered by somebody or by time --------------------------------------------------------------

    @story(
        has_units("delivered", "window_over"),
        weight=6,
        number=numbers,
        answer=st.sampled_from(["yes", "yes", "no", "none"]),
    )
    def make_an_exception(self, number: int, answer: str) -> None:
        """A week too late, and somebody of the staff asks for it all the same."""
        if self.standing(number, "window_over") is None:
            self.attempt(partial(rows.time_passes, A_WEEK))
        group = self.standing(number, "window_over")
        if group is None:
            return
        order, choices = Order.objects.get(pk=group.line.order_id), [choice_of(group, number, 1, "changed_mind")]
        if not self.attempt(
            partial(overrides.ask, order=order, choices=choices, reason="熟客", actor=self.people["staff"])
        ):
            return
        asked = self.newest("refunds_approval", kind="override")
        if answer == "none":
            self.a_week_passes()
            return
        do = approvals.approve if answer == "yes" else approvals.reject
        self.attempt(partial(do, approval_id=asked["id"], actor=self.people["admin"], reason="說明"))
        request = self.row("refunds_return", quote_id=asked["quote_id"])
        if request is not None:
            self.bring_back(request)

    def a_week_passes(self) -> None:
        self.attempt(partial(rows.time_passes, A_WEEK))
        self.attempt(tasks.sweep)

    @story(has_units(*ACTIONS), weight=2, number=numbers)
    def let_a_week_pass(self, number: int) -> None:
        """While somebody has asked, and a second person has not been there."""
        self.ask_one(number)
        order_id = (self.standing(number, *ACTIONS) or self.units[0]).line.order_id
        self.grant(Order.objects.get(pk=order_id), 1, at_once=False)
        self.a_week_passes()

    @story(has_units(*ACTIONS), weight=3, number=numbers)
    def ask_and_decline(self, number: int) -> None:
        if self.ask_one(number):
            quote = self.now["refunds_refundquote"][-1]
            actor = self.actor("owner", quote["order_id"])
            self.attempt(partial(ending.decline, quote_id=quote["id"], actor=actor))

    def ask_one(self, number: int) -> bool:
        """The customer asks about one piece of something."""
        group = self.standing(number, *ACTIONS)
        return group is not None and self.ask_about([group], 1)

    def ask_about(self, groups: list[UnitGroup], most: int) -> bool:
        """The customer asks what up to `most` of each come to; they stand in the same state, in the same order."""
        order = Order.objects.get(pk=groups[0].line.order_id)
        together: dict[str, LineChoice] = {}
        for group in groups:
            known = together.get(group.line.line_item_id)
            quantity = min(most, group.quantity) + (known.quantity or 0 if known else 0)
            choice = LineChoice(group.line.line_item_id, quantity, "other", ACTIONS[group.state])
            together[choice.line_item_id] = choice
        actor = self.actor("owner", order.pk)
        facts: dict[str, Any] = {"actor": actor, "asker": Asker.CUSTOMER, "asker_ref": quotes.asker_ref(actor)}
        return self.attempt(partial(quotes.ask, order=order, choices=list(together.values()), **facts))

    # --- to the last piece ---------------------------------------------------------------------------------------

    @story(lambda life: life.tried > 40, weight=3, number=numbers, apart=yes_mostly, arrives=yes_mostly)
    def give_everything_back(self, number: int, apart: bool, arrives: bool) -> None:
        """What is under way ends, and what can be asked for is. `apart`: line by line; `arrives`: nothing is cancelled
        that can still be sent."""
        order_id = self.order(number).pk
        if arrives:
            self.send_all(order_id)
        for _ in range(ROUNDS):
            self.end_what_is_open(order_id)
            self.look_at_units()
            there = [group for group in self.units if group.line.order_id == order_id and group.state in ACTIONS]
            alike = [group for group in there if group.state == there[0].state]
            if not there or not self.ask_about(alike[:1] if apart else alike, 1000):
                break
            self.press_the_newest()
        for refund in self.of(order_id, "refunds_refund"):
            if refund["state"] == "pending":
                self.attempt(partial(tasks.send_refund, refund["id"]))

    def send_all(self, order_id: int) -> None:
        self.look_at_units()
        there = [group for group in self.units if (group.line.order_id, group.state) == (order_id, "unfulfilled")]
        if there:
            lines = [{"line_item_id": group.line.line_item_id, "quantity": group.quantity} for group in there]
            body = {"external_id": f"all:{self.tried}", "state": "delivered", "lines": lines}
            self.move(Order.objects.get(pk=order_id), body)

    def end_what_is_open(self, order_id: int) -> None:
        for parcel in self.of(order_id, "orders_shipment"):
            if parcel["state"] in {"packed", "shipped"}:
                self.parcel(order_id, parcel["external_id"], "delivered")
        for request in self.of(order_id, "refunds_return"):
            if request["state"] in {"requested", "received", "accepted"} and request["refund_id"] is None:
                self.bring_back(request)
        for replacement in self.of(order_id, "refunds_replacement"):
            if replacement["state"] == "reserved":
                self.send_instead(replacement, "delivered")
        for approval in self.of(order_id, "refunds_approval"):
            if approval["state"] == "waiting" and approval["refund_id"]:
                self.say_yes(approval)

    def say_yes(self, approval: Row) -> None:
        self.attempt(partial(approvals.approve, approval_id=approval["id"], actor=self.people["admin"], reason="說明"))
