"""What must hold for every order, whatever its terms and however its goods leave."""

from collections.abc import Sequence
from dataclasses import asdict
from decimal import ROUND_HALF_UP, Decimal

from hypothesis import given
from hypothesis import strategies as st

from refunds.allocation import allocate
from refunds.policy import Departure, Discount, Price, Rules, Settlement, Terms, price
from refunds.tests.generated_orders import GENERATED, Request, all_terms, payments_for, rules, ways_to_leave
from refunds.tests.settled_order import SettledOrder

TENDER_ORDER = ["card", "*", "store_credit"]


Story = tuple[SettledOrder, list[Request]]


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """An order, and its goods leaving to the last unit."""
    terms = draw(all_terms())
    return SettledOrder(terms, rules=draw(rules)), draw(ways_to_leave(terms))


def play(order: SettledOrder, requests: Sequence[Request]) -> list[Settlement]:
    return [order.carry_out(request.action, request.asked) for request in requests]


@GENERATED
@given(stories())
def test_giving_everything_back_comes_to_what_was_paid_minus_the_fees(story: Story) -> None:
    order, requests = story
    play(order, requests)
    assert order.refunded == order.paid - order.fees_taken


@GENERATED
@given(stories())
def test_refunds_never_exceed_what_was_paid_and_no_amount_is_negative(story: Story) -> None:
    order, requests = story
    for request in requests:
        settlement = order.carry_out(request.action, request.asked)
        assert settlement.amount >= 0
        assert 0 <= settlement.fee <= order.rules.return_fee
        assert order.refunded + order.fees_taken <= order.paid


@GENERATED
@given(stories())
def test_steps_sum_to_the_amount_and_none_is_zero(story: Story) -> None:
    order, requests = story
    for settlement in play(order, requests):
        assert sum(step.amount for step in settlement.steps) == settlement.amount
        assert all(step.amount for step in settlement.steps)


@GENERATED
@given(stories())
def test_only_whole_units_ever_appear(story: Story) -> None:
    order, requests = story
    for settlement in play(order, requests):
        assert all(type(value) is int for value in (settlement.amount, settlement.fee))
        assert all(type(step.amount) is int for step in settlement.steps)
    assert all(type(value) is int for value in _numbers(price(order.terms, ())))


@GENERATED
@given(stories())
def test_the_same_question_has_the_same_answer_and_asking_changes_nothing(story: Story) -> None:
    order, requests = story
    for request in requests:
        books = asdict(order)
        first, second = order.quote(request.action, request.asked), order.quote(request.action, request.asked)
        turned_round = order.quote(request.action, request.asked[::-1])
        assert first == second == turned_round
        assert asdict(order) == books
        order.carry_out(request.action, request.asked)


@GENERATED
@given(stories(), st.data())
def test_a_fee_that_turns_out_not_to_be_due_is_given_back_with_what_comes_next(
    story: Story, data: st.DataObject
) -> None:
    order, requests = story
    meanwhile = data.draw(st.integers(1, len(requests)))
    others = play(order, requests[:meanwhile])[1:]
    again = Request("return", order.withdraw_the_first())
    later = play(order, [*requests[meanwhile:], again])
    assert order.refunded == order.paid - order.fees_taken
    paid_for = [settlement.fee for settlement in (*others, *later) if settlement.counts_as_return][1:]
    assert order.fees_taken == sum(paid_for)


@GENERATED
@given(stories(), st.integers(0, 3000))
def test_compensation_lowers_what_is_left_and_payments_are_never_overdrawn(story: Story, compensation: int) -> None:
    order, requests = story
    order.compensated = min(compensation, order.paid)
    for request in requests:
        left = order.ledger.payments_left
        assert order.carry_out(request.action, request.asked).amount <= left
    assert order.refunded == min(order.paid - order.fees_taken, order.paid - order.compensated)


@GENERATED
@given(st.data())
def test_each_payment_gives_back_no_more_than_it_took(data: st.DataObject) -> None:
    order, requests = data.draw(stories())
    left = {payment.payment_id: payment for payment in data.draw(payments_for(order.paid))}
    for request in requests:
        amount = order.carry_out(request.action, request.asked).amount
        shares = allocate(amount=amount, payments=list(left.values()), tender_order=TENDER_ORDER)
        assert sum(share for _, share in shares) == amount
        for payment_id, share in shares:
            payment = left[payment_id]
            assert 0 < share <= payment.left
            left[payment_id] = type(payment)(payment_id, payment.method, payment.left - share, payment.captured_order)
    assert sum(payment.left for payment in left.values()) == order.fees_taken


@GENERATED
@given(stories())
def test_the_shops_fault_never_costs_the_customer(story: Story) -> None:
    order, requests = story
    for request in requests:
        at_fault = [Departure(each.line_item_id, each.quantity, True) for each in request.asked]
        by_choice = [Departure(each.line_item_id, each.quantity, False) for each in request.asked]
        assert order.quote("return", at_fault).amount >= order.quote("return", by_choice).amount
        order.carry_out(request.action, request.asked)


