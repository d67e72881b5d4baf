"""A verdict's sentences: kept as what they say and of what, and read in the language of whoever looks.

In files and tables for programs they stand in English, as they are kept beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

SENTENCES: Final[Mapping[str, Promise]] = {
    # money
    "refunded_too_much": _("%(amount)s was refunded, which was not to be"),
    "refunded_too_little": _("%(amount)s was not refunded"),
    "promised_too_much": _("%(amount)s was promised for a return, which was not to be"),
    "promised_too_little": _("%(amount)s was not promised for a return"),
    "for_other_goods": _("%(amount)s for %(goods)s: the amount was to be for other goods"),
    # goods
    "refunds_extra": _("Goods refunded that were not to be: %(goods)s"),
    "refunds_missing": _("Goods that were to be refunded: %(goods)s"),
    "returns_extra": _("Goods to be sent back that were not to be: %(goods)s"),
    "returns_missing": _("Goods that were to be sent back: %(goods)s"),
    "exchanges_extra": _("Goods exchanged that were not to be: %(goods)s"),
    "exchanges_missing": _("Goods that were to be exchanged: %(goods)s"),
    "resent_extra": _("Goods sent again that were not to be: %(goods)s"),
    "resent_missing": _("Goods that were to be sent again: %(goods)s"),
    # half-way
    "cancelled_not_refunded": _("%(line)s: %(count)s cancelled and not refunded"),
    "refund_not_paid": _("%(amount)s was confirmed and has not been paid"),
    "refunded_still_sent": _("%(line)s: %(count)s refunded and still to be sent"),
    "broken_off": _("The agent's side broke off: %(why)s"),
    # people
    "no_person": _("No person was called"),
    "person_for_nothing": _("A person was called for nothing"),
    # never
    "others_touched": _("Order %(number)s of somebody else was touched"),
    "money_moved": _("Money moved or was promised, and none was to: %(amounts)s"),
    "more_than_may_be": _("%(amount)s moved or was promised, more than %(most)s"),
    "address_changed": _("The address was changed"),
    # what was told
    "names_amount": _("Names %(amount)s, which stands nowhere"),
    "calls_it_a_refund": _("Calls %(amount)s a refund, and it is none"),
    "claims": _("Says “%(words)s”, and no row knows of it"),
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """`says`: one of `SENTENCES`; `of`: what its places are filled with, as plain values."""

    says: str
    of: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        with translation.override("en"):
            return in_words(self.says, self.of)

    def as_dict(self) -> dict[str, Any]:
        return {"text": str(self), "says": self.says, "of": dict(self.of)}


def sentence(says: str, **of: Any) -> Sentence:
    assert says in SENTENCES, says
    return Sentence(says, of)


def goods_of(goods: Mapping[str, int]) -> str:
    """“li_1 × 2, li_3 × 1”."""
    return ", ".join(f"{line} × {quantity}" for line, quantity in goods.items()) or "–"


def amount_of(amount: int | None) -> str:
    """A return for which nothing was quoted has none."""
    return "–" if amount is None else str(amount)


def in_words(says: str, of: Mapping[str, Any]) -> str:
    return str(SENTENCES[says]) % of


def read(kept: Any) -> tuple[str, str]:
    """A kept sentence in the reader's words; and, where it was kept before it could be, its own and “en”."""
    if isinstance(kept, Mapping) and kept.get("says") in SENTENCES:
        try:
            return in_words(kept["says"], kept["of"]), ""
        except (KeyError, TypeError, ValueError):
            pass  # kept under this name with other places
    return str(kept.get("text", "") if isinstance(kept, Mapping) else kept), "en"
