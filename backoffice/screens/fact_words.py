"""Facts of alerts and differences of books, which are kept as data, as people read them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from orders.money import UnknownCurrency, format_money
from refunds.states import AttemptOutcome, RefundState, ReturnState

_STATES: Final[Mapping[str, str | Promise]] = {
    **dict(AttemptOutcome.choices),
    **dict(ReturnState.choices),
    **dict(RefundState.choices),
}
_LEVELS: Final[Mapping[str, str | Promise]] = {
    "warning": _("soon beyond the time that the law gives"),
    "statutory": _("beyond the time that the law gives"),
}
_CODES: Final[Mapping[str, Mapping[str, str | Promise]]] = {"level": _LEVELS, "state": _STATES}
_MONEY: Final = frozenset({"amount"})
_MOMENTS: Final = frozenset({"since"})
_LABELS: Final[Mapping[str, str | Promise]] = {
    "level": _("How urgent"),
    "days": _("Days waited"),
    "since": _("Since"),
    "number": _("Number"),
    "state": _("State"),
    "amount": _("Amount"),
}


def facts_in_words(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The facts of an alert that people read, in a fixed order; what has no words here is left to the records."""
    return [(str(label), _value(name, facts)) for name, label in _LABELS.items() if facts.get(name) not in (None, "")]


def _value(name: str, facts: Mapping[str, Any]) -> str:
    value = facts[name]
    if name in _MONEY:
        return _money(value, str(facts.get("currency", "")))
    if name in _MOMENTS:
        return _moment(str(value))
    return str(_CODES.get(name, {}).get(str(value), value))


def _money(amount: Any, currency: str) -> str:
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


def difference_in_words(difference: Mapping[str, Any]) -> str:
    return ""
