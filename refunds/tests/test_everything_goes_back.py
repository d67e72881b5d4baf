"""Random orders whose goods leave in random pieces, through the real services: the sums always agree in the end."""

import random

import pytest
from django.db.models import Sum
from django.utils import timezone

from orders.models import Order, Payment
from orders.tests import cast
from orders.tests.factories import (
    FREE_DELIVERY,
    PAID_DELIVERY,
    PICKUP,
    bundle_discount,
    fixed_discount,
    percent_discount,
    shipment_body,
)
from refunds.acceptance import accept
from refunds.goods import UnitGroup, unit_groups
from refunds.models import Refund, RefundAllocation, RefundQuote, Return
from refunds.redeem import redeem
from refunds.returns import receive, withdraw
from refunds.states import OPEN_RETURNS
from refunds.tests.ask import ask

pytestmark = pytest.mark.django_db
GIVE_BACK = {"unfulfilled": "cancel", "lost": "lost", "delivered": "return"}


def random_order(dice: random.Random) -> Order:
    lines = [(f"貨{n}", dice.randrange(50, 2000), dice.randint(1, 3)) for n in range(dice.randint(1, 4))]
    discounts = dice.choice(
        [
            [],
            [fixed_discount(100, 500)],
            [percent_discount("12.5")],
            [bundle_discount(2, 20), fixed_discount(50, 300, settlement="prorate")],
        ]
    )
    shipped = {n: dice.randint(1, lines[n - 1][2]) for n in range(1, len(lines) + 1) if dice.random() < 0.6}
    shipments = [shipment_body(shipped, state=dice.choice(["delivered", "delivered", "lost"]))] if shipped else []
    shipping = dice.choice([PICKUP, PAID_DELIVERY, {**FREE_DELIVERY, "free_from": 0}])
    return cast.place("7401", lines=lines, discounts=discounts, shipping=shipping, shipments=shipments)


def still_there(order: Order) -> list[UnitGroup]:
    return [group for group in unit_groups(order, now=timezone.now()) if group.state in GIVE_BACK]


def give_something_back(order: Order, dice: random.Random) -> None:
    group = dice.choice(still_there(order))
    action = GIVE_BACK[group.state]
    reason = "lost" if action == "lost" else dice.choice(["changed_mind", "defective", "other"])
    quantity = dice.randint(1, group.quantity)
    quote = ask(order, (group.line.position, quantity, reason, action))
    redeem(quote_id=quote.pk, actor=cast.shopper())


def finish_some_return(order: Order, dice: random.Random) -> None:
    request = dice.choice(list(Return.objects.filter(order=order, state__in=OPEN_RETURNS).order_by("created_at")))
    if dice.random() < 0.3:
        withdraw(return_id=request.pk, actor=cast.shopper())
        return
    receive(return_id=request.pk, actor=cast.staff("warehouse"))
    accept(return_id=request.pk, actor=cast.staff("warehouse"))


def check_sums(order: Order) -> None:
    payment = cast.payment(order)
    refunded = Refund.objects.aggregate(total=Sum("amount"))["total"] or 0
    assert refunded == payment.refunded_amount <= payment.amount
    assert (RefundAllocation.objects.aggregate(total=Sum("amount"))["total"] or 0) == refunded
    for quote in RefundQuote.objects.all():
        assert sum(step["amount"] for step in quote.steps) == quote.amount >= 0


def fees_of_returns() -> list[int]:
    """By the moment they were asked for. One that has become the first has its fee back with what came after it."""
    counting = Return.objects.filter(refund__quote__counts_as_return=True).order_by("created_at", "pk")
    return list(counting.values_list("refund__quote__fee", flat=True))


@pytest.mark.parametrize("seed", range(12))
def test_giving_everything_back_in_pieces_comes_to_what_was_paid_minus_the_fees(seed: int) -> None:
    dice = random.Random(seed)
    order = random_order(dice)
    while still_there(order) or Return.objects.filter(state__in=OPEN_RETURNS).exists():
        finishing = not still_there(order) or dice.random() < 0.4
        if finishing and Return.objects.filter(state__in=OPEN_RETURNS).exists():
            finish_some_return(order, dice)
        elif still_there(order):
            give_something_back(order, dice)
        check_sums(order)
    fees = sum(fees_of_returns()[1:])
    paid = Payment.objects.aggregate(total=Sum("amount"))["total"]
    assert Refund.objects.aggregate(total=Sum("amount"))["total"] == paid - fees
