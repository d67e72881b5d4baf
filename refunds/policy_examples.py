"""What a version of the rules would do to a few orders: worked out by the rules themselves before it is published.

The orders are made up and of the usual size in the policy's currency. Nothing is read or written.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from django.utils.translation import gettext as _

from orders.money import format_money
from orders.states import PaymentMethod
from refunds import policy as money
from refunds.allocation import PaymentLeft, allocate
from refunds.explain import StepLine, step_lines
from refunds.models import RefundPolicy
from refunds.policy_bodies import parse_changes
from refunds.present import payment_label
from refunds.second_person import must_be_asked
from refunds.states import Reason

# One New Taiwan dollar of the examples in smallest units of other currencies, roughly, so that amounts look usual.
_SCALE: Final = {"TWD": 1, "JPY": 5, "USD": 4, "EUR": 4, "CNY": 25, "HKD": 25}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one version makes of an example: the amount as people read it, its steps, and what else follows."""

    amount: str
    steps: tuple[StepLine, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """`before` is the same under the version that it would take over from, None where there is none."""

    title: str
    story: str
    now: Outcome
    before: Outcome | None

    @property
    def changed(self) -> bool:
        return self.before is not None and self.before != self.now


def as_if(policy: RefundPolicy, body: object) -> RefundPolicy:
    """A copy of the version with the changes of `body`, not saved. Raises InvalidInput naming the field."""
    changes, _seen = parse_changes(body, faults=policy.shop_fault_reasons)
    changed = copy.copy(policy)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def examples(policy: RefundPolicy, before: RefundPolicy | None) -> list[Example]:
    """The examples under `policy`, beside `before`."""
    cases = [_first_return, _second_return, _second_return_defective, _two_payments, _large]
    found = []
    for case in cases:
        title, story, now = case(policy)
        found.append(Example(title, story, now, case(before)[2] if before else None))
    return found


Told = tuple[str, str, Outcome]


@dataclass
class _Order:
    """An order that is settled by one version, step after step."""

    policy: RefundPolicy
    terms: money.Terms
    names: dict[str, str]
    gone: list[money.Departure] = field(default_factory=list)
    refunded: int = 0
    fees: int = 0
    returns: int = 0
    alone: int = 0
    waits: bool = False

    def settle(self, action: money.SettlementAction, line_item_id: str, reason: str) -> money.Settlement:
        fault = action != "cancel" and reason in self.policy.shop_fault_reasons
        asked = [money.Departure(line_item_id, 1, fault)]
        paid = money.price(self.terms, ()).total
        ledger = money.Ledger(paid, self.refunded, self.fees, self.returns, paid - self.refunded)
        rules = money.Rules(self.policy.return_fee, self.policy.return_fee_enabled)
        settled = money.settle(terms=self.terms, gone=self.gone, asked=asked, action=action, ledger=ledger, rules=rules)
        self.gone += asked
        self.refunded += settled.amount
        self.fees += settled.fee
        self.returns += settled.counts_as_return
        self.waits = must_be_asked(self.policy, settled.amount, given_alone=self.alone)
        self.alone += 0 if self.waits else settled.amount
        return settled

    def outcome(self, settled: money.Settlement, *notes: str) -> Outcome:
        currency = self.policy.currency
        steps = step_lines([step.as_json() for step in settled.steps], currency, self.names)
        waits = [_("Waits for a second person.")] if self.waits else []
        return Outcome(format_money(settled.amount, currency), tuple(steps), (*notes, *waits))


def _scaled(policy: RefundPolicy, amount: int) -> int:
    return amount * _SCALE[policy.currency]


def _shown(policy: RefundPolicy, amount: int) -> str:
    return format_money(_scaled(policy, amount), policy.currency)


def _order_of_three(policy: RefundPolicy) -> _Order:
    """990 + 790 + 590 with 100 off from 1,000, and delivery free from 1,000 instead of 80."""
    spend, save, delivery = _scaled(policy, 1000), _scaled(policy, 100), _scaled(policy, 80)
    values = {"spend": format_money(spend, policy.currency), "save": format_money(save, policy.currency)}
    label = _("%(save)s off from %(spend)s") % values
    coupon = money.Discount("SAVE", label, "fixed", "reprice", None, amount=save, min_spend=spend)
    names = {"li_1": _("mouse"), "li_2": _("keyboard"), "li_3": _("USB hub")}
    lines = [money.Line(key, _scaled(policy, price), 1) for key, price in zip(names, (990, 790, 590), strict=True)]
    shipping = money.Shipping(charged=0, standard_fee=delivery, free_from=spend, waiver="threshold")
    return _Order(policy, money.Terms(policy.currency, tuple(lines), (coupon,), shipping), names)


def _story_of_three(policy: RefundPolicy) -> str:
    amounts = {name: _shown(policy, price) for name, price in (("a", 990), ("b", 790), ("c", 590), ("save", 100))}
    return (
        _("Mouse %(a)s, keyboard %(b)s and USB hub %(c)s with a coupon of %(save)s, delivered free of charge.")
        % amounts
    )


def _first_return(policy: RefundPolicy) -> Told:
    order = _order_of_three(policy)
    settled = order.settle("return", "li_2", Reason.CHANGED_MIND)
    return _("The keyboard comes back: the first return"), _story_of_three(policy), order.outcome(settled)


def _second_return(policy: RefundPolicy) -> Told:
    order = _order_of_three(policy)
    order.settle("return", "li_2", Reason.CHANGED_MIND)
    settled = order.settle("return", "li_3", Reason.CHANGED_MIND)
    return _("Then the USB hub too: the second return"), _story_of_three(policy), order.outcome(settled)


def _second_return_defective(policy: RefundPolicy) -> Told:
    order = _order_of_three(policy)
    order.settle("return", "li_2", Reason.CHANGED_MIND)
    settled = order.settle("return", "li_3", Reason.DEFECTIVE)
    return _("The same second return, but the USB hub is defective"), _story_of_three(policy), order.outcome(settled)


def _two_payments(policy: RefundPolicy) -> Told:
    """Which of two payments gives back first is the tender order's to say."""
    amount, card, credit = (_scaled(policy, each) for each in (600, 500, 300))
    order = _one_line(policy, amount, spare=_scaled(policy, 200))
    settled = order.settle("cancel", "li_1", Reason.CHANGED_MIND)
    payments = [
        PaymentLeft("credit", PaymentMethod.STORE_CREDIT, credit, captured_order=0),
        PaymentLeft("card", PaymentMethod.CARD, card, captured_order=1),
    ]
    shares = allocate(amount=settled.amount, payments=payments, tender_order=policy.tender_order)
    story = _(
        "A bag of %(amount)s and a strap of %(strap)s, paid %(card)s by card and %(credit)s with store credit."
    ) % {
        "amount": _shown(policy, 600),
        "strap": _shown(policy, 200),
        "card": _shown(policy, 500),
        "credit": _shown(policy, 300),
    }
    return _("The bag is cancelled: two payments"), story, order.outcome(settled, *_to(policy, payments, shares))


def _to(policy: RefundPolicy, payments: Sequence[PaymentLeft], shares: Sequence[tuple[str, int]]) -> list[str]:
    methods = {payment.payment_id: payment_label(payment.method, "") for payment in payments}
    return [
        _("%(amount)s to %(payment)s.") % {"amount": format_money(share, policy.currency), "payment": methods[key]}
        for key, share in shares
    ]


def _large(policy: RefundPolicy) -> Told:
    amount = _scaled(policy, 32_900)
    order = _one_line(policy, amount, spare=0)
    settled = order.settle("cancel", "li_1", Reason.CHANGED_MIND)
    story = _("A notebook of %(amount)s, paid by card.") % {"amount": _shown(policy, 32_900)}
    alone = [] if order.waits else [_("Nobody has to approve it.")]
    return _("A large order is cancelled"), story, order.outcome(settled, *alone)


def _one_line(policy: RefundPolicy, amount: int, *, spare: int) -> _Order:
    names = {"li_1": _("bag") if spare else _("notebook"), "li_2": _("strap")}
    prices = [amount, spare] if spare else [amount]
    lines = tuple(money.Line(key, price, 1) for key, price in zip(names, prices, strict=False))
    shipping = money.Shipping(charged=0, standard_fee=0, free_from=None, waiver=None)
    return _Order(policy, money.Terms(policy.currency, lines, (), shipping), names)
