"""Turns the steps of a quote into words, in the active language. Nothing else in the project writes a reason.

Steps come as they are stored: `{"code", "params", "amount"}`, amounts signed and in the currency's smallest unit.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypedDict

from django.utils.translation import gettext as _

from orders.money import MINUS, format_money

Params = Mapping[str, Any]


class StepLine(TypedDict):
    """A row of a card: `text` says what the step is and why, `display` is the signed `amount` as people read it."""

    code: str
    text: str
    amount: int
    display: str


def explain(steps: Sequence[Mapping[str, Any]], currency: str, names: Mapping[str, str]) -> str:
    """One short sentence: "Case NT$380 − coupon “Spend 1,500, save 150” no longer applies NT$150 = NT$230".

    names: line_item_id to the name that the order shows. Raises KeyError for a step that is not one of ours.
    """
    sentence = ""
    for step in steps:
        words = _WORDS[step["code"]](step["params"], step["amount"], currency, names).short
        sign = f" {MINUS if step['amount'] < 0 else '+'} "
        sentence += (sign if sentence else sign.strip(" +")) + f"{words} {format_money(abs(step['amount']), currency)}"
    total = format_money(sum(step["amount"] for step in steps), currency)
    if not steps:
        return _("Nothing is due: %(total)s") % {"total": total}
    return sentence if len(steps) == 1 else f"{sentence} = {total}"


def step_lines(steps: Sequence[Mapping[str, Any]], currency: str, names: Mapping[str, str]) -> list[StepLine]:
    """One row per step, with its reason written out. Arguments and errors as for `explain`."""
    return [
        StepLine(
            code=step["code"],
            text=_WORDS[step["code"]](step["params"], step["amount"], currency, names).long,
            amount=step["amount"],
            display=format_money(step["amount"], currency),
        )
        for step in steps
    ]


class _Words:
    """The two lengths of one step's text: for the sentence, and for its row."""

    def __init__(self, short: str, long: str | None = None) -> None:
        self.short = short
        self.long = long or short


def _returned_goods(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    goods = []
    for line in params["lines"]:
        name = names.get(line["line_item_id"], line["line_item_id"])
        several = {"name": name, "quantity": line["quantity"]}
        goods.append(name if line["quantity"] == 1 else _("%(name)s × %(quantity)s") % several)
    # Translators: what stands between the names of goods in a list.
    return _Words(_(", ").join(goods))


def _coupon_lost(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    values = _values(params, currency)
    if not params["kept_quantity"]:
        return _Words(_("coupon “%(label)s”") % values, _("coupon “%(label)s” goes back with its goods") % values)
    short = _("coupon “%(label)s” no longer applies") % values
    if params["counted_goods"] < params["min_spend"]:
        return _Words(
            short,
            _("coupon “%(label)s” no longer applies: it starts at %(min_spend)s, and %(counted_goods)s remains")
            % values,
        )
    return _Words(short)


def _bundle_lost(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    values = _values(params, currency)
    if not params["kept_quantity"]:
        return _Words(_("bundle “%(label)s”") % values, _("bundle “%(label)s” goes back with its goods") % values)
    short = _("bundle “%(label)s” no longer applies") % values
    if params["counted_quantity"] < params["min_quantity"]:
        return _Words(
            short,
            _("bundle “%(label)s” no longer applies: it starts at %(min_quantity)s, and %(counted_quantity)s remain")
            % values,
        )
    return _Words(short)


def _coupon_reduced(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    values = _values(params, currency)
    if amount > 0:
        return _Words(_("discount “%(label)s” now takes off more") % values)
    return _Words(
        _("its part of the discount “%(label)s”") % values,
        _("its part of the discount “%(label)s”, of which %(after)s stays") % values,
    )


def _shipping_due(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    if params["free_from"] is None:
        return _Words(_("shipping is no longer free"))
    values = {
        "free_from": format_money(params["free_from"], currency),
        "counted_goods": format_money(params["counted_goods"], currency),
    }
    return _Words(
        _("shipping is no longer free"),
        _("shipping is no longer free: it is free from %(free_from)s, and %(counted_goods)s remains") % values,
    )


def _shipping_returned(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    return _Words(_("shipping"), _("shipping, because nothing is kept"))


def _return_fee(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    values = {"number": params["returns_before"] + 1, "fee": format_money(params["fee"], currency)}
    short = _("fee for return number %(number)s") % values
    if -amount < params["fee"]:
        return _Words(short, _("fee for return number %(number)s, normally %(fee)s; the rest is waived") % values)
    return _Words(short, _("fee for return number %(number)s of this order") % values)


def _carried_over(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    if amount > 0:
        return _Words(_("still due from earlier"), _("still due from earlier steps of this order"))
    return _Words(_("not taken earlier"), _("not taken at earlier steps of this order"))


def _payment_limit(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    values = {"limit": format_money(params["limit"], currency)}
    return _Words(
        _("more than the payments have left"),
        _("more than the payments have left, which is %(limit)s") % values,
    )


def _floor(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    return _Words(_("not charged"), _("not charged: a refund is never a bill"))


def _paid_elsewhere(params: Params, amount: int, currency: str, names: Mapping[str, str]) -> _Words:
    return _Words(
        _("refunded by other means"),
        _("refunded by other means, number %(number)s") % {"number": params["external_ref"]},
    )


def _values(params: Params, currency: str) -> dict[str, Any]:
    """What a sentence about a discount may name. A discount without a label goes by its code."""
    return {
        "label": params["label"] or params["code"] or _("discount"),
        "after": format_money(params["after"], currency),
        "min_spend": format_money(params["min_spend"], currency),
        "counted_goods": format_money(params["counted_goods"], currency),
        "min_quantity": params["min_quantity"],
        "counted_quantity": params["counted_quantity"],
    }


_WORDS: Final[Mapping[str, Callable[[Params, int, str, Mapping[str, str]], _Words]]] = {
    "returned_goods": _returned_goods,
    "coupon_lost": _coupon_lost,
    "coupon_reduced": _coupon_reduced,
    "bundle_lost": _bundle_lost,
    "shipping_due": _shipping_due,
    "shipping_returned": _shipping_returned,
    "return_fee": _return_fee,
    "carried_over": _carried_over,
    "payment_limit": _payment_limit,
    "floor": _floor,
    "paid_elsewhere": _paid_elsewhere,
}
