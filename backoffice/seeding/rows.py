"""The rows of planned orders: goods, money, parcels, what came back, what was said, and the history of all of it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from django.db.models import Model

from agent.models import Conversation, ConversationEvent, Message, Turn
from backoffice.demo_goods import GOODS
from backoffice.seeding import bulk, talk
from backoffice.seeding.people import Person
from backoffice.seeding.plan import Plan, discount_of
from orders.models import (
    AuditEvent,
    Customer,
    LineItem,
    Order,
    OrderDiscount,
    Payment,
    Product,
    Shipment,
    ShipmentLine,
)
from refunds import policy
from refunds.models import (
    GatewayAttempt,
    QuoteLine,
    Refund,
    RefundAllocation,
    RefundPolicy,
    RefundQuote,
    Return,
    ReturnFinding,
    ReturnLine,
    SimulatedRefund,
)
from refunds.terms import Ledger

CARRIERS: Final = ("黑貓宅急便", "新竹物流", "宅配通", "郵局")
SHOP_FAULT: Final = frozenset({"defective", "wrong_item"})
NUMBERS_AT_ONCE: Final = 4000
# Parents before children, as COPY writes them.
IN_ORDER: Final[tuple[type[Model], ...]] = (
    Customer,
    Order,
    LineItem,
    OrderDiscount,
    Payment,
    Shipment,
    ShipmentLine,
    RefundQuote,
    QuoteLine,
    Refund,
    RefundAllocation,
    GatewayAttempt,
    SimulatedRefund,
    Return,
    ReturnLine,
    ReturnFinding,
    Conversation,
    Turn,
    Message,
    ConversationEvent,
    AuditEvent,
)


@dataclass
class Shop:
    """What a batch is written into: goods and rules that are there, and the rows to come."""

    seed: str
    products: Mapping[str, Product]
    rules: RefundPolicy
    rows: dict[type[Model], list[bulk.Row]] = field(default_factory=lambda: defaultdict(list))
    _numbers: dict[type[Model], Iterator[int]] = field(default_factory=dict)

    def add(self, model: type[Model], **values: Any) -> None:
        self.rows[model].append(values)

    def number(self, model: type[Model]) -> int:
        """The next number of the table."""
        found = next(self._numbers.get(model, iter(())), None)
        if found is None:
            self._numbers[model] = iter(bulk.take_numbers(model, NUMBERS_AT_ONCE))
            found = next(self._numbers[model])
        return found

    def tell(self, order: int, at: datetime, action: str, about: str, key: str, **said: Any) -> None:
        """A line of history, by the shop's system or by the customer."""
        actor = said.pop("actor", ("system", "demo"))
        self.add(
            AuditEvent,
            at=at,
            action=action,
            actor_kind=actor[0],
            actor_user_id=None,
            actor_name=actor[1],
            order_id=order,
            subject_type=about,
            subject_id=key,
            **said,
        )

    def write(self) -> None:
        """All rows, in one transaction of the caller's."""
        for model in IN_ORDER:
            bulk.copy(model, self.rows[model])
        self.rows.clear()


@dataclass(frozen=True, slots=True)
class Placed:
    """An order whose rows are begun: its numbers, what it cost and who bought it."""

    plan: Plan
    order: int
    customer: int
    name: str
    payment: str
    items: Sequence[int]
    total: int
    dice: Random

    @property
    def actor(self) -> tuple[str, str]:
        return "customer", self.name


def add_customer(shop: Shop, person: Person) -> int:
    key = shop.number(Customer)
    told = {"external_id": person.external_id, "name": person.name, "email": person.email, "phone": person.phone}
    shop.add(Customer, id=key, user_id=None, **told)
    return key


def add_order(shop: Shop, plan: Plan, person: Person, customer: int) -> None:
    placed = _sale(shop, plan, person, customer)
    gone, settled = _settled(shop, placed)
    parcel_lines = _parcel(shop, placed, gone if plan.story == "cancelled" and settled else None, settled)
    if settled is not None:
        _give_back(shop, placed, gone, settled, parcel_lines)
    if plan.talk:
        talk.add(shop, placed)


def _sale(shop: Shop, plan: Plan, person: Person, customer: int) -> Placed:
    key, dice = shop.number(Order), Random(f"{shop.seed}:rows:{plan.index}")
    shipping, total = plan.shipping, policy.price(plan.terms, ()).total
    shop.add(
        Order,
        id=key,
        number=plan.number,
        customer_id=customer,
        placed_at=plan.placed_at,
        currency="TWD",
        shipping_method=shipping["method"],
        shipping_charged=shipping["charged"],
        shipping_standard_fee=shipping["standard_fee"],
        shipping_free_from=shipping["free_from"],
        shipping_waiver=shipping["waiver"],
        shipping_address=None if shipping["waiver"] == "pickup" else person.address,
        intake_digest="seeded",
        taken_in_at=plan.placed_at,
    )
    payment = bulk.public_id(dice, "pay")
    placed = Placed(plan, key, customer, person.name, payment, _items(shop, plan, key), total, dice)
    if plan.coupon:
        shop.add(OrderDiscount, order_id=key, position=1, **discount_of(plan.coupon))
    price = {"price": total, "currency": "TWD"}
    shop.tell(key, plan.placed_at, "order.taken_in", "order", plan.number, computed=price)
    return placed


