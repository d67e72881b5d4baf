"""The money rule: what was paid, minus what has been given back, minus what the kept goods would have cost.

Pure: no Django, no database, no clock. Nothing else in the project works out the amount of a refund. The rule, its
reasons and the worked examples are in docs/money.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from refunds.pricing import DiscountPrice, Price, price
from refunds.terms import (
    Departure,
    Discount,
    Ledger,
    Line,
    PolicyError,
    Rules,
    Shipping,
    Terms,
    one_of,
    whole_number,
)

__all__ = [
    "Departure",
    "Discount",
    "Ledger",
    "Line",
    "PolicyError",
    "Price",
    "Rules",
    "Settlement",
    "SettlementAction",
    "Shipping",
    "Step",
    "StepCode",
    "Terms",
    "counts_as_return",
    "price",
    "settle",
]

SettlementAction = Literal["cancel", "return", "lost"]
StepCode = Literal[
    "returned_goods",
    "coupon_lost",
    "coupon_reduced",
    "bundle_lost",
    "shipping_due",
    "shipping_returned",
    "return_fee",
    "carried_over",
    "payment_limit",
    "floor",
    "paid_elsewhere",  # never by this rule: it is the one step of what was refunded without us (`elsewhere.py`)
]


@dataclass(frozen=True, slots=True)
class Step:
    """One term of the sum: `amount` is signed, in smallest units; `params` are JSON values that explain it."""

    code: StepCode
    amount: int
    params: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """`{"code", "params", "amount"}`, as quotes store it and as `explain` reads it."""
        return {"code": self.code, "params": dict(self.params), "amount": self.amount}


@dataclass(frozen=True, slots=True)
class Settlement:
    """What giving back the asked goods comes to. `steps` sum to `amount`; `fee` is what of the return fee was taken."""

    amount: int
    fee: int
    counts_as_return: bool
    steps: tuple[Step, ...]


def settle(
    *,
    terms: Terms,
    gone: Sequence[Departure],
    asked: Sequence[Departure],
    action: SettlementAction,
    ledger: Ledger,
    rules: Rules,
) -> Settlement:
    """What is owed for `asked`, once `gone` (open returns included) has left and `ledger` has happened.

    amount = paid − refunded − fees taken − price(kept) − new fee; never below 0 or above what the payments have left.
    Raises PolicyError, naming the field, for asked goods that are not there to be given back.
    """
    _check_asked(asked, action)
    before, after = price(terms, gone), price(terms, (*gone, *asked))
    carried = carried_over(before, ledger)
    owed = carried + before.total - after.total
    counts = counts_as_return(action, asked)
    fee = _return_fee(counts, owed, ledger, rules)
    amount = min(max(owed - fee, 0), ledger.payments_left)
    steps = (
        _returned_goods(terms, asked, before, after),
        *_discount_steps(terms, before, after),
        _shipping_step(terms, before, after),
        Step("return_fee", -fee, {"fee": rules.return_fee, "returns_before": ledger.returns_counted}),
        Step("carried_over", carried, _carried_params(ledger, before)),
        Step("payment_limit", amount - max(owed - fee, 0), {"limit": ledger.payments_left}),
        Step("floor", max(-owed, 0), {}),
    )
    return Settlement(amount, fee, counts, tuple(step for step in steps if step.amount))


def carried_over(before: Price, ledger: Ledger) -> int:
    """What earlier settlements left over (above 0) or short, by the price of what is kept before the next one."""
    return ledger.paid - ledger.refunded - ledger.fees_taken - before.total


def counts_as_return(action: str, asked: Sequence[Departure]) -> bool:
    """Whether it counts towards the return fee: a return does, unless all its goods leave through the shop's fault."""
    return action == "return" and not all(departure.shop_fault for departure in asked)


def _check_asked(asked: Sequence[Departure], action: SettlementAction) -> None:
    one_of(action, "action", ("cancel", "return", "lost"))
    if not asked:
        raise PolicyError("lines", "names no goods", code="empty")
    for departure in asked:
        whole_number(departure.quantity, "quantity", minimum=1)
        if action == "lost" and not departure.shop_fault:
            raise PolicyError("shop_fault", "goods that were lost left through the shop's fault")


def _return_fee(counts: bool, owed: int, ledger: Ledger, rules: Rules) -> int:
    """The part of the fee that the amount reaches; the rest is forgone. The first counted return is free."""
    if not (counts and rules.return_fee_enabled and ledger.returns_counted):
        return 0
    return min(rules.return_fee, max(owed, 0))


def _returned_goods(terms: Terms, asked: Sequence[Departure], before: Price, after: Price) -> Step:
    quantities = {line.line_item_id: 0 for line in terms.lines}
    for departure in asked:
        quantities[departure.line_item_id] += departure.quantity
    lines = [
        {"line_item_id": line.line_item_id, "quantity": quantities[line.line_item_id], "unit_price": line.unit_price}
        for line in terms.lines
        if quantities[line.line_item_id]
    ]
    return Step("returned_goods", before.goods - after.goods, {"lines": lines})


def _discount_steps(terms: Terms, before: Price, after: Price) -> Iterator[Step]:
    for discount, old, new in zip(terms.discounts, before.discounts, after.discounts, strict=True):
        yield Step(_discount_code(new), new.amount - old.amount, _discount_params(discount, old, new))


def _discount_code(new: DiscountPrice) -> StepCode:
    if new.amount:
        return "coupon_reduced"
    return "bundle_lost" if new.kind == "bundle" else "coupon_lost"


def _discount_params(discount: Discount, old: DiscountPrice, new: DiscountPrice) -> dict[str, Any]:
    return {
        "code": discount.code,
        "label": discount.label,
        "before": old.amount,
        "after": new.amount,
        "min_spend": discount.min_spend,
        "min_quantity": discount.min_quantity,
        "kept_goods": new.kept_goods,
        "kept_quantity": new.kept_quantity,
        "counted_goods": new.counted_goods,
        "counted_quantity": new.counted_quantity,
    }


def _shipping_step(terms: Terms, before: Price, after: Price) -> Step:
    change = before.shipping - after.shipping
    params = {
        "before": before.shipping,
        "after": after.shipping,
        "standard_fee": terms.shipping.standard_fee,
        "free_from": terms.shipping.free_from,
        "counted_goods": after.counted_goods,
    }
    return Step("shipping_due" if change < 0 else "shipping_returned", change, params)


def _carried_params(ledger: Ledger, before: Price) -> dict[str, Any]:
    return {
        "paid": ledger.paid,
        "refunded": ledger.refunded,
        "fees_taken": ledger.fees_taken,
        "price_before": before.total,
    }