@GENERATED
@given(stories())
def test_the_price_of_what_stays_depends_on_what_left_and_not_on_the_order_of_leaving(story: Story) -> None:
    order, requests = story
    gone = [departure for request in requests for departure in request.asked]
    some = gone[: len(gone) // 2]
    assert price(order.terms, some) == price(order.terms, some[::-1])


@GENERATED
@given(stories())
def test_without_fees_one_cancellation_or_many_come_to_the_same(story: Story) -> None:
    order, requests = story
    at_once = SettledOrder(order.terms, rules=Rules(0, False))
    by_and_by = SettledOrder(order.terms, rules=Rules(0, False))
    at_once.carry_out("cancel", [departure for request in requests for departure in request.asked])
    for request in requests:
        by_and_by.carry_out("cancel", request.asked)
    assert at_once.refunded == by_and_by.refunded


@GENERATED
@given(stories())
def test_the_price_agrees_with_a_checkout_that_counts_unit_by_unit(story: Story) -> None:
    order, requests = story
    gone: list[Departure] = []
    for request in requests:
        assert price(order.terms, gone).total == UnitByUnit(order.terms, gone).total()
        gone += request.asked
    assert price(order.terms, gone).total == 0


class UnitByUnit:
    """The same rule told differently: no quantities, a list of single units; Decimal instead of Fraction."""

    def __init__(self, terms: Terms, gone: Sequence[Departure]) -> None:
        self.terms = terms
        self.sold = [(line.line_item_id, line.unit_price, n) for line in terms.lines for n in range(line.quantity)]
        self.kept = list(self.sold)
        self.counted = list(self.sold)
        for departure in gone:
            for _ in range(departure.quantity):
                last = max(unit for unit in self.kept if unit[0] == departure.line_item_id)
                self.kept.remove(last)
                if not departure.shop_fault:
                    self.counted.remove(next(unit for unit in self.counted if unit[0] == departure.line_item_id))

    def total(self) -> int:
        goods = sum(unit_price for _, unit_price, _ in self.kept)
        off = 0
        for position, discount in enumerate(self.terms.discounts):
            if discount.settlement == "reprice":
                off += self.earned(discount, self.kept, self.counted)
            else:
                shares = self.shares(position)
                eligible = [unit for unit in self.kept if unit in shares]
                off += min(sum(shares[unit] for unit in eligible), sum(unit[1] for unit in eligible))
        return max(goods - off, 0) + self.shipping()

    def earned(self, discount: Discount, kept: list[tuple[str, int, int]], counted: list[tuple[str, int, int]]) -> int:
        mine = [unit for unit in kept if discount.lines is None or unit[0] in discount.lines]
        seen = [unit for unit in counted if discount.lines is None or unit[0] in discount.lines]
        worth = sum(unit[1] for unit in mine)
        if sum(unit[1] for unit in seen) < discount.min_spend or len(seen) < discount.min_quantity:
            return 0
        exact = {
            "fixed": Decimal(discount.amount),
            "percent": worth * discount.percent / 100,
            "bundle": Decimal(len(mine) * discount.amount_per_unit),
        }[discount.kind]
        return min(int(exact.quantize(Decimal(1), ROUND_HALF_UP)), worth)

    def shares(self, position: int) -> dict[tuple[str, int, int], int]:
        room = sum(unit[1] for unit in self.sold)
        amount = 0
        for earlier in self.terms.discounts[: position + 1]:
            amount = min(self.earned(earlier, self.sold, self.sold), room)
            room -= amount
        discount = self.terms.discounts[position]
        mine = [unit for unit in self.sold if discount.lines is None or unit[0] in discount.lines]
        ceiling = discount.amount_per_unit if discount.kind == "bundle" else max((unit[1] for unit in mine), default=0)
        weights = {unit: min(unit[1], ceiling) for unit in mine}
        whole = sum(weights.values())
        if not whole:
            return dict.fromkeys(mine, 0)
        shares = {unit: amount * weight // whole for unit, weight in weights.items()}
        by_remainder = sorted(mine, key=lambda unit: amount * weights[unit] % whole, reverse=True)
        for unit in by_remainder[: amount - sum(shares.values())]:
            shares[unit] += 1
        return shares

    def shipping(self) -> int:
        shipping = self.terms.shipping
        if not self.kept:
            return 0
        below = sum(unit[1] for unit in self.counted) < (shipping.free_from or 0)
        return shipping.standard_fee if shipping.waiver == "threshold" and below else shipping.charged


def _numbers(priced: Price) -> list[int]:
    return [priced.goods, priced.shipping, priced.total, *(discount.amount for discount in priced.discounts)]