def _items(shop: Shop, plan: Plan, order: int) -> list[int]:
    keys = []
    for position, line in enumerate(plan.lines, start=1):
        keys.append(shop.number(LineItem))
        shop.add(
            LineItem,
            id=keys[-1],
            order_id=order,
            line_item_id=f"li_{position}",
            position=position,
            external_id=str(position),
            product_id=shop.products[line.sku].pk,
            sku=line.sku,
            name=GOODS[line.sku].name,
            category=GOODS[line.sku].category,
            unit_price=GOODS[line.sku].price,
            quantity=line.quantity,
        )
    return keys


def _settled(shop: Shop, placed: Placed) -> tuple[int, policy.Settlement | None]:
    """What leaves and what that comes to by the money rules; None where nothing leaves or nothing would be paid."""
    plan = placed.plan
    if plan.story not in {"cancelled", "returned", "returning"}:
        return plan.gone, None
    action: policy.SettlementAction = "cancel" if plan.story == "cancelled" else "return"
    line = plan.lines[plan.gone]
    fault = action == "return" and plan.reason in SHOP_FAULT
    worked = policy.settle(
        terms=plan.terms,
        gone=(),
        asked=(policy.Departure(f"li_{plan.gone + 1}", line.quantity, fault),),
        action=action,
        ledger=Ledger(paid=placed.total, refunded=0, fees_taken=0, returns_counted=0, payments_left=placed.total),
        rules=policy.Rules(return_fee=shop.rules.return_fee, return_fee_enabled=shop.rules.return_fee_enabled),
    )
    return plan.gone, worked if worked.amount else None


def _parcel(shop: Shop, placed: Placed, cancelled: int | None, settled: policy.Settlement | None) -> dict[int, int]:
    """The one parcel of what is sent, with the payment that knows what is given back; lines of it by position."""
    plan, moments = placed.plan, placed.plan.moments
    refunded = settled.amount if settled and plan.story != "returning" else 0
    shop.add(
        Payment,
        id=placed.payment,
        order_id=placed.order,
        position=1,
        external_id="p1",
        method=plan.method,
        provider="simulated",
        last4=plan.last4 if plan.method == "card" else "",
        amount=placed.total,
        refunded_amount=refunded,
        captured_at=plan.placed_at,
    )
    items = shop.rows[LineItem][-len(plan.lines) :]
    if cancelled is not None:
        items[cancelled]["cancelled_quantity"] = items[cancelled]["quantity"]
    sent = [at for at in range(len(items)) if at != cancelled]
    if "packed" not in moments or not sent:
        return {}
    return _sent(shop, placed, {at: items[at] for at in sent}, settled)


def _sent(shop: Shop, placed: Placed, items: Mapping[int, bulk.Row], settled: object) -> dict[int, int]:
    plan, moments, dice = placed.plan, placed.plan.moments, placed.dice
    state = "lost" if plan.story == "lost" else ["packed", "shipped", "delivered"][min(len(moments), 3) - 1]
    parcel = bulk.public_id(dice, "sh")
    tracking = f"{dice.randrange(10**12):012}" if "shipped" in moments else ""
    times = {f"{name}_at": moments[name] for name in ("packed", "shipped", "delivered") if name in moments}
    named = {"carrier": dice.choice(CARRIERS) if tracking else "", "tracking_number": tracking}
    shop.add(Shipment, id=parcel, order_id=placed.order, external_id="s1", state=state, **named, **times)
    for name in ("packed", "shipped", "delivered"):
        if name in moments:
            shop.tell(placed.order, moments[name], f"shipment.{name}", "shipment", parcel)
    keys = {}
    for at, item in items.items():
        item["fulfilled_quantity"] = item["quantity"]
        comes_back = settled is not None and at == plan.gone
        keys[at] = shop.number(ShipmentLine)
        shop.add(
            ShipmentLine,
            id=keys[at],
            shipment_id=parcel,
            line_item_id=item["id"],
            quantity=item["quantity"],
            returning_quantity=item["quantity"] if comes_back and plan.story == "returning" else 0,
            refunded_quantity=item["quantity"] if comes_back and plan.story == "returned" else 0,
        )
    return keys


