"""A check that never fails proves nothing: each is shown rows in which one thing is wrong, and says so."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from orders import store_credit
from orders.models import Product
from orders.tests import cast
from orders.tests.factories import payment_body
from refunds import acceptance, compensation, tasks
from refunds.tests.ask import ask
from refunds.tests.going_back import earphones, exchange, exchanged, received_return
from refunds.tests.paying import pending_refund
from tests.generated import books, rows
from tests.generated.rows import Rows
from tests.generated.transitions import Followed

pytestmark = pytest.mark.django_db(transaction=True)


def busy_shop() -> Rows:
    """Goods cancelled, returned, exchanged and being exchanged; money paid to a card and as store credit."""
    payments = [payment_body(4_000), payment_body(800, external_id="p2", method="store_credit", last4="")]
    order = earphones(4, payments=payments)
    Product.objects.update(stock=2)
    exchanged(order)
    exchange(order, ref="card_2")
    request = received_return(order, (1, 2, "changed_mind"))
    acceptance.accept(return_id=request.pk, actor=cast.staff("warehouse"))
    compensation.propose(order=order, amount=100, reason="遲到", actor=cast.staff(), request_ref="c1")
    store_credit.post(
        customer=order.customer, currency="TWD", amount=5, kind="granted", reference="r1", actor=cast.SHOP
    )
    tasks.send_refund(pending_refund(cast.order_5531()).pk)
    pending_refund(cast.place("7950", lines=[("音響", 30_000, 1)]), (1, 1, "other"))
    ask(cast.place("7951"), (1, 1, "other"))
    return rows.read()


def more(table: str, column: str, by: int = 1, **which: Any) -> Callable[[Rows], None]:
    """That number is another one, in the first row of its kind."""

    def change(found: Rows) -> None:
        row = next(row for row in found[table] if all(row[name] == value for name, value in which.items()))
        row[column] += by

    return change


def other(table: str, column: str, value: Any, **which: Any) -> Callable[[Rows], None]:
    def change(found: Rows) -> None:
        row = next(row for row in found[table] if all(row[name] == given for name, given in which.items()))
        row[column] = value

    return change


def paid_twice(found: Rows) -> None:
    """Under a second key, as a gateway would that was asked twice."""
    entry, attempt = found["refunds_simulatedrefund"][0], found["refunds_gatewayattempt"][0]
    found["refunds_simulatedrefund"].append({**entry, "id": 0, "idempotency_key": "another"})
    found["refunds_gatewayattempt"].append({**attempt, "id": 0, "idempotency_key": "another", "outcome": "refused"})


def everything_gone_for_less(found: Rows) -> None:
    """The goods of an order that nobody has refunded yet leave it with the quote that was asked for them."""
    quote = found["refunds_refundquote"][-1]
    line = next(line for line in found["refunds_quoteline"] if line["quote_id"] == quote["id"])
    refund = found["refunds_refund"][0]
    for each in found["orders_lineitem"]:
        if each["order_id"] == quote["order_id"]:
            found["refunds_quoteline"].append({**line, "line_item_id": each["id"], "quantity": each["quantity"]})
    found["refunds_quoteline"].remove(line)
    found["refunds_refund"].append({**refund, "order_id": quote["order_id"], "quote_id": quote["id"]})


def promised_to_everybody(found: Rows) -> None:
    """A return that was refunded counts as promised once more, and its payments have nothing left for it."""
    request = next(row for row in found["refunds_return"] if row["kind"] == "refund")
    request.update(state="requested", refund_id=None)
    for payment in found["orders_payment"]:
        payment["refunded_amount"] = payment["amount"]


WRONG: Final[dict[Callable[[Rows], Any], Callable[[Rows], None]]] = {
    books.payments_give_back_what_is_held_and_no_more: more("orders_payment", "refunded_amount"),
    books.refunds_are_the_sum_of_their_parts: more("refunds_refund", "amount"),
    books.steps_sum_to_the_amount: more("refunds_refundquote", "amount"),
    books.nobody_gets_back_more_than_they_paid: more("orders_payment", "amount", -1_000_000),
    books.who_kept_nothing_has_paid_the_fees_and_no_more: everything_gone_for_less,
    books.what_is_promised_can_be_kept: promised_to_everybody,
    books.what_is_promised_is_not_left_to_cash: promised_to_everybody,
    books.units_are_somewhere_once: more("orders_shipmentline", "replaced_quantity", replaced_quantity=0),
    books.units_are_held_for_what_took_them: more("refunds_replacementline", "quantity"),
    books.stock_is_never_promised_twice: more("orders_product", "reserved"),
    books.store_credit_adds_up: more("orders_storecreditaccount", "balance"),
    books.second_persons_are_asked_about_what_waits: other("refunds_approval", "state", "approved", kind="amount"),
    books.compensation_stays_below_its_cap: more("refunds_approval", "amount", 10_000, kind="compensation"),
    books.orders_keep_the_policy_they_were_placed_under: more("refunds_refundquote", "policy_id"),
    books.the_gateway_pays_what_was_asked_once: paid_twice,
}


def test_every_check_agrees_with_a_shop_in_order_and_notices_what_is_wrong() -> None:
    found = busy_shop()
    for check in books.CHECKS:
        check(found)
    for check in books.CHECKS:
        spoiled = {table: [dict(row) for row in there] for table, there in found.items()}
        WRONG[check](spoiled)
        with pytest.raises(AssertionError):
            check(spoiled)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda found: found["orders_auditevent"].pop(),
        other("refunds_refund", "state", "rejected", state="succeeded"),
        other("refunds_return", "state", "received", state="refunded"),
    ],
)
def test_a_state_of_which_the_history_does_not_tell_is_noticed(spoil: Callable[[Rows], None]) -> None:
    first = rows.read()
    found = busy_shop()
    found["orders_auditevent"] = [event for event in found["orders_auditevent"] if event["subject_type"] != "order"]
    history = Followed()
    history.begin(first)
    history.follow(found)
    again = Followed()
    again.begin(first)
    spoil(found)
    with pytest.raises(AssertionError):
        again.follow(found)
