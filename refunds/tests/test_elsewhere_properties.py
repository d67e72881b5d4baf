"""Whatever was paid elsewhere for some goods of an order, what follows makes the total right."""

from hypothesis import assume, given
from hypothesis import strategies as st

from refunds.policy import Settlement
from refunds.tests.generated_orders import GENERATED, Request, all_terms, rules, ways_to_leave
from refunds.tests.settled_order import SettledOrder


def book(order: SettledOrder, request: Request, amount: int) -> None:
    """As `refunds/elsewhere.py` does: the goods are gone, the amount is given back, no fee, and no return counted."""
    order.gone += request.asked
    order.refunded += min(amount, order.ledger.payments_left)


@GENERATED
@given(st.data(), st.integers(0, 4000))
def test_after_everything_is_given_back_paid_is_refunded_plus_fees(data: st.DataObject, amount: int) -> None:
    """Unless it gave back even a fee that was taken before: that is the customer's, and nobody asks for it again."""
    terms = data.draw(all_terms())
    order, requests = SettledOrder(terms, rules=data.draw(rules)), data.draw(ways_to_leave(terms))
    assume(len(requests) > 1)
    without_us = data.draw(st.integers(0, len(requests) - 2))
    made: list[Settlement] = []
    given_back = 0
    for number, request in enumerate(requests):
        if number == without_us:
            book(order, request, amount)
            given_back = order.refunded
        else:
            made.append(order.carry_out(request.action, request.asked))
    assert order.refunded == max(order.paid - order.fees_taken, given_back)
    assert order.refunded <= order.paid
    assert all(sum(step.amount for step in each.steps) == each.amount >= 0 for each in made)
