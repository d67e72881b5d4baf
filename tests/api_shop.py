"""A small shop in which something of every kind is under way, so that an API has something to answer with."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.authtoken.models import Token

from orders import store_credit
from orders.links import issue_link
from orders.models import Order
from orders.tests import cast
from orders.tests.factories import ago, fixed_discount, line_body, payment_body, shipment_body
from refunds import alerts, compensation, elsewhere, overrides, policies, resend, returns
from refunds.models import Approval, Refund, StaffAlert
from refunds.redeem import redeem
from refunds.states import AlertKind, ApprovalKind, RefundState
from refunds.tests.ask import ask, choices


@dataclass
class Shop:
    """`known`: what the shop has, by the name under which the API's page asks for it."""

    known: dict[str, list[Any]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def knows(self, name: str, *values: Any) -> None:
        self.known.setdefault(name, []).extend(values)


def open_shop() -> Shop:
    """The rows, and a token each for the superuser and the customer whose orders they are."""
    shop = Shop()
    for who, user in (("staff", cast.staff_user("admin")), ("customer", cast.customer_user())):
        shop.tokens[who] = Token.objects.create(user=user).key
    order = busy_order()
    shop.knows(
        "order_number", order.number, order.number, cast.order_5531().number, cast.place("6900", who="ming2").number
    )
    shop.knows("line_item_id", "li_1", "li_2", "li_3")
    shop.knows("payment_id", *order.payments.values_list("pk", flat=True))
    shop.knows("external_id", "c-ming", "s1", "s2", "1")
    shop.knows("product_id", "EAR", "CASE", "LAMP")
    shop.knows("sku", "EAR", "CASE", "LAMP")
    shop.knows("quantity", 1, 2)
    shop.knows("amount", 1, 50, 380)
    for name in ("placed_at", "captured_at", "packed_at", "shipped_at", "delivered_at", "at"):
        shop.knows(name, ago(days=5).isoformat())
    for step in (goods_on_their_way_back, money_on_its_way, questions_to_a_second_person, rules_in_the_making, alarms):
        step(shop, order)
    return shop


def busy_order() -> Order:
    """Four earphones delivered, three cases not packed, one of two lamps lost; card and store credit."""
    lines = [
        line_body(1, "藍牙耳機", 1200, 4, sku="EAR", category="audio"),
        line_body(2, "耳機殼", 380, 3, sku="CASE"),
        line_body(3, "燈", 30_000, 3, sku="LAMP"),
    ]
    payments = [
        payment_body(90_000),
        payment_body(5_790, external_id="p2", method="store_credit", last4=""),
    ]
    shipments = [shipment_body({1: 4}), shipment_body({3: 2}, state="lost", external_id="s2")]
    return cast.place(
        "5000", lines=lines, discounts=[fixed_discount(150, 1500)], payments=payments, shipments=shipments
    )


def goods_on_their_way_back(shop: Shop, order: Order) -> None:
    """A return that was received, one that was only asked for, an exchange, and a lamp that is sent again."""
    warehouse, ming = cast.staff("warehouse"), cast.shopper()
    requests = [redeem(quote_id=ask(order, (1, 1, "defective")).pk, actor=ming).return_request for _ in range(2)]
    known = [request.pk for request in requests if request is not None]
    exchange = returns.request_exchange(
        order=order, lines=choices((1, 1, "defective")), actor=ming, request_ref="card_1"
    )
    again = resend.resend(order=order, lines=choices((3, 1, "lost")), actor=ming, request_ref="card_2")
    returns.receive(return_id=known[0], actor=warehouse)
    shop.knows("return_id", *known, exchange.pk)
    shop.knows("replacement_id", again.pk, *order.replacements.exclude(pk=again.pk).values_list("pk", flat=True))


def money_on_its_way(shop: Shop, order: Order) -> None:
    """Refunds that wait for a second person, were refused, and were made elsewhere; quotes that are open."""
    waiting = redeemed(order, (3, 1, "other", "cancel"))
    failed = redeemed(order, (2, 1, "other", "cancel"))
    Refund.objects.filter(pk=failed.pk).update(state=RefundState.FAILED)
    failed.allocations.update(state="failed")
    other = Order.objects.get(number="5531")
    facts = {"external_ref": "re_1", "amount": 100, "payment_id": other.payments.get().pk, "note": "轉帳"}
    paid = elsewhere.record(order=other, body=facts, actor=cast.staff("supervisor"))
    shop.knows("refund_id", waiting.pk, failed.pk, paid.pk)
    open_quote = ask(order, (2, 1, "other", "cancel"))
    shop.knows("quote_id", open_quote.pk, waiting.quote_id, ask(order, (2, 1, "other"), actor=cast.staff()).pk)
    shop.knows("link_id", issue_link(order=order, actor=cast.staff())[1].pk)
    credit: dict[str, Any] = {
        "currency": "TWD",
        "amount": 500,
        "kind": "granted",
        "reference": "gift",
        "actor": cast.SHOP,
    }
    store_credit.post(customer=order.customer, **credit)


def redeemed(order: Order, *asked: Any) -> Refund:
    refund = redeem(quote_id=ask(order, *asked).pk, actor=cast.shopper()).refund
    assert refund is not None
    return refund


def questions_to_a_second_person(shop: Shop, order: Order) -> None:
    late = cast.place("5001", lines=[("書", 500, 1)], shipments=[shipment_body({1: 1})])
    cast.delivered_days_ago(late, 20)
    shop.knows("order_number", late.number)
    exception = overrides.ask(order=late, choices=choices((1, 1, "changed_mind")), reason="熟客", actor=cast.staff())
    facts: dict[str, Any] = {"order": order, "amount": 100, "reason": "遲到", "actor": cast.staff()}
    goodwill = compensation.propose(**facts, request_ref="c1")
    amount = Approval.objects.get(kind=ApprovalKind.AMOUNT)
    shop.knows("approval_id", exception.pk, goodwill.pk, amount.pk)


def rules_in_the_making(shop: Shop, order: Order) -> None:
    drafted, _ = policies.draft(currency=order.currency, actor=cast.staff("supervisor"))
    shop.knows("currency", "TWD", "TWD", "USD")
    shop.knows("version", 1, drafted.version)
    shop.knows("in_force_from", (timezone.now() + timedelta(days=1)).isoformat())


def alarms(shop: Shop, order: Order) -> None:
    facts = {"difference": "not_in_our_books", "amount": 100, "currency": "TWD"}
    alerts.raise_alert(kind=AlertKind.DIFFERENCE, subject="simulated:re_9", provider="simulated", facts=facts)
    shop.knows("alert_id", *StaffAlert.objects.values_list("pk", flat=True))
