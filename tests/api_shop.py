"""A small shop in which something of every kind is under way, so that an API has something to answer with."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone
from rest_framework.authtoken.models import Token

from orders import store_credit
from orders.links import issue_link
from orders.models import Order, Product
from orders.tests import cast
from orders.tests.factories import PAID_DELIVERY, ago, fixed_discount, line_body, payment_body, shipment_body
from refunds import acceptance, alerts, compensation, elsewhere, outcome, overrides, policies, resend, returns
from refunds.gateways.base import GatewayAnswer, GatewayRefused
from refunds.models import Approval, Refund, StaffAlert
from refunds.policy_selectors import seen_of
from refunds.redeem import redeem
from refunds.send import claim_allocation
from refunds.states import AlertKind, ApprovalKind
from refunds.tests.ask import ask, choices

# What each is in the shop's own words, in the order in which they are made.
RETURNS: Final = ("received return", "requested return", "accepted exchange", "requested exchange")
REFUNDS: Final = ("waiting refund", "failed refund", "troubled refund", "refund elsewhere")


@dataclass
class Shop:
    """`known`: what the shop has, by the name under which the API's page asks for it, or by its own."""

    known: dict[str, list[Any]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def knows(self, name: str, *values: Any) -> None:
        self.known.setdefault(name, []).extend(values)

    def a(self, name: str) -> Any:
        """The first that it knows under this name."""
        return self.known[name][0]


def open_shop() -> Shop:
    """The rows, and a token each for the superuser and the customer whose orders they are."""
    shop = Shop()
    for who, user in (("staff", cast.staff_user("admin")), ("customer", cast.customer_user())):
        shop.tokens[who] = Token.objects.create(user=user).key
    order = busy_order()
    to_an_address = cast.place("6901", shipping=PAID_DELIVERY)
    others = [to_an_address, cast.order_5531(), cast.place("6900", who="ming2")]
    shop.knows("order_number", order.number, order.number, *(other.number for other in others))
    shop.knows("line_item_id", "li_1", "li_2", "li_3")
    shop.knows("payment_id", *order.payments.values_list("pk", flat=True))
    shop.knows("external_id", "c-ming", "c-ming", "s1", "s2", "1")
    shop.knows("phone", "0912-345-678")
    shop.knows("postal_code", "100")
    Product.objects.create(sku="EAR-RED", name="藍牙耳機 紅", price=1200, currency="TWD", stock=5)
    shop.knows("product_id", "EAR", "EAR-RED", "CASE", "LAMP")
    shop.knows("sku", "EAR", "CASE", "LAMP")
    shop.knows("quantity", 1, 2)
    shop.knows("amount", 1, 50, 380)
    for name in ("placed_at", "captured_at", "packed_at", "shipped_at", "delivered_at", "at"):
        shop.knows(name, ago(days=5).isoformat())
    for step in (goods_on_their_way_back, money_on_its_way, questions_to_a_second_person, rules_in_the_making, alarms):
        step(shop, order)
    return shop


def busy_order() -> Order:
    """Nine earphones delivered, six cases not packed, two of three lamps lost; card and store credit."""
    lines = [
        line_body(1, "藍牙耳機", 1200, 9, sku="EAR", category="audio"),
        line_body(2, "耳機殼", 380, 6, sku="CASE"),
        line_body(3, "燈", 30_000, 3, sku="LAMP"),
    ]
    payments = [
        payment_body(90_000),
        payment_body(12_930, external_id="p2", method="store_credit", last4=""),
    ]
    shipments = [shipment_body({1: 9}), shipment_body({3: 2}, state="lost", external_id="s2")]
    return cast.place(
        "5000", lines=lines, discounts=[fixed_discount(150, 1500)], payments=payments, shipments=shipments
    )


def goods_on_their_way_back(shop: Shop, order: Order) -> None:
    """A return that was received, one that was only asked for, two exchanges, of which one was accepted, and a lamp
    that is sent again."""
    warehouse, ming = cast.staff("warehouse"), cast.shopper()
    requests = [redeem(quote_id=ask(order, (1, 1, "defective")).pk, actor=ming).return_request for _ in range(2)]
    known = [request.pk for request in requests if request is not None]
    wanted = choices((1, 1, "defective"))
    exchanges = [
        returns.request_exchange(order=order, lines=wanted, actor=ming, request_ref=f"exchange_{number}").pk
        for number in range(2)
    ]
    again = resend.resend(order=order, lines=choices((3, 1, "lost")), actor=ming, request_ref="card_2")
    for return_id in (known[0], exchanges[0]):
        returns.receive(return_id=return_id, actor=warehouse)
    acceptance.accept(return_id=exchanges[0], actor=warehouse)
    for name, return_id in zip(RETURNS, (*known, *exchanges), strict=True):
        shop.knows(name, return_id)
        shop.knows("return_id", return_id)
    shop.knows("replacement_id", again.pk, *order.replacements.exclude(pk=again.pk).values_list("pk", flat=True))


def money_on_its_way(shop: Shop, order: Order) -> None:
    """Refunds that wait for a second person, were refused, came back to the shop, and were made elsewhere; quotes that
    are open."""
    waiting = redeemed(order, (3, 1, "other", "cancel"))
    failed, troubled = refused(redeemed(order, (2, 1, "other", "cancel"))), redeemed(order, (2, 1, "other", "cancel"))
    come_back(troubled)
    other = Order.objects.get(number="5531")
    facts = {"external_ref": "re_1", "amount": 100, "payment_id": other.payments.get().pk, "note": "轉帳"}
    paid = elsewhere.record(order=other, body=facts, actor=cast.staff("supervisor"))
    for name, refund in zip(REFUNDS, (waiting, failed, troubled, paid), strict=True):
        shop.knows(name, refund.pk)
        shop.knows("refund_id", refund.pk)
    open_quote = ask(order, (2, 1, "other", "cancel"))
    shop.knows("open quote", open_quote.pk)
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


def refused(refund: Refund) -> Refund:
    for part in refund.allocations.all():
        claim = claim_allocation(part.pk)
        assert claim is not None
        outcome.record_no(claim.attempt, GatewayRefused("card_closed", "The card is closed."), started_at=None)
    return refund


def come_back(refund: Refund) -> None:
    """Paid, and reported by the provider as failed after all."""
    for part in refund.allocations.all():
        claim = claim_allocation(part.pk)
        assert claim is not None
        outcome.record_success(claim.attempt, GatewayAnswer(f"sim_{part.pk}", part.amount, refund.currency))
        outcome.record_failed_after_payment(claim.attempt, code="card_closed", message="The card is closed.")


def questions_to_a_second_person(shop: Shop, order: Order) -> None:
    late = cast.place("5001", lines=[("書", 500, 1)], shipments=[shipment_body({1: 1})])
    cast.delivered_days_ago(late, 20)
    later = cast.place("5002", lines=[("書", 500, 1)], shipments=[shipment_body({1: 1})])
    cast.delivered_days_ago(later, 20)
    shop.knows("order_number", late.number, later.number)
    exception = overrides.ask(order=late, choices=choices((1, 1, "changed_mind")), reason="熟客", actor=cast.staff())
    facts: dict[str, Any] = {"order": order, "amount": 100, "reason": "遲到", "actor": cast.staff()}
    goodwill = compensation.propose(**facts, request_ref="c1")
    amount = Approval.objects.get(kind=ApprovalKind.AMOUNT)
    shop.knows("approval_id", exception.pk, goodwill.pk, amount.pk)


def rules_in_the_making(shop: Shop, order: Order) -> None:
    drafted, _ = policies.draft(currency=order.currency, actor=cast.staff("supervisor"))
    shop.knows("currency", "TWD", "TWD", "USD")
    supervisor = {"actor": cast.staff("supervisor")}
    published, _ = policies.draft(currency="USD", **supervisor)
    moment = timezone.now() + timedelta(days=1)
    policies.publish(currency="USD", version=published.version, in_force_from=moment, actor=cast.staff("marketing"))
    shop.knows("version", 1, drafted.version, published.version)
    shop.knows("draft", drafted.version)
    shop.knows("published", published.version)
    shop.knows("seen", seen_of(drafted))
    shop.knows("in_force_from", (timezone.now() + timedelta(days=1)).isoformat())


def alarms(shop: Shop, order: Order) -> None:
    facts = {"difference": "not_in_our_books", "amount": 100, "currency": "TWD"}
    alerts.raise_alert(kind=AlertKind.DIFFERENCE, subject="simulated:re_9", provider="simulated", facts=facts)
    shop.knows("alert_id", *StaffAlert.objects.values_list("pk", flat=True))
