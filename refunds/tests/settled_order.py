"""An order whose settlements are carried out one after another, without a database: the bookkeeping around the rule."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from refunds.policy import (
    Departure,
    Discount,
    Ledger,
    Line,
    Rules,
    Settlement,
    SettlementAction,
    Shipping,
    Terms,
    price,
    settle,
)
from refunds.terms import SettlementMode

WITH_FEE = Rules(return_fee=80, return_fee_enabled=True)
NO_FEE = Rules(return_fee=80, return_fee_enabled=False)
PICKUP = Shipping(charged=0, standard_fee=80, free_from=1500, waiver="pickup")
NO_SHIPPING = Shipping(charged=0, standard_fee=0, free_from=None, waiver=None)


def lines(*goods: int | tuple[int, int]) -> tuple[Line, ...]:
    """`1200` is one unit of 1200, `(100, 3)` three units of 100; the ids are li_1, li_2, …"""
    pairs = [(unit, 1) if isinstance(unit, int) else unit for unit in goods]
    return tuple(Line(f"li_{number}", unit, count) for number, (unit, count) in enumerate(pairs, start=1))


def coupon(amount: int, *, min_spend: int = 0, prorate: bool = False, only: Sequence[str] | None = None) -> Discount:
    label = f"滿 {min_spend:,} 折 {amount}"
    return Discount("COUPON", label, "fixed", _settlement(prorate), _only(only), amount=amount, min_spend=min_spend)


def percent(off: str, *, min_spend: int = 0, prorate: bool = False, only: Sequence[str] | None = None) -> Discount:
    label = f"折 {off}%"
    return Discount(
        "PERCENT", label, "percent", _settlement(prorate), _only(only), percent=Decimal(off), min_spend=min_spend
    )


def bundle(off_each: int, *, of: int, prorate: bool = False, only: Sequence[str] | None = None) -> Discount:
    label = f"{of} 件起每件折 {off_each}"
    return Discount(
        "BUNDLE", label, "bundle", _settlement(prorate), _only(only), min_quantity=of, amount_per_unit=off_each
    )


def terms(*goods: int | tuple[int, int], discounts: Sequence[Discount] = (), shipping: Shipping = NO_SHIPPING) -> Terms:
    return Terms("TWD", lines(*goods), tuple(discounts), shipping)


def leaves(*asked: str | tuple[str, int], shop_fault: bool = False) -> list[Departure]:
    """`"li_1"` is one unit of that line, `("li_1", 2)` two."""
    pairs = [(line, 1) if isinstance(line, str) else line for line in asked]
    return [Departure(line, quantity, shop_fault) for line, quantity in pairs]


@dataclass
class SettledOrder:
    """Keeps the books of one order as a caller of `settle` does. `paid` defaults to the price of the whole order."""

    terms: Terms
    rules: Rules = WITH_FEE
    paid: int = -1
    gone: list[Departure] = field(default_factory=list)
    refunded: int = 0
    fees_taken: int = 0
    returns_counted: int = 0
    compensated: int = 0
    settled: list[tuple[tuple[Departure, ...], Settlement]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.paid < 0:
            self.paid = price(self.terms, ()).total

    @property
    def ledger(self) -> Ledger:
        left = self.paid - self.refunded - self.compensated
        return Ledger(self.paid, self.refunded, self.fees_taken, self.returns_counted, left)

    def quote(self, action: SettlementAction, asked: Sequence[Departure]) -> Settlement:
        return settle(
            terms=self.terms, gone=self.gone, asked=asked, action=action, ledger=self.ledger, rules=self.rules
        )

    def cancel(self, *asked: str | tuple[str, int], shop_fault: bool = False) -> Settlement:
        return self.carry_out("cancel", leaves(*asked, shop_fault=shop_fault))

    def give_back(self, *asked: str | tuple[str, int], shop_fault: bool = False) -> Settlement:
        return self.carry_out("return", leaves(*asked, shop_fault=shop_fault))

    def lose(self, *asked: str | tuple[str, int]) -> Settlement:
        return self.carry_out("lost", leaves(*asked, shop_fault=True))

    def carry_out(self, action: SettlementAction, asked: Sequence[Departure]) -> Settlement:
        settlement = self.quote(action, asked)
        self.gone += asked
        self.refunded += settlement.amount
        self.fees_taken += settlement.fee
        self.returns_counted += settlement.counts_as_return
        self.settled.append((tuple(asked), settlement))
        return settlement

    def withdraw_the_first(self) -> tuple[Departure, ...]:
        """The first settlement was only a promise, and nothing comes of it: its goods are kept, the next is the first.

        The fee of what is the first return by now was taken, and is no longer due.
        """
        asked, promise = self.settled.pop(0)
        for departure in asked:
            self.gone.remove(departure)
        self.refunded -= promise.amount
        self.returns_counted -= promise.counts_as_return
        first = next((settlement for _, settlement in self.settled if settlement.counts_as_return), None)
        if first is not None:
            self.fees_taken -= first.fee
        return asked


def sums(settlement: Settlement) -> list[tuple[str, int]]:
    """The steps as (code, amount), in order."""
    return [(step.code, step.amount) for step in settlement.steps]


def _settlement(prorate: bool) -> SettlementMode:
    return "prorate" if prorate else "reprice"


def _only(line_item_ids: Sequence[str] | None) -> frozenset[str] | None:
    return None if line_item_ids is None else frozenset(line_item_ids)