def _give_back(shop: Shop, placed: Placed, gone: int, settled: policy.Settlement, parcel: Mapping[int, int]) -> None:
    """The quote, and what it led to: a refund at once, or a return and, once the goods are here, its refund."""
    plan, moments, dice = placed.plan, placed.plan.moments, placed.dice
    asked, quote = moments["asked"], bulk.public_id(dice, "rq")
    action = "cancel" if plan.story == "cancelled" else "return"
    reason = "changed_mind" if action == "cancel" else plan.reason
    worked = {"amount": settled.amount, "fee": settled.fee, "steps": [step.as_json() for step in settled.steps]}
    shop.add(
        RefundQuote,
        id=quote,
        order_id=placed.order,
        action=action,
        state="redeemed",
        counts_as_return=settled.counts_as_return,
        currency="TWD",
        policy_id=shop.rules.pk,
        fingerprint="seeded",
        asker="customer",
        asker_ref=f"customer:{placed.customer}",
        customer_id=placed.customer,
        created_at=asked,
        expires_at=asked + timedelta(minutes=15),
        ended_at=asked,
        **worked,
    )
    line: dict[str, Any] = {"line_item_id": placed.items[gone], "quantity": plan.lines[gone].quantity}
    fault = action == "return" and reason in SHOP_FAULT
    shop.add(QuoteLine, quote_id=quote, shipment_line_id=parcel.get(gone), reason=reason, shop_fault=fault, **line)
    computed = {"action": action, "currency": "TWD", "policy_version": shop.rules.version, **worked}
    for step in ("quote.opened", "quote.redeemed"):
        shop.tell(placed.order, asked, step, "quote", quote, actor=placed.actor, computed=computed)
    refund = _pay(shop, placed, quote, settled.amount) if "settled" in moments else None
    if action == "return":
        _come_back(shop, placed, quote, refund, line | {"shipment_line_id": parcel[gone], "reason": reason})


def _pay(shop: Shop, placed: Placed, quote: str, amount: int) -> str:
    """A refund that was sent and has arrived at the provider, in its books as well as in ours."""
    at, dice = placed.plan.moments["settled"], placed.dice
    refund, part = bulk.public_id(dice, "rf", 12), bulk.public_id(dice, "ra")
    done, key, number = at + timedelta(seconds=2), f"{part}-1", f"re_{part.removeprefix('ra_')}"
    money = {"amount": amount, "currency": "TWD"}
    shop.add(
        Refund,
        id=refund,
        quote_id=quote,
        order_id=placed.order,
        state="succeeded",
        confirmed_by_kind="customer",
        created_at=at,
        finished_at=done,
        **money,
    )
    shop.add(
        RefundAllocation,
        id=part,
        refund_id=refund,
        payment_id=placed.payment,
        position=1,
        amount=amount,
        state="succeeded",
    )
    shop.add(
        GatewayAttempt,
        allocation_id=part,
        payment_id=placed.payment,
        number=1,
        idempotency_key=key,
        provider="simulated",
        outcome="succeeded",
        provider_refund_id=number,
        started_at=at,
        answered_at=done,
    )
    charge = {"charge_ref": placed.payment, "idempotency_key": key, "provider_refund_id": number}
    shop.add(SimulatedRefund, created_at=at, **charge, **money)
    for moment, state in ((at, "pending"), (done, "succeeded")):
        outcome, told = {"state": state}, {"computed": money, "correlation": {"quote_id": quote}}
        shop.tell(placed.order, moment, f"refund.{state}", "refund", refund, outcome=outcome, **told)
    return refund


def _come_back(shop: Shop, placed: Placed, quote: str, refund: str | None, line: Mapping[str, Any]) -> None:
    asked, settled = placed.plan.moments["asked"], placed.plan.moments.get("settled")
    back, key = bulk.public_id(placed.dice, "rt", 12), shop.number(ReturnLine)
    shop.add(
        Return,
        id=back,
        order_id=placed.order,
        kind="refund",
        state="refunded" if refund else "requested",
        quote_id=quote,
        confirmed_by_kind="customer",
        refund_id=refund,
        request_ref=f"seed:{quote}",
        created_at=asked,
    )
    shop.add(ReturnLine, id=key, return_request_id=back, **line)
    shop.tell(placed.order, asked, "return.requested", "return", back, actor=placed.actor)
    if settled is None:
        return
    shop.add(ReturnFinding, return_line_id=key, found="accepted", quantity=line["quantity"])
    for state, before in (("received", 3), ("accepted", 1), ("refunded", 0)):
        at = max(settled - timedelta(hours=before), asked)
        shop.tell(placed.order, at, f"return.{state}", "return", back, outcome={"state": state})
