"""What went wrong in other shops, as kinds, through the real services and to the gateway's own ledger.

Each case is an order that comes in, goods that leave one request after another, and what must have been paid in the
end. The same sums as plain arithmetic are in `test_policy_examples.py`. What happens *once, and only once* is also in:

- a press twice, re-posted, by staff after the customer, a hundred at once: `test_redeem.py`, `test_buttons.py`,
  `tests/races/test_redeem_races.py`; the same tool call again: `test_quotes.py`;
- a provider's report before the API's answer, before our commit, twice, out of order, as a growing sum:
  `test_webhooks.py`; late, after a refusal, or of another sum: `test_reported_payments.py`;
- no answer in time, before or after paying, and pending for a day: `test_paying.py`, `test_reconcile.py`, and over
  HTTP `test_stripe.py`;
- cancelling what is fully refunded: `test_refusals.py`;
- an acquirer that only voids before closing, takes whole charges or one refund a day: `test_what_a_gateway_can_do.py`;
- an item that was added unpaid cannot come in (`orders/tests/test_take_in.py`); the sum for one that was is in
  `test_policy_examples.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest
from django.test import Client

from orders.errors import InvalidInput, Refusal
from orders.models import Order, StoreCreditEntry
from orders.money import DECIMALS
from orders.tests import cast
from orders.tests.factories import PAID_DELIVERY, PICKUP, fixed_discount, line_body, payment_body, percent_discount
from refunds import elsewhere, tasks
from refunds.models import Refund, RefundQuote, SimulatedRefund
from refunds.present import quote_as_dict, refund_as_dict
from refunds.redeem import redeem
from refunds.stripe_facts import STRIPE_DECIMALS, from_stripe, to_stripe
from refunds.tests.ask import Asked, ask
from refunds.tests.paying import paid_out, pending_refund, state_of, switch_on

pytestmark = pytest.mark.django_db
# The gateway insists on real transactions.
to_the_gateway = pytest.mark.django_db(transaction=True)
FREE_SHIPPING: Final = {**PAID_DELIVERY, "charged": 0, "waiver": "promotion"}


@dataclass(frozen=True)
class Case:
    """`leave`: what is asked for, request after request; `amounts`: what the gateway must have paid for each."""

    why: str
    goods: Sequence[tuple[int, int]]
    leave: Sequence[tuple[Asked, ...]]
    amounts: Sequence[int]
    currency: str = "TWD"
    discounts: Sequence[dict[str, Any]] = ()
    shipping: Any = None


PRORATE: Final[dict[str, Any]] = {"settlement": "prorate"}
CASES: Final = [
    Case("a percentage leaves with its goods", [(50, 1), (50, 1)], [((1, 1, "other"),)], [45],
         discounts=[percent_discount("10")]),
    Case("a voucher is not paid out", [(100, 1)], [((1, 1, "other"),)], [80], discounts=[fixed_discount(20)]),
    Case("a discount on the order is shared by price", [(600, 1), (400, 1)], [((2, 1, "other"),)], [360], "USD",
         [fixed_discount(100, **PRORATE)]),
    Case("what is kept keeps its share, and no more", [(5000, 1), (1000, 1)],
         [((1, 1, "shop_cancelled"),), ((2, 1, "other"),)], [4167, 833], "USD", [fixed_discount(1000, **PRORATE)]),
    Case("a percentage of a partial quantity", [(100, 3)], [((1, 2, "other"),)], [180],
         discounts=[percent_discount("10")]),
    Case("a discount on one unit of three is taken once", [(100, 3)], [((1, 2, "other"),), ((1, 1, "other"),)],
         [200, 70], discounts=[fixed_discount(30, lines=["1"])]),
    Case("three shares sum exactly", [(1000, 1), (2000, 1), (3000, 1)],
         [((1, 1, "other"),), ((2, 1, "other"),), ((3, 1, "other"),)], [597, 1193, 1790], "USD",
         [fixed_discount(2420, **PRORATE)]),
    Case("a percentage is rounded once over all its goods", [(2390, 10)], [((1, 10, "other"),)], [17_925], "USD",
         [percent_discount("25")]),
    Case("a sum has no tail", [(1999, 3)], [((1, 1, "other"),), ((1, 2, "other"),)], [1999, 3998], "USD"),
    Case("shipping that nobody paid is not paid out", [(500, 1)], [((1, 1, "other"),)], [500], shipping=FREE_SHIPPING),
    Case("shipping that was paid goes back with the last of the goods", [(500, 1), (400, 1)],
         [((1, 1, "other"),), ((2, 1, "other"),)], [500, 480], shipping=PAID_DELIVERY),
    Case("a gift comes to nothing and sends nothing", [(500, 1), (0, 1)], [((2, 1, "other"),)], [0]),
]  # fmt: skip


def order_of(case: Case) -> Order:
    lines = [line_body(position, f"貨{position}", *goods) for position, goods in enumerate(case.goods, start=1)]
    terms: dict[str, Any] = {"lines": lines, "discounts": case.discounts, "shipping": case.shipping or PICKUP}
    return cast.place("8801", **terms, currency=case.currency)


def leaves(order: Order, *asked: Asked) -> Refund:
    """Asked for, confirmed and sent; by staff where only they may say so."""
    by_staff = any(reason == "shop_cancelled" for _, _, reason, *_ in asked)
    actor = cast.staff() if by_staff else cast.shopper()
    refund = redeem(quote_id=ask(order, *asked, actor=actor).pk, actor=actor, note="說明").refund
    assert refund is not None
    tasks.send_refund(refund.pk)
    return refund


@to_the_gateway
@pytest.mark.parametrize("case", CASES, ids=[case.why for case in CASES])
def test_the_gateway_pays_exactly_what_is_right(case: Case) -> None:
    order = order_of(case)
    refunds = [leaves(order, *asked) for asked in case.leave]
    assert [refund.amount for refund in refunds] == list(case.amounts)
    assert paid_out() == [amount for amount in case.amounts if amount]
    assert {state_of(refund) for refund in refunds} == {"succeeded"}


@to_the_gateway
def test_two_tenders_get_back_what_each_has_paid_and_nothing_twice() -> None:
    payments = [payment_body(50), payment_body(30, external_id="p2", method="store_credit", last4="")]
    order = cast.place("8802", lines=[("杯", 40, 2)], payments=payments)
    refund = leaves(order, (1, 2, "other"))
    assert list(refund.allocations.values_list("payment__method", "amount")) == [("card", 50), ("store_credit", 30)]
    assert paid_out() == [50]
    assert list(StoreCreditEntry.objects.values_list("amount", flat=True)) == [30]


@to_the_gateway
def test_after_an_item_and_all_of_the_shipping_were_refunded_the_second_item_is_not_blocked() -> None:
    order = cast.place("8803", lines=[("甲", 500, 1), ("乙", 400, 1)], shipping=PAID_DELIVERY)
    body = {"external_ref": "re_1", "amount": 580, "payment_id": cast.payment(order).pk, "note": "客服已退"}
    lines = [{"line_item_id": "li_1", "quantity": 1}]
    elsewhere.record(order=order, body={**body, "lines": lines}, actor=cast.staff("supervisor"))
    assert leaves(order, (2, 1, "other")).amount == 400
    assert cast.payment(order).left == 0


@to_the_gateway
def test_a_second_request_is_for_what_is_left_and_not_for_what_was_bought() -> None:
    order = cast.place("8804", lines=[("書", 100, 3)])
    leaves(order, (1, 1, "other"))
    with pytest.raises(Refusal):
        ask(order, (1, 3, "other"))
    assert ask(order, (1, None, "other")).amount == 200


@pytest.mark.parametrize("amount", [1028.5, 1029.0, "1029", True, None])
def test_a_fraction_of_a_smallest_unit_cannot_come_in(amount: Any) -> None:
    """10.285 has no smallest unit that it is a whole number of: so nobody ever owes 0.005."""
    with pytest.raises(InvalidInput) as caught:
        cast.place("8805", lines=[line_body(1, "書", 1029)], payments=[payment_body(amount)])
    assert caught.value.field == "payments[0].amount"
    assert not Order.objects.exists()


@pytest.mark.parametrize(
    ("currency", "ours", "theirs"),
    [("JPY", 9899, 9899), ("JPY", 5800, 5800), ("TWD", 230, 23_000), ("USD", 1029, 1029), ("CNY", 580, 580)],
)
def test_a_sum_is_converted_once_at_the_gateways_edge_by_a_table(currency: str, ours: int, theirs: int) -> None:
    assert to_stripe(ours, currency) == theirs
    assert from_stripe(theirs, currency) == (ours, currency)


def test_every_currency_that_an_order_can_have_stands_in_that_table() -> None:
    assert set(DECIMALS) <= set(STRIPE_DECIMALS)


@to_the_gateway
@pytest.mark.parametrize(("currency", "amount"), [("TWD", 9899), ("USD", 5800), ("CNY", 98_990)])
def test_a_gateway_that_counts_as_we_do_is_told_what_we_count(currency: str, amount: int) -> None:
    leaves(cast.place("8806", lines=[("書", amount, 1)], currency=currency), (1, 1, "other"))
    assert list(SimulatedRefund.objects.values_list("amount", "currency")) == [(amount, currency)]


@to_the_gateway
def test_an_agent_that_asks_three_times_without_a_key_makes_one_refund() -> None:
    order = cast.order_5531()
    *older, newest = [ask(order, (2, 1, "other")) for _ in range(3)]
    for quote in older:
        with pytest.raises(Refusal) as caught:
            redeem(quote_id=quote.pk, actor=cast.shopper())
        assert caught.value.code == "quote_superseded"
    redeem(quote_id=newest.pk, actor=cast.shopper())
    assert [refund.amount for refund in Refund.objects.all()] == [230]


@to_the_gateway
def test_what_the_gateway_refuses_is_nowhere_said_to_be_refunded() -> None:
    switch_on("refuse")
    refund = pending_refund()
    tasks.send_refund(refund.pk)
    refund.refresh_from_db()
    assert refund_as_dict(refund)["state"] == "failed"
    assert quote_as_dict(RefundQuote.objects.get(pk=refund.quote_id))["refund"]["state"] == "failed"
    assert refund.finished_at is None
    with pytest.raises(Refusal) as caught:
        ask(refund.order, (2, 1, "other"))
    assert caught.value.code == "already_cancelled"


@pytest.mark.parametrize("quantity", [0, -1, 4, 1.5, 1.0, "1", True, None])
def test_a_quantity_that_cannot_be_is_refused_at_the_door_with_its_field(client: Client, quantity: Any) -> None:
    order = cast.place("8807", lines=[("書", 100, 3)])
    client.force_login(cast.customer_user())
    body = {"lines": [{"line_item_id": "li_1", "quantity": quantity, "reason": "other"}]}
    answer = client.post(f"/api/v1/orders/{order.number}/refund-quotes/", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["field"] == "lines[0].quantity"
    assert not RefundQuote.objects.exists()


@pytest.mark.parametrize("amount", [0, -20, 1.5, "20", True, None, 1581])
def test_an_amount_that_cannot_be_is_refused_at_the_door_with_its_field(client: Client, amount: Any) -> None:
    """More than was paid, too: as “20 on a fee of 10” elsewhere."""
    order = cast.place("8808")
    client.force_login(cast.staff_user("supervisor"))
    body = {"external_ref": "re_1", "amount": amount, "payment_id": cast.payment(order).pk, "note": "退了"}
    answer = client.post(f"/api/v1/orders/{order.number}/refunds-elsewhere/", body, content_type="application/json")
    assert answer.status_code in {400, 409}
    assert answer.json()["field"] == "amount"
    assert cast.payment(order).refunded_amount == 0
