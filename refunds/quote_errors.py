"""Why a quote that is over cannot be redeemed, in words: what became of it, and how to get a new one."""

from django.utils.translation import gettext as _

from orders.errors import Refusal
from refunds.states import EndedBecause


def quote_expired() -> Refusal:
    return Refusal(
        "quote_expired",
        _("This quote has run out. Nothing was refunded."),
        hint=_("Ask for a new quote: it takes a moment, and the amount may still be the same."),
    )


def quote_declined() -> Refusal:
    return Refusal(
        "quote_declined",
        _("This quote was declined. Nothing was refunded."),
        hint=_("Ask for a new quote if it is wanted after all."),
    )


def quote_taken_back(because: str) -> Refusal:
    """A declined quote that nobody declined; `because`: of `EndedBecause`, which scripts are told too."""
    reasons = {
        EndedBecause.WROTE_INSTEAD: _(
            "A new message was written in the chat meanwhile, so this quote was taken back. Nothing was changed."
        ),
        EndedBecause.CLOSED: _("The conversation was ended, and this quote was taken back. Nothing was changed."),
    }
    return Refusal(
        "quote_declined",
        reasons[EndedBecause(because)],
        hint=_("If it is still wanted, write so in the chat or have it worked out again: a new quote is made."),
        staff_hint=_("If it is still wanted, have the same goods worked out again."),
        details={"because": because},
    )


def quote_redeemed() -> Refusal:
    return Refusal(
        "quote_redeemed",
        _("This quote has already been confirmed."),
        hint=_("Look at the refunds and returns of the order."),
    )


def quote_replaced() -> Refusal:
    return Refusal(
        "quote_superseded",
        _("A newer quote took the place of this one. Nothing was refunded by this one."),
        hint=_("Use the newer quote, or ask for another."),
    )
