"""Facts of alerts and differences of books, which are kept as data, as people read them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from orders.money import MINUS, UnknownCurrency, format_money
from refunds.states import AttemptOutcome, RefundState, ReplacementState, ReturnState

Words = str | Promise

_LEVELS: Final[Mapping[str, Words]] = {
    "warning": gettext_lazy("soon later than the law allows"),
    "statutory": gettext_lazy("later than the law allows"),
    "late": gettext_lazy("late"),
    "very_late": gettext_lazy("much too late"),
}
_DIFFERENCES: Final[Mapping[str, Words]] = {
    "missing_here": gettext_lazy("the provider lists a refund that our books do not have"),
    "missing_there": gettext_lazy("our books have a refund that the provider does not list"),
    "amount": gettext_lazy("the amounts differ"),
    "state": gettext_lazy("the states differ"),
    "not_compared": gettext_lazy("the provider did not give its list"),
    "taken_to_be": gettext_lazy(
        "the provider's refund is taken to be one that is booked already, because the amount is the same: please "
        "confirm that, or record it under the provider's number"
    ),
    "booked_twice": gettext_lazy(
        "a refund that was sent from here was recorded as made elsewhere too: say of that one that it did not take "
        "place"
    ),
    "still_paid": gettext_lazy(
        "what somebody said the provider would take back still counts as paid there: the customer may have it twice"
    ),
    "given_back": gettext_lazy("the provider has given back more of the charge than our books say"),
    "event_not_applied": gettext_lazy("a message of the provider could not be applied"),
}
# What became of a refund, in our words: ours and the provider's are told alike.
_STATES: Final[Mapping[str, Words]] = {
    **dict(ReturnState.choices),
    **dict(ReplacementState.choices),
    **dict(RefundState.choices),
    **dict(AttemptOutcome.choices),
    "failed": gettext_lazy("failed"),
}
_NOT_BOOKED: Final[Mapping[str, Words]] = {
    "another_currency": gettext_lazy("it is not in the order's currency, or no whole amount of it"),
    "payment_has_less": gettext_lazy("the payment has less left than that"),
    "reference_reused": gettext_lazy("its number stands for another refund in our books already"),
    "invalid_argument": gettext_lazy("something that the provider says of it cannot be kept"),
}
# Why a refund has failed, as Stripe and the simulated gateway say it; what another provider says stays as it is.
_REASONS: Final[Mapping[str, Words]] = {
    "amount_too_large": gettext_lazy("the charge has less left than that"),
    "cannot_partial": gettext_lazy("the provider refunds this charge only as a whole"),
    "canceled": gettext_lazy("it was cancelled at the provider"),
    "charge_for_pending_refund_disputed": gettext_lazy("the customer has disputed the charge with the bank"),
    "declined_by_issuer": gettext_lazy("the card's issuer refuses the refund"),
    "declined": gettext_lazy("the customer's bank has declined it"),
    "expired_or_canceled_card": gettext_lazy("the card is expired or cancelled"),
    "failed": gettext_lazy("the provider does not say why"),
    "insufficient_funds": gettext_lazy("the shop's balance at the provider was too low"),
    "lost_or_stolen_card": gettext_lazy("the card is reported as lost or stolen"),
    "merchant_request": gettext_lazy("the shop has asked the provider to stop it"),
    "no_gateway": gettext_lazy("no gateway is connected for this payment"),
    "no_record": gettext_lazy("the provider has no record of it"),
    "no_such_charge": gettext_lazy("the provider knows no such charge"),
    "unknown": gettext_lazy("the provider does not say why"),
    "window_over": gettext_lazy("the provider refunds this charge no longer"),
}
_CODES: Final[Mapping[str, Mapping[str, Words]]] = {
    "difference": _DIFFERENCES,
    "level": _LEVELS,
    "state": _STATES,
    "ours": _STATES,
    "theirs": _STATES,
    "reason": _REASONS,
    "not_booked": _NOT_BOOKED,
}
LABELS: Final[Mapping[str, Words]] = {
    "difference": gettext_lazy("What differs"),
    "level": gettext_lazy("How late"),
    "days": gettext_lazy("Days waited"),
    "since": gettext_lazy("Since"),
    "number": gettext_lazy("Number"),
    "parcel": gettext_lazy("Parcel"),
    "sent_again": gettext_lazy("Sent again as"),
    "refunded": gettext_lazy("Refunded as"),
    "provider_refund_id": gettext_lazy("Provider's number"),
    "booked_as": gettext_lazy("Booked as"),
    "event_id": gettext_lazy("Message"),
    "at": gettext_lazy("When"),
    "state": gettext_lazy("State"),
    "amount": gettext_lazy("Amount"),
    "ours": gettext_lazy("In our books"),
    "theirs": gettext_lazy("At the provider"),
    "charge": gettext_lazy("Charge"),
    "reason": gettext_lazy("Reason"),
    "second_of": gettext_lazy("Paid beside"),
    "not_booked": gettext_lazy("Not booked because"),
}


def facts_in_words(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The facts that people read, in a fixed order; what has no words here is left to the records."""
    return [(str(label), said) for name, label in LABELS.items() if (said := in_words(name, facts))]


def in_words(name: str, facts: Mapping[str, Any]) -> str:
    """One fact as people read it; empty where it is not known."""
    return _value(name, facts) if facts.get(name) not in (None, "") else ""


def refused_because(code: str, message: str) -> str:
    """Why a provider refused: in our words where the code is known, else in the provider's own."""
    return str(_REASONS.get(code, message))


def difference_in_words(difference: Mapping[str, Any]) -> str:
    """One difference of a comparison in a line: “the amounts differ · Number sim_1 · In our books NT$230 …”."""
    pairs = facts_in_words(difference)
    what = str(_DIFFERENCES.get(difference.get("difference", ""), difference.get("difference", "")))
    rest = [f"{label} {value}" for label, value in pairs if value != what]
    if difference.get("order_number"):
        rest.insert(0, _("Order %(number)s") % {"number": difference["order_number"]})
    return " · ".join(filter(None, [what, *rest]))


def _value(name: str, facts: Mapping[str, Any]) -> str:
    value = facts[name]
    if isinstance(value, Mapping):  # an amount with its currency
        return _money(value.get("amount"), str(value.get("currency", "")))
    if name == "amount":
        return _money(value, str(facts.get("currency", "")))
    if name in {"since", "at"}:
        return _moment(str(value))
    return str(_CODES.get(name, {}).get(str(value), value))


def _money(amount: Any, currency: str) -> str:
    """An amount as people read it, also where the provider counts it finer than we do: 12345 TWD/100 is NT$123.45."""
    code, _slash, parts = currency.partition("/")
    if parts.isdigit() and int(parts) > 1 and type(amount) is int:
        whole, rest = divmod(abs(amount), int(parts))
        sign = MINUS if amount < 0 else ""
        return f"{sign}{_money(whole, code)}.{rest:0{len(parts) - 1}d}"
    if currency.endswith("?"):  # one that we have no table for
        words = {"amount": amount, "currency": currency.removesuffix("?")}
        return _("%(amount)s in the smallest unit of %(currency)s") % words
    try:
        return format_money(amount, currency)
    except (UnknownCurrency, TypeError):
        return f"{amount} {currency}".strip()


def _moment(text: str) -> str:
    """An ISO time as people read it, in the shop's zone; anything else as it is."""
    try:
        return f"{timezone.localtime(datetime.fromisoformat(text)):%Y-%m-%d %H:%M}"
    except ValueError:
        return text
